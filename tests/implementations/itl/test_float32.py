"""The guard passes float32 and names what is not."""

import numpy as np
import pytest

from implementations.itl.float32 import PromotionError, float32_only


def test_float32_passes_through():
    """The very same array comes back."""
    array = np.ones(3, np.float32)
    assert float32_only("array", array) is array


def test_a_promoted_array_is_named_with_its_line():
    """A product with a float64 matrix is float64 under every NumPy."""
    scores = np.ones((2, 2), np.float32) @ np.eye(2)
    with pytest.raises(PromotionError, match=r"scores is float64 .*test_float32\.py:\d+"):
        float32_only("scores", scores)
