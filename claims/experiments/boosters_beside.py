"""Our gradient booster beside scikit-learn's: with our trees, and with the library's trees breaking ties alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from claims.experiments.generated_sets import Part
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import LogLoss, SquaredError
from implementations.boosting.tree import Growth

Floats = NDArray[np.float64]


def raw_scores(
    loss: str, train: Part, test: Part, trees: int, seed: int, *, least: int = 1, uneven: bool = False
) -> dict[str, Floats]:
    """Raw scores of the test rows.

    Args:
        loss: `log loss` or `squared error`.
        train: Training rows.
        test: Test rows.
        trees: Number of trees.
        seed: Of the generator that breaks ties, and of the weights.
        least: Rows a leaf must hold.
        uneven: Whether rows weigh differently, so that next to no two splits gain the same.
    """
    weight = np.random.default_rng(seed).uniform(0.5, 1.5, len(train)) if uneven else np.ones(len(train))
    theirs = _library(loss)(n_estimators=trees, min_samples_leaf=least, random_state=seed)
    theirs.fit(train.X, train.y, sample_weight=weight)
    ties = np.random.RandomState(seed)

    def learner(target: Floats, weight: Floats) -> Any:
        tree = DecisionTreeRegressor(max_depth=3, min_samples_leaf=least, random_state=ties)
        return tree.fit(train.X, target, sample_weight=weight)

    own = SquaredError() if loss == "squared error" else LogLoss()
    growth = Growth(max_depth=3, min_leaf=least)
    return {
        "scikit-learn": theirs.predict(test.X) if loss == "squared error" else theirs.decision_function(test.X),
        "our trees": GradientBooster(own, growth=growth).fit(train.X, train.y, trees, weight=weight).raw(test.X),
        "its trees": GradientBooster(own, learner=learner).fit(train.X, train.y, trees, weight=weight).raw(test.X),
    }


def _library(loss: str) -> Any:
    return GradientBoostingRegressor if loss == "squared error" else GradientBoostingClassifier
