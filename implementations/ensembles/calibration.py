"""Calibration: whether of the cases called 70% seven in ten happen, and a monotone correction where they do not.

Follows: reliability diagrams and the decomposition of the Brier score (Murphy 1973); expected calibration error
(Naeini et al. 2015); isotonic recalibration by pooling adjacent violators (Zadrozny & Elkan 2002).
Leaves out: more than two classes, Platt scaling, beta calibration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.ensembles.members import Floats


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: the bins that hold any case, from low to high.

    Attributes:
        said: mean probability in each bin, shape (bins,).
        happened: share of class 1 in it, shape (bins,).
        cases: how many it holds, shape (bins,).
    """

    said: Floats
    happened: Floats
    cases: NDArray[np.intp]

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance from the diagonal, by cases."""
        return float(np.average(np.abs(self.said - self.happened), weights=self.cases))

    @property
    def squared_error(self) -> float:
        """Reliability term of the Brier score: mean squared distance from the diagonal, by cases."""
        return float(np.average((self.said - self.happened) ** 2, weights=self.cases))


def reliability(probabilities: ArrayLike, labels: ArrayLike, bins: int = 15) -> Reliability:
    """The reliability diagram over bins of equal width.

    Args:
        probabilities: of class 1, shape (n,).
        labels: 0 or 1, shape (n,).
        bins: number of bins on [0, 1]; a probability on an inner edge belongs to the bin above it.

    Raises:
        ValueError: the lengths differ, nothing is given, a probability outside [0, 1], a label that is neither 0 nor 1,
            or bins that are no whole number of at least 1.
    """
    said, happened = _checked(probabilities, labels)
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"{bins} bins: a whole number of at least 1 is needed")
    number = np.minimum((said * bins).astype(np.intp), bins - 1)
    cases = np.bincount(number, minlength=bins)
    held = cases > 0
    sums = [np.bincount(number, weights=values, minlength=bins)[held] / cases[held] for values in (said, happened)]
    return Reliability(sums[0], sums[1], cases[held].astype(np.intp))


@dataclass(frozen=True)
class Isotonic:
    """A non-decreasing map of probabilities, linear between its knots and flat beyond them.

    Attributes:
        at: where it was fitted, increasing, shape (k,).
        value: what it gives there, non-decreasing, shape (k,).
    """

    at: Floats
    value: Floats

    def __call__(self, probabilities: ArrayLike) -> Floats:
        """The corrected probabilities, of the same shape."""
        return np.interp(np.asarray(probabilities, dtype=np.float64), self.at, self.value)


def fit_isotonic(probabilities: ArrayLike, labels: ArrayLike) -> Isotonic:
    """The non-decreasing map nearest to the labels in squares.

    Args:
        probabilities: of class 1, shape (n,), from rows the member was not fitted to.
        labels: 0 or 1, shape (n,).

    Raises:
        ValueError: as in `reliability`.
    """
    said, happened = _checked(probabilities, labels)
    at, codes = np.unique(said, return_inverse=True)
    weight = np.bincount(codes).astype(np.float64)
    means = np.bincount(codes, weights=happened) / weight
    return Isotonic(at, _pooled(means, weight))


def _pooled(means: Floats, weight: Floats) -> Floats:
    """Pool adjacent violators: neighbouring blocks out of order are merged into their mean."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, number of knots
    for mean, load in zip(means.tolist(), weight.tolist()):
        block = (mean, load, 1)
        while blocks and blocks[-1][0] >= block[0]:
            other, other_weight, other_knots = blocks.pop()
            total = other_weight + block[1]
            block = ((other * other_weight + block[0] * block[1]) / total, total, other_knots + block[2])
        blocks.append(block)
    return np.repeat([mean for mean, _, _ in blocks], [knots for _, _, knots in blocks])


def _checked(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    said, happened = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if said.ndim != 1 or said.shape != happened.shape or not len(said):
        raise ValueError(f"probabilities of shape {said.shape} for labels of shape {happened.shape}; give (n,) of each")
    if not ((said >= 0) & (said <= 1)).all():
        raise ValueError(f"probability {said[~((said >= 0) & (said <= 1))][0]}; it must lie in [0, 1]")
    if not np.isin(happened, (0, 1)).all():
        raise ValueError(f"label {happened[~np.isin(happened, (0, 1))][0]}; each must be 0 or 1")
    return said, happened
