"""Test error by depth of the trees, a hundred of them, bagged and boosted."""

from __future__ import annotations

import numpy as np

from claims.experiments.generated_sets import surface
from implementations.boosting.bagging import Bagging
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import SquaredError
from implementations.boosting.tree import Growth

DEPTHS = (1, 2, 3, 5, 8, None)
TREES = 100


def depth_errors(seed: int) -> dict[str, list[float]]:
    """Squared error by depth on the clean surface of 1,000 rows."""
    return _errors(seed, 1000, 1.0)


def noisy_depth_errors(seed: int) -> dict[str, list[float]]:
    """The same on the noisy surface of 300 rows."""
    return _errors(seed, 300, 5.0)


def _errors(seed: int, rows: int, noise: float) -> dict[str, list[float]]:
    train, test = surface(seed, (rows, 2000), noise=noise)
    found: dict[str, list[float]] = {"bagging": [], "boosting": []}
    for depth in DEPTHS:
        growth = Growth(max_depth=depth)
        bag = Bagging(np.random.default_rng(seed), growth=growth).fit(train.X, train.y, TREES)
        chain = GradientBooster(SquaredError(), growth=growth).fit(train.X, train.y, TREES)
        for name, model in (("bagging", bag), ("boosting", chain)):
            found[name].append(float(((model.predict(test.X) - test.y) ** 2).mean()))  # type: ignore[attr-defined]
    return found
