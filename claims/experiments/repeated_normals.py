"""Normal numbers that repeat: as many bytes as drawn ones at a tenth of the time, where only the time is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PERIOD = 1_000_003  # a prime, so that no row or table begins as another does


class RepeatedNormals:
    """Stands in for a generator where weights or a cache are filled; each array begins at the start of the period.

    Args:
        seed: of the numbers of one period.
    """

    def __init__(self, seed: int) -> None:
        self._period = np.random.default_rng(seed).standard_normal(PERIOD, dtype=np.float32)

    def standard_normal(self, size: Any, dtype: Any = np.float32) -> NDArray[np.float32]:
        """An array of `size`, in memory of its own; float32 only."""
        if dtype is not np.float32:
            raise ValueError(f"dtype {dtype}; these numbers are float32")
        return np.resize(self._period, size)
