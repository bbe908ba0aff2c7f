"""Bagging: trees on bootstrap samples, averaged. Any tree can be left out, and any prefix is itself a bag.

Follows: Breiman 1996.
Leaves out: features drawn anew at each node (random forests). A row drawn twice weighs 2, and `min_leaf` counts it
once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from implementations.boosting.exact import SortedColumns, cart
from implementations.boosting.loss import Floats, SquaredError
from implementations.boosting.tree import Growth, is_count, matrix_of


class Member(Protocol):
    """One fitted model of the bag."""

    def predict(self, X: ArrayLike) -> Floats:
        """The member's prediction for each row of `X` (n, features), shape (n,)."""


# Fits a member to the training rows under weights; bound to the training matrix and targets.
Learner = Callable[[Floats], Member]


class Bagging:
    """An average of trees on bootstrap samples. Targets of 0 and 1 make it a classifier of probabilities.

    Args:
        rng: Draws the samples.
        growth: When a tree stops growing; unlimited depth by default.
        learner: Fits the members; our own trees where None.
    """

    def __init__(
        self, rng: np.random.Generator, *, growth: Growth | None = None, learner: Learner | None = None
    ) -> None:
        self.rng = rng
        self.growth = growth or Growth(max_depth=None)
        self.learner = learner
        self.members: list[Member] = []
        self.drawn: list[Floats] = []
        self._n = self._n_features = 0
        self._learner: Learner | None = learner

    def fit(self, X: ArrayLike, y: ArrayLike, n_trees: int) -> Self:
        """Start anew with `n_trees` members.

        What is refused leaves an earlier fit as it was. An array of floats is kept, not copied: leave it unchanged
        until the last `fit_more`.

        Raises:
            ValueError: bad data, or `n_trees` no whole number of at least 0.
        """
        _check_number(n_trees)
        matrix, targets = matrix_of(X), SquaredError().targets(y)
        if len(matrix) != len(targets):
            raise ValueError(f"{len(matrix)} rows but {len(targets)} targets; give as many")
        self._n, self._n_features = matrix.shape
        self.members, self.drawn = [], []
        if self.learner is None:
            columns = SortedColumns.of(matrix)
            self._learner = partial(cart, columns, targets, growth=self.growth)
        return self.fit_more(n_trees)

    def fit_more(self, n_trees: int) -> Self:
        """Add members; two calls of a and b give what one of a + b gives.

        Raises:
            ValueError: nothing was fitted yet, or `n_trees` is no whole number of at least 0.
        """
        if self._learner is None or self._n == 0:
            raise ValueError("nothing to go on from; call fit first")
        _check_number(n_trees)
        for _ in range(n_trees):
            times = np.bincount(self.rng.integers(0, self._n, self._n), minlength=self._n).astype(np.float64)
            self.members.append(self._learner(times))
            self.drawn.append(times)
        return self

    def predictions(self, X: ArrayLike) -> Floats:
        """The prediction of each member, shape (members, n).

        Raises:
            ValueError: no member was fitted yet, or a matrix of another number of columns than that fitted to.
        """
        if not self.members:
            raise ValueError("no members to predict with; call fit with at least one tree")
        matrix = matrix_of(X)
        if matrix.shape[1] != self._n_features:
            raise ValueError(f"{matrix.shape[1]} columns for a bag of {self._n_features}")
        return np.array([member.predict(matrix) for member in self.members])

    def predict(self, X: ArrayLike) -> Floats:
        """The average, shape (n,); the refusals are those of `predictions`."""
        average: Floats = self.predictions(X).mean(axis=0)
        return average

    def __len__(self) -> int:
        return len(self.members)


def _check_number(n_trees: int) -> None:
    if not is_count(n_trees, 0):
        raise ValueError(f"n_trees is {n_trees}; it must be a whole number of at least 0")


def prefix_means(predictions: Floats) -> Floats:
    """The averages of the first 1, 2, … members, from predictions of shape (members, n); same shape.

    Raises:
        ValueError: another shape.
    """
    if predictions.ndim != 2:
        raise ValueError(f"predictions of shape {predictions.shape}; give (members, n)")
    counts = np.arange(1, len(predictions) + 1)[:, None]
    means: Floats = np.cumsum(predictions, axis=0) / counts
    return means


def means_without_one(predictions: Floats) -> Floats:
    """The averages that leave out member 1, 2, …, from predictions of shape (members, n); same shape.

    Raises:
        ValueError: fewer than two members.
    """
    if len(predictions) < 2:
        raise ValueError(f"{len(predictions)} member(s); leaving one out needs at least 2")
    without: Floats = (predictions.sum(axis=0) - predictions) / (len(predictions) - 1)
    return without
