"""A hundred bagged and a hundred boosted trees, and what is lost with one of them, or with half."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from claims.experiments.generated_sets import surface
from implementations.boosting.bagging import Bagging, means_without_one
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import SquaredError
from implementations.boosting.tree import Growth

TREES = 100


def removals(seed: int) -> dict[str, list[float]]:
    """Test squared error gained by leaving out each tree, and the error of either half of the trees alone."""
    train, test = surface(seed, (400, 1000))
    bag = Bagging(np.random.default_rng(seed)).fit(train.X, train.y, TREES).predictions(test.X)  # (trees, n)
    chain = GradientBooster(SquaredError(), growth=Growth(max_depth=3)).fit(train.X, train.y, TREES)
    steps = np.array([stage.adds(test.X) for stage in chain.stages])  # (trees, n)
    whole = chain.intercept + steps.sum(axis=0)

    def error(predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return ((predicted - test.y) ** 2).mean(axis=-1)

    half = TREES // 2
    return {
        "bagging": (error(means_without_one(bag)) - error(bag.mean(axis=0))).tolist(),
        "boosting": (error(whole - steps) - error(whole)).tolist(),
        "bagging halves": [float(error(part.mean(axis=0))) for part in (bag[:half], bag[half:])],
        "boosting halves": [float(error(chain.intercept + part.sum(axis=0))) for part in (steps[:half], steps[half:])],
    }
