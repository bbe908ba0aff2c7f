"""What all boosters share: a sum of trees that grows by one tree a round and can be read at every round.

Follows: Friedman 2001, algorithm 1 (gradient boosting as stagewise additive fitting).
Leaves out: how a round's tree is found, which is the subject of `gradient.py`, `newton.py` and `histogram.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from implementations.boosting.early_stopping import Patience
from implementations.boosting.loss import Floats, Loss
from implementations.boosting.tree import Places, is_count, matrix_of, weights_of


class Partition(Protocol):
    """Anything that sends each row to a leaf: our trees, or a library's."""

    def apply(self, X: ArrayLike) -> Places:
        """The leaf of each row of `X` (n, features), whole numbers of shape (n,)."""


@dataclass(frozen=True)
class Stage:
    """One tree of the sum.

    Attributes:
        partition: Sends rows to leaves.
        values: What each leaf adds to the raw score, the learning rate included, by leaf number.
    """

    partition: Partition
    values: Floats

    def adds(self, X: ArrayLike) -> Floats:
        """What the stage adds to each row's raw score, shape (n,)."""
        added: Floats = self.values[np.asarray(self.partition.apply(X), dtype=np.intp)]
        return added


@dataclass
class Training:
    """The training set and the raw score of its rows after the stages so far; all of shape (n,) but X."""

    X: Floats
    y: Floats
    weight: Floats
    raw: Floats


@dataclass
class Validation:
    """A set that chooses the number of trees: its raw scores, and its mean loss after each round."""

    X: Floats
    y: Floats
    raw: Floats
    losses: list[float] = field(default_factory=list)


class Booster(ABC):
    """A sum of trees, fitted round by round.

    Args:
        loss: What is descended.
        learning_rate: What each tree's leaves are multiplied by.
        start: The raw score to start from; the loss's best constant where None.
        subsample: Share of the rows that each tree sees, drawn anew each round.
        colsample: Share of the features that each tree sees, likewise.
        rng: Draws them; needed where a share is below 1.

    Raises:
        ValueError: a rate, share or start out of range, or a missing generator.
    """

    def __init__(
        self,
        loss: Loss,
        *,
        learning_rate: float,
        start: float | None = None,
        subsample: float = 1.0,
        colsample: float = 1.0,
        rng: np.random.Generator | None = None,
    ) -> None:
        if not (np.isfinite(learning_rate) and learning_rate > 0):
            raise ValueError(f"learning_rate is {learning_rate}; it must be a finite number above 0")
        if start is not None and not np.isfinite(start):
            raise ValueError(f"start is {start}; it must be a finite number, or None for the loss's best constant")
        for name, share in (("subsample", subsample), ("colsample", colsample)):
            if not 0 < share <= 1:
                raise ValueError(f"{name} is {share}; it must lie above 0 and be at most 1")
            if share < 1 and rng is None:
                raise ValueError(f"{name} is {share}; pass rng, which draws the sample")
        self.loss = loss
        self.learning_rate = learning_rate
        self.start = start
        self.subsample = subsample
        self.colsample = colsample
        self.rng = rng
        self.intercept = 0.0
        self.stages: list[Stage] = []
        self.training: Training | None = None
        self.validation: Validation | None = None

    @abstractmethod
    def _prepare(self, training: Training) -> None:
        """Set up what all rounds share, such as the order or the bins of the columns."""

    @abstractmethod
    def _round(self, training: Training) -> tuple[Stage, Floats]:
        """The next stage, and what it adds to the raw score of the training rows."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        n_trees: int,
        *,
        weight: ArrayLike | None = None,
        valid: tuple[ArrayLike, ArrayLike] | None = None,
        patience: Patience | None = None,
    ) -> Self:
        """Start anew and fit `n_trees` rounds, or fewer where `patience` runs out.

        What is refused leaves an earlier fit as it was. Arrays of floats are kept, not copied: leave them unchanged
        until the last `fit_more`.

        Args:
            X: Shape (n, features); NaN means missing where the trees know of it.
            y: Shape (n,).
            n_trees: Rounds.
            weight: Shape (n,), at least 0; ones where None.
            valid: A matrix and its targets, watched round by round in `validation.losses`.
            patience: When to stop; needs `valid`. The trees after the best round stay; `raw` can leave them out.

        Raises:
            ValueError: bad data, a validation set of other columns, or a patience without one or that has watched
                another fit.
        """
        if patience is not None and valid is None:
            raise ValueError("patience watches a validation loss; pass valid=(X, y)")
        if patience is not None and patience.seen:
            raise ValueError(f"this patience has watched {patience.seen} rounds of another fit; make a new one")
        _check_rounds(n_trees)
        matrix, targets = self._paired(X, y)
        weights = weights_of(weight, len(targets))
        intercept = self.loss.constant(targets, weights) if self.start is None else self.start
        validation = None
        if valid is not None:
            watched, watched_targets = self._paired(*valid)
            if watched.shape[1] != matrix.shape[1]:
                raise ValueError(f"{watched.shape[1]} columns to watch for a training set of {matrix.shape[1]}")
            validation = Validation(watched, watched_targets, np.full(len(watched), intercept))
        self.intercept, self.stages, self.validation = intercept, [], validation
        self.training = Training(matrix, targets, weights, np.full(len(targets), intercept))
        self._prepare(self.training)
        return self.fit_more(n_trees, patience=patience)

    def _paired(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        matrix, targets = matrix_of(X), self.loss.targets(y)
        if len(matrix) != len(targets):
            raise ValueError(f"{len(matrix)} rows but {len(targets)} targets; give as many")
        return matrix, targets

    def fit_more(self, n_trees: int, *, patience: Patience | None = None) -> Self:
        """Go on from where the last fit ended; two calls of a and b rounds give what one of a + b gives.

        Raises:
            ValueError: nothing was fitted yet, or `n_trees` is no whole number of at least 0.
        """
        if self.training is None:
            raise ValueError("nothing to go on from; call fit first")
        _check_rounds(n_trees)
        for _ in range(n_trees):
            self._add_stage(self.training)
            if self.validation is not None and self._watch(self.stages[-1], self.validation, patience):
                break
        return self

    def _add_stage(self, training: Training) -> None:
        stage, added = self._round(training)
        self.stages.append(stage)
        training.raw += added

    def _watch(self, stage: Stage, validation: Validation, patience: Patience | None) -> bool:
        validation.raw += stage.adds(validation.X)
        loss = float(self.loss.value(validation.y, validation.raw).mean())
        validation.losses.append(loss)
        return patience is not None and patience.stops(loss)

    def _sampled_rows(self, n: int) -> Places | None:
        """The rows that the next tree sees, rising; None for all."""
        return self._sampled(n, self.subsample)

    def _sampled_features(self, n: int) -> Places | None:
        """The features that the next tree sees, rising; None for all."""
        return self._sampled(n, self.colsample)

    def _sampled(self, n: int, share: float) -> Places | None:
        if share == 1 or self.rng is None:
            return None
        return np.sort(self.rng.choice(n, max(1, int(share * n)), replace=False))

    def raw(self, X: ArrayLike, n_trees: int | None = None) -> Floats:
        """The raw score of each row of `X` after the first `n_trees` stages (all where None), shape (n,).

        Raises:
            ValueError: nothing was fitted yet, a matrix of another number of columns than that fitted to, or a negative
                `n_trees`.
        """
        if n_trees is not None:
            _check_rounds(n_trees)
        matrix = self._known(X)
        total = np.full(len(matrix), self.intercept)
        for stage in self.stages[:n_trees]:
            total += stage.adds(matrix)
        return total

    def _known(self, X: ArrayLike) -> Floats:
        if self.training is None:
            raise ValueError("nothing to predict with; call fit first")
        matrix = matrix_of(X)
        if matrix.shape[1] != self.training.X.shape[1]:
            raise ValueError(f"{matrix.shape[1]} columns for a model of {self.training.X.shape[1]}")
        return matrix

    def staged_raw(self, X: ArrayLike) -> Iterator[Floats]:
        """The raw score after 1, 2, … stages, each of shape (n,)."""
        matrix = self._known(X)
        total = np.full(len(matrix), self.intercept)
        for stage in self.stages:
            total = total + stage.adds(matrix)
            yield total

    def predict(self, X: ArrayLike, n_trees: int | None = None) -> Floats:
        """The predicted mean, or probability of class 1, of each row, shape (n,); the refusals are those of `raw`."""
        return self.loss.response(self.raw(X, n_trees))

    def staged_loss(self, X: ArrayLike, y: ArrayLike) -> Floats:
        """The mean loss on a set after 1, 2, … stages, shape (stages,).

        Raises:
            ValueError: nothing was fitted yet, or bad data.
        """
        matrix, targets = self._paired(X, y)
        return np.array([self.loss.value(targets, raw).mean() for raw in self.staged_raw(matrix)])

    def __len__(self) -> int:
        return len(self.stages)


def _check_rounds(n_trees: int) -> None:
    if not is_count(n_trees, 0):
        raise ValueError(f"n_trees is {n_trees}; it must be a whole number of at least 0")
