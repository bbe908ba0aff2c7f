import math

import numpy as np
import pytest

from runtwice.errors import EvidenceError
from runtwice.plain import through_json


@pytest.mark.parametrize(
    ("value", "plain"), [((1, 2), [1, 2]), ({1: 0.1}, {"1": 0.1}), (None, None), (np.float64(0.1), 0.1)]
)
def test_a_result_comes_as_json_gives_it_back(value, plain):
    """Tuples as lists, keys as texts, floats to the last bit."""
    assert through_json(lambda seed: value, 0) == plain


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1, 2}])
def test_what_json_cannot_hold_is_refused(value):
    """The message names function and seed."""
    with pytest.raises(EvidenceError, match=r"sweep\(.*\), seed 7: .*; return plain values"):
        through_json(lambda seed: value, 7)
