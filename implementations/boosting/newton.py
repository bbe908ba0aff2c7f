"""Second-order boosting: leaves and splits weigh the gradient by the curvature, and each leaf has a price.

Follows: Chen & Guestrin 2016 (XGBoost) with its exact greedy search: leaf -G / (H + ridge), the split gain without
the factor one half (as the library reports it), the direction of missing values learned at each split, and gamma taken
off a grown tree from the leaves up.
Leaves out: the L1 penalty, approximate split search (see `histogram.py`), and more than two classes.
"""

from __future__ import annotations

import numpy as np

from implementations.boosting.additive import Booster, Stage, Training
from implementations.boosting.exact import SortedColumns, grow
from implementations.boosting.loss import Floats, Loss
from implementations.boosting.tree import Growth, pruned


class NewtonBooster(Booster):
    """Boosting of trees grown on gradient and curvature.

    Args:
        loss: What is descended.
        learning_rate: Shrinkage of each tree.
        growth: When a tree stops growing, and the ridge of its leaves.
        gamma: The price of a split: one that gains less is pruned, unless a split below it gains as much.
        start: As in `Booster`.
        subsample: As in `Booster`.
        colsample: As in `Booster`.
        rng: As in `Booster`.

    Raises:
        ValueError: a gamma that is negative or not finite, or as in `Booster`.
    """

    def __init__(
        self,
        loss: Loss,
        *,
        learning_rate: float = 0.3,
        growth: Growth | None = None,
        gamma: float = 0.0,
        start: float | None = None,
        subsample: float = 1.0,
        colsample: float = 1.0,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            loss, learning_rate=learning_rate, start=start, subsample=subsample, colsample=colsample, rng=rng
        )
        if not (np.isfinite(gamma) and gamma >= 0):
            raise ValueError(f"gamma is {gamma}; it must be a finite number of at least 0")
        self.growth = growth or Growth(max_depth=6, ridge=1.0, min_curvature=1.0)
        self.gamma = gamma

    def _prepare(self, training: Training) -> None:
        self._columns = SortedColumns.of(training.X)

    def _round(self, training: Training) -> tuple[Stage, Floats]:
        gradient = training.weight * self.loss.gradient(training.y, training.raw)
        curvature = training.weight * self.loss.curvature(training.y, training.raw)
        rows, features = self._sampled_rows(len(gradient)), self._sampled_features(training.X.shape[1])
        tree = grow(self._columns, gradient, curvature, self.growth, rows=rows, features=features)
        if self.gamma:
            tree = pruned(tree, self.gamma)
        stage = Stage(tree, self.learning_rate * tree.value)
        return stage, stage.adds(training.X)
