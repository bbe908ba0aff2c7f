"""Bagging and early-stopped boosting on a surface, by the noise on it."""

from __future__ import annotations

import numpy as np

from claims.experiments.generated_sets import surface
from implementations.boosting.bagging import Bagging
from implementations.boosting.early_stopping import Patience
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import SquaredError
from implementations.boosting.tree import Growth

NOISES = (0.5, 1.0, 3.0, 5.0, 7.0)


def errors_by_noise(seed: int) -> dict[str, dict[str, float]]:
    """Test squared error of a hundred bagged trees, and of boosted ones stopped by a validation set, by noise."""
    found = {}
    for noise in NOISES:
        train, valid, test = surface(seed, (300, 300, 2000), noise=noise)
        bag = Bagging(np.random.default_rng(seed)).fit(train.X, train.y, 100)
        patience = Patience(50)
        chain = GradientBooster(SquaredError(), growth=Growth(max_depth=3))
        chain.fit(train.X, train.y, 1500, valid=(valid.X, valid.y), patience=patience)
        answers = {"bagging": bag.predict(test.X), "boosting": chain.predict(test.X, patience.best_round)}
        found[str(noise)] = {name: float(((answer - test.y) ** 2).mean()) for name, answer in answers.items()}
    return found


def training_errors(seed: int, counts: list[int]) -> dict[str, list[float]]:
    """Training squared error by number of trees: bagged of full depth, boosted of depth 3."""
    (train,) = surface(seed, (300,))
    bag = Bagging(np.random.default_rng(seed)).fit(train.X, train.y, max(counts)).predictions(train.X)
    chain = GradientBooster(SquaredError(), growth=Growth(max_depth=3)).fit(train.X, train.y, max(counts))
    return {
        "bagging": [float(((bag[:count].mean(axis=0) - train.y) ** 2).mean()) for count in counts],
        "boosting": [float(((chain.predict(train.X, count) - train.y) ** 2).mean()) for count in counts],
    }
