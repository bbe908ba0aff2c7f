"""A forest as the surrogate, the disagreement of its trees as the uncertainty, an upper confidence bound as the rule.

Follows: the search posts' own optimiser: mean and standard deviation over the trees (divisor: the number of trees),
mean + 1.5 sd, 400 candidates, 8 random trials first.

Leaves out: the forest itself. Any estimator will do that has `fit` and, once fitted, a list `estimators_` of models
with `predict`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from implementations.search.space import Floats
from implementations.search.surrogate import Prediction, SurrogateSearch, ucb


class Tree(Protocol):
    """One member of a forest."""

    def predict(self, X: Floats) -> Floats:
        """Predictions, (n, d) -> (n,)."""


class Forest(Protocol):
    """An ensemble that shows its members."""

    estimators_: Sequence[Tree]

    def fit(self, X: Floats, y: Floats) -> object:
        """Fit all members to points (n, d) and values (n,)."""


def per_tree(forest: Forest, points: Floats) -> Floats:
    """Predictions of every tree, (n, d) -> (trees, n).

    Raises:
        ValueError: the forest has no trees.
    """
    if not len(forest.estimators_):
        raise ValueError(f"{type(forest).__name__} has no trees in estimators_; it must be fitted with at least one")
    return np.stack([tree.predict(points) for tree in forest.estimators_])


def tree_spread(make_forest: Callable[[], Forest]) -> Callable[[Floats, Floats], Prediction]:
    """A `fit` for `SurrogateSearch`: a fresh forest each time, its trees' mean and standard deviation."""

    def fit(points: Floats, values: Floats) -> Prediction:
        forest = make_forest()
        forest.fit(points, values)

        def predict(candidates: Floats) -> tuple[Floats, Floats]:
            votes = per_tree(forest, candidates)  # (trees, m)
            return votes.mean(axis=0), votes.std(axis=0)

        return predict

    return fit


def forest_ucb(
    make_forest: Callable[[], Forest], *, kappa: float = 1.5, n_startup: int = 8, n_candidates: int = 400
) -> SurrogateSearch:
    """The posts' optimiser around any forest.

    Args:
        make_forest: Gives an unfitted forest; called once a trial.
        kappa: Weight of the trees' disagreement.
        n_startup: Random trials first.
        n_candidates: Points to choose among.

    Raises:
        ValueError: a negative kappa, or fewer than one start-up trial or candidate.
    """
    return SurrogateSearch(tree_spread(make_forest), ucb(kappa), n_startup, n_candidates)
