"""A category as a number: the mean target of its rows, and five ways to take that mean.

Follows: Micci-Barreca 2001 (smoothed means) and Prokhorenkova et al. 2018 (CatBoost, section 3: greedy, leave-one-out,
holdout and ordered target statistics).
Leaves out: combinations of categories, and several orders at once.

Each encoder gives two things: numbers for the training rows, and numbers for new rows, which always come from all
training rows. They differ in which rows the number of a *training* row may see: naive, all with its own; leave-one-out,
all but its own; out-of-fold, those of other folds; ordered, those before it in a random order. A category without any
such row gets the prior: the mean of all targets, which knows each target a little, unless a fixed one is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.boosting.loss import Floats, SquaredError
from implementations.boosting.tree import Places

Categories = NDArray[np.generic]


@dataclass(frozen=True)
class Encoding:
    """An encoded column.

    Attributes:
        training: The number of each training row, shape (n,).
        levels: The categories seen, sorted.
        level_values: The number of each for new rows.
        prior: The number of a category not seen.
    """

    training: Floats
    levels: Categories
    level_values: Floats
    prior: float

    def new(self, categories: ArrayLike) -> Floats:
        """The numbers of new rows, shape (m,); the prior for a category unseen in training, whatever its type."""
        asked = np.asarray(categories)
        if "O" in (asked.dtype.kind, self.levels.dtype.kind):  # which have no common order
            known = dict(zip(self.levels.tolist(), self.level_values.tolist()))
            return np.array([known.get(one, self.prior) for one in asked.ravel().tolist()]).reshape(asked.shape)
        place = np.minimum(np.searchsorted(self.levels, asked), len(self.levels) - 1)
        return np.where(self.levels[place] == asked, self.level_values[place], self.prior)


@dataclass(frozen=True)
class _Column:
    """Categories as whole numbers, with sums and counts of each."""

    levels: Categories
    code: Places
    y: Floats
    prior: float
    smoothing: float

    def sums(self, rows: Places | None = None) -> tuple[Floats, Floats]:
        """Sum of targets and number of rows of each category, among some rows (all where None)."""
        code, y = (self.code, self.y) if rows is None else (self.code[rows], self.y[rows])
        total = np.bincount(code, weights=y, minlength=len(self.levels))
        count = np.bincount(code, minlength=len(self.levels))
        return total.astype(np.float64), count.astype(np.float64)

    def mean(self, total: Floats, count: Floats) -> Floats:
        """(total + smoothing * prior) / (count + smoothing), the prior where both are 0."""
        weight = count + self.smoothing
        means: Floats = np.full(total.shape, self.prior)
        np.divide(total + self.smoothing * self.prior, weight, out=means, where=weight > 0)
        return means

    def encoded(self, training: Floats) -> Encoding:
        return Encoding(training, self.levels, self.mean(*self.sums()), self.prior)


def _column(categories: ArrayLike, y: ArrayLike, smoothing: float, prior: float | None) -> _Column:
    targets = SquaredError().targets(y)
    raw = np.asarray(categories)
    if raw.shape != targets.shape:
        raise ValueError(f"categories have shape {raw.shape}; give one for each of the {len(targets)} targets")
    if (raw != raw).any():  # NaN and NaT, also among objects
        raise ValueError("a category is NaN; name missing categories, so that they can be counted")
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise ValueError(f"smoothing is {smoothing}; it must be a finite number of at least 0")
    if prior is not None and not np.isfinite(prior):
        raise ValueError(f"prior is {prior}; it must be a finite number, or None for the mean target")
    try:
        levels, code = np.unique(raw, return_inverse=True)
    except TypeError as error:  # an array of objects that have no common order
        raise ValueError(f"categories of several types ({error}); give whole numbers or texts") from None
    return _Column(levels, code, targets, float(targets.mean()) if prior is None else prior, smoothing)


def naive(categories: ArrayLike, y: ArrayLike, smoothing: float = 0.0, prior: float | None = None) -> Encoding:
    """The mean over all training rows of the category, the row's own target among them.

    Args:
        categories: Shape (n,), whole numbers or texts.
        y: Targets, shape (n,).
        smoothing: Rows' worth of prior mixed in; the smoothed encoder where above 0.
        prior: The number of a category without rows; the mean target where None.

    Raises:
        ValueError: bad targets, shapes that differ, categories that are NaN or of several types, a smoothing that is
            negative or not finite, or a prior that is not finite.
    """
    column = _column(categories, y, smoothing, prior)
    return column.encoded(column.mean(*column.sums())[column.code])


def leave_one_out(categories: ArrayLike, y: ArrayLike, smoothing: float = 0.0, prior: float | None = None) -> Encoding:
    """The mean over the other training rows of the category. Arguments as in `naive`."""
    column = _column(categories, y, smoothing, prior)
    total, count = (part[column.code] for part in column.sums())
    return column.encoded(column.mean(total - column.y, count - 1))


def out_of_fold(
    categories: ArrayLike,
    y: ArrayLike,
    rng: np.random.Generator,
    folds: int = 5,
    smoothing: float = 0.0,
    prior: float | None = None,
) -> Encoding:
    """The mean over the category's rows in the other folds. Arguments as in `naive`; `rng` deals the folds.

    Raises:
        ValueError: `folds` is not between 2 and n, or as in `naive`.
    """
    column = _column(categories, y, smoothing, prior)
    n = len(column.y)
    if not 2 <= folds <= n:
        raise ValueError(f"{folds} folds of {n} rows; there must be 2 to {n}")
    fold = rng.permutation(n) % folds
    encoded = np.empty(n)
    for one in range(folds):
        inside = fold == one
        encoded[inside] = column.mean(*column.sums(np.flatnonzero(~inside)))[column.code[inside]]
    return column.encoded(encoded)


def ordered(
    categories: ArrayLike,
    y: ArrayLike,
    rng: np.random.Generator | None = None,
    smoothing: float = 1.0,
    prior: float | None = None,
    *,
    order: Places | None = None,
) -> Encoding:
    """The mean over the category's rows that come earlier in an order. Arguments as in `naive`.

    Args:
        categories: As in `naive`.
        y: As in `naive`.
        rng: Draws the order.
        smoothing: As in `naive`.
        prior: As in `naive`.
        order: The rows in order, instead of a random one, shape (n,).

    Raises:
        ValueError: neither `rng` nor `order`, an order that is no permutation, or as in `naive`.
    """
    column = _column(categories, y, smoothing, prior)
    n = len(column.y)
    if order is None:
        if rng is None:
            raise ValueError("no order; pass rng, which draws one, or order")
        order = rng.permutation(n)
    order = np.asarray(order)
    if order.dtype.kind not in "iu" or not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"order is no permutation of {n} rows")
    by_category = order[np.argsort(column.code[order], kind="stable")]  # rows of a category together, each in order
    return column.encoded(column.mean(*_earlier(column, by_category)))


def _earlier(column: _Column, by_category: Places) -> tuple[Floats, Floats]:
    """Sum of targets and number of the earlier rows of each row's category, both of shape (n,)."""
    _, count = column.sums()
    firsts = (np.cumsum(count) - count).astype(np.intp)
    code, y = column.code[by_category], column.y[by_category]
    running = np.cumsum(y) - y
    total, earlier = np.empty(len(y)), np.empty(len(y))
    total[by_category] = running - running[firsts[code]]
    earlier[by_category] = np.arange(len(y)) - firsts[code]
    return total, earlier
