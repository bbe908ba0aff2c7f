"""First-order boosting: each tree is fitted to what the sum so far still gets wrong.

Follows: Friedman 2001, algorithm 1 with the line search of each leaf (section 4.3); Friedman 2002 for subsampling;
scikit-learn's GradientBoosting* for the leaf rules, so that equal trees give equal predictions.
Leaves out: features drawn anew at each node, and more than two classes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from implementations.boosting.additive import Booster, Partition, Stage, Training
from implementations.boosting.exact import SortedColumns, cart
from implementations.boosting.loss import Floats, Loss
from implementations.boosting.tree import Growth, Places

# Fits a partition of the training rows to a target, given their weights; rows of weight 0 do not count.
Learner = Callable[[Floats, Floats], Partition]
# A leaf whose curvatures sum to less than this has nothing left to fit.
NO_CURVATURE = 1e-150


class GradientBooster(Booster):
    """Gradient boosting of regression trees.

    Args:
        loss: What is descended.
        learning_rate: Shrinkage of each tree.
        growth: When a tree stops growing; used by our own trees only.
        leaf: What a leaf adds: `newton`, one Newton step (the mean residual for squared error), or `mean`, the mean
            residual whatever the loss, which is plain gradient descent.
        learner: Fits the trees; our own where None. A library's trees come in by it.
        start: As in `Booster`.
        subsample: As in `Booster`.
        rng: As in `Booster`.

    Raises:
        ValueError: another `leaf`, or as in `Booster`.
    """

    def __init__(
        self,
        loss: Loss,
        *,
        learning_rate: float = 0.1,
        growth: Growth | None = None,
        leaf: Literal["newton", "mean"] = "newton",
        learner: Learner | None = None,
        start: float | None = None,
        subsample: float = 1.0,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(loss, learning_rate=learning_rate, start=start, subsample=subsample, rng=rng)
        if leaf not in ("newton", "mean"):
            raise ValueError(f"leaf is {leaf!r}; it must be 'newton' or 'mean'")
        self.growth = growth or Growth()
        self.leaf = leaf
        self.learner = learner
        self._learner: Learner | None = learner

    def _prepare(self, training: Training) -> None:
        if self.learner is None:
            columns = SortedColumns.of(training.X)
            self._learner = partial(cart, columns, growth=self.growth)

    def _round(self, training: Training) -> tuple[Stage, Floats]:
        residual = -self.loss.gradient(training.y, training.raw)
        weight = self._sample_weight(training.weight)
        partition = self._learner(residual, weight)  # type: ignore[misc] # set by _prepare
        leaf = np.asarray(partition.apply(training.X), dtype=np.intp)
        values = self.learning_rate * self._leaf_values(leaf, residual, weight, training)
        return Stage(partition, values), values[leaf]

    def _sample_weight(self, weight: Floats) -> Floats:
        """`weight`, and 0 for the rows that the next tree does not see."""
        rows = self._sampled_rows(len(weight))
        if rows is None:
            return weight
        sampled = np.zeros_like(weight)
        sampled[rows] = weight[rows]
        return sampled

    def _leaf_values(self, leaf: Places, residual: Floats, weight: Floats, training: Training) -> Floats:
        """The step of each leaf, by leaf number."""
        pull = np.bincount(leaf, weights=weight * residual)
        by = weight if self.leaf == "mean" else weight * self.loss.curvature(training.y, training.raw)
        resistance = np.bincount(leaf, weights=by)
        steps = np.zeros_like(pull)
        return np.divide(pull, resistance, out=steps, where=resistance > NO_CURVATURE)
