"""Random forests by number of trees, all prefixes of one forest."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from claims.experiments.generated_sets import surface, two_classes, with_flips

COUNTS = (10, 30, 100, 300, 500)


def forest_errors(seed: int) -> dict[str, list[float]]:
    """Squared error on a noisy surface, and the share of wrong votes on turned labels, by number of trees."""
    train, test = surface(seed, (300, 1000), noise=5.0)
    regressor = RandomForestRegressor(COUNTS[-1], random_state=seed, n_jobs=1).fit(train.X, train.y)
    values = np.array([tree.predict(test.X) for tree in regressor.estimators_])
    errors = [float(((values[:count].mean(axis=0) - test.y) ** 2).mean()) for count in COUNTS]
    clean, test = two_classes(seed, (500, 2000), flipped=0.0)
    train = with_flips(clean, 0.2, seed)
    classifier = RandomForestClassifier(COUNTS[-1], random_state=seed, n_jobs=1).fit(train.X, train.y)
    shares = np.array([tree.predict_proba(test.X)[:, 1] for tree in classifier.estimators_])
    wrong = [float(((shares[:count].mean(axis=0) > 0.5) != (test.y == 1)).mean()) for count in COUNTS]
    return {"noisy surface": errors, "turned labels": wrong}
