"""Test error by number of trees, up to thousands, boosted and bagged, on a noisy surface."""

from __future__ import annotations

from typing import Any

import numpy as np

from claims.experiments.generated_sets import surface
from implementations.boosting.bagging import Bagging, prefix_means
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import SquaredError
from implementations.boosting.tree import Growth

NOISE = 5.0
SIZES = (300, 500, 1000)
MOST = 3000


def long_boosting(seed: int) -> dict[str, Any]:
    """Validation and test squared error after 1 to 3,000 trees."""
    train, valid, test = surface(seed, SIZES, noise=NOISE)
    booster = GradientBooster(SquaredError(), growth=Growth(max_depth=3)).fit(train.X, train.y, MOST)
    return {
        "valid": [round(2 * loss, 5) for loss in booster.staged_loss(valid.X, valid.y)],
        "test": [round(2 * loss, 5) for loss in booster.staged_loss(test.X, test.y)],
    }


def long_bagging(seed: int) -> dict[str, list[float]]:
    """Validation and test squared error of the first 1 to 3,000 trees of one bag."""
    train, valid, test = surface(seed, SIZES, noise=NOISE)
    bag = Bagging(np.random.default_rng(seed)).fit(train.X, train.y, MOST)
    errors = {}
    for name, part in (("valid", valid), ("test", test)):
        means = prefix_means(bag.predictions(part.X))
        errors[name] = [round(float(error), 5) for error in ((means - part.y) ** 2).mean(axis=1)]
    return errors
