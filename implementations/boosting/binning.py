"""Columns as bin numbers: a byte a value, and the few thresholds that a histogram booster chooses from.

Follows: Ke et al. 2017 (LightGBM) for the idea, with bins of nearly equal size. A column with no more distinct values
than bins keeps them all apart, the thresholds half way between, as LightGBM does with `min_data_in_bin=1`.
Leaves out: bins for zeros of their own, bundles of exclusive columns, categorical columns, and row weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.boosting.exact import between
from implementations.boosting.loss import Floats
from implementations.boosting.tree import is_count, matrix_of

Codes = NDArray[np.unsignedinteger]

MAX_BINS = 2**16 - 1  # a code takes two bytes at most, and one is kept for missing values


@dataclass(frozen=True)
class Bins:
    """The bins of every column.

    Attributes:
        bounds: For each column the upper bounds of its bins but the last, rising; a value on a bound lies below it.
        missing: Whether any training value was missing; then the last code of all columns stands for it.
    """

    bounds: tuple[Floats, ...]
    missing: bool

    @cached_property
    def width(self) -> int:
        """Number of codes, the same for every column."""
        return max(len(bounds) for bounds in self.bounds) + 1 + self.missing

    def codes(self, X: ArrayLike) -> Codes:
        """The bin of every value, shape (features, n): one byte each for up to 256 codes, else two.

        Raises:
            ValueError: another number of columns, or a missing value where training had none.
        """
        matrix = matrix_of(X)
        if matrix.shape[1] != len(self.bounds):
            raise ValueError(f"{matrix.shape[1]} columns for the bins of {len(self.bounds)}")
        codes = np.empty(matrix.shape[::-1], dtype=np.uint8 if self.width <= 2**8 else np.uint16)
        for j, bounds in enumerate(self.bounds):
            codes[j] = np.searchsorted(bounds, matrix[:, j])
            absent = np.isnan(matrix[:, j])
            if absent.any() and not self.missing:
                raise ValueError(f"column {j} has missing values, and training had none")
            codes[j, absent] = self.width - 1
        return codes


def find_bins(X: ArrayLike, max_bin: int = 255, min_rows: int = 1) -> Bins:
    """Choose the bins of each column of `X`, shape (n, features).

    Args:
        X: The training matrix; NaN means missing.
        max_bin: Bins a column may have, 2 to 65 534, a further one for missing values not counted.
        min_rows: Rows a bin should hold on average.

    Raises:
        ValueError: a bad matrix, or a number out of range.
    """
    check_sizes(max_bin, min_rows)
    matrix = matrix_of(X)
    bounds = tuple(_bounds(column[~np.isnan(column)], max_bin, min_rows) for column in matrix.T)
    return Bins(bounds, bool(np.isnan(matrix).any()))


def check_sizes(max_bin: int, min_rows: int) -> None:
    """Refuse sizes of bins that there cannot be.

    Raises:
        ValueError: a number out of range, or no whole one.
    """
    if not (is_count(max_bin, 2) and max_bin < MAX_BINS):
        raise ValueError(f"max_bin is {max_bin}; it must be a whole number from 2 to {MAX_BINS - 1}")
    if not is_count(min_rows, 1):
        raise ValueError(f"min_rows is {min_rows}; it must be a whole number of at least 1")


def _bounds(values: Floats, max_bin: int, min_rows: int) -> Floats:
    """Upper bounds that part the sorted values into at most `max_bin` runs of nearly equal size."""
    bins = max(1, min(max_bin, len(values) // min_rows))
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) > bins:
        upto = np.cumsum(counts)
        wanted = len(values) * np.arange(1, bins) / bins
        last = np.unique(np.minimum(np.searchsorted(upto, wanted), len(distinct) - 2))  # last value of each bin
    else:
        last = np.arange(max(0, len(distinct) - 1))
    return between(distinct[last], distinct[last + 1])
