"""One small number from each library that the slow experiments rest on: a release that moves one moves a canary first.

Each is the cheapest run that has every part of the experiment it stands for: the generated rows, the knobs that draw
at random, and the loss.
"""

from __future__ import annotations

import numpy as np

from claims.experiments.generated_sets import log_loss, surface, two_classes, with_flips

KNOBS = {"rate": 0.2, "depth": 4, "rows": 0.7, "columns": 0.7, "least": 1.0, "ridge": 1.0}


def searched_loss(library: str) -> float:
    """Test log loss of 30 trees with rows and columns drawn at random, by `lightgbm` or `xgboost`."""
    from claims.experiments.library_searches import FITS

    train, test = two_classes(0, (300, 300))
    score = FITS[library](train, KNOBS, trees=30)(test.X)
    return log_loss(test.y, 1 / (1 + np.exp(-np.asarray(score, dtype=float))))


def loss_at(bins: int) -> float:
    """Test log loss of LightGBM at this many bins."""
    from claims.experiments import bin_counts

    return bin_counts.loss_at(*two_classes(0, (300, 300)), bins)


def stopped_error(library: str) -> float:
    """Test squared error of trees stopped by a validation set, by `lightgbm` or `xgboost`."""
    from claims.experiments import depth_choices, levers

    data = surface(0, (200, 100, 200), noise=5.0)
    if library == "lightgbm":
        return levers.losses(data, levers.start())[1]
    return depth_choices.fitted(data, 4, 0.1, 200)[1]


def grown_loss(order: str) -> float:
    """Test log loss of 20 of XGBoost's trees grown `lossguide` or `depthwise`."""
    from claims.experiments.growth_orders import xgboost_loss

    return xgboost_loss(*two_classes(0, (300, 300)), order, 20)


def catboost_loss() -> float:
    """Test log loss of 20 of CatBoost's trees given a category."""
    from claims.experiments.encoded_columns import catboost_classifier, rows_with_category

    X, y, category = rows_with_category(0, n=600, levels=50)
    rows = [[*row, str(level)] for row, level in zip(X.tolist(), category)]
    model = catboost_classifier(20).fit(rows[:300], y[:300], cat_features=[5])
    return log_loss(y[300:], model.predict_proba(rows[300:])[:, 1])


def forest_error() -> float:
    """Test squared error of a random forest of 20 trees."""
    from sklearn.ensemble import RandomForestRegressor

    train, test = surface(0, (200, 200), noise=5.0)
    forest = RandomForestRegressor(20, random_state=0, n_jobs=1).fit(train.X, train.y)
    return float(((forest.predict(test.X) - test.y) ** 2).mean())


def boosted_error() -> float:
    """Test squared error of scikit-learn's booster with half of the rows a tree."""
    from sklearn.ensemble import GradientBoostingRegressor

    train, test = surface(0, (200, 200))
    booster = GradientBoostingRegressor(n_estimators=40, subsample=0.5, random_state=0).fit(train.X, train.y)
    return float(((booster.predict(test.X) - test.y) ** 2).mean())


def forest_votes() -> float:
    """Share of wrong votes of a random forest of 20 trees, a fifth of its training labels turned."""
    from sklearn.ensemble import RandomForestClassifier

    clean, test = two_classes(0, (300, 1000), flipped=0.0)
    train = with_flips(clean, 0.2, 0)
    forest = RandomForestClassifier(20, random_state=0, n_jobs=1).fit(train.X, train.y)
    return float(((forest.predict_proba(test.X)[:, 1] > 0.5) != (test.y == 1)).mean())


def bagged_error() -> float:
    """Test squared error of a bag of 20 trees of our own: NumPy's generator draws its samples."""
    from implementations.boosting.bagging import Bagging

    train, test = surface(0, (200, 200), noise=5.0)
    bag = Bagging(np.random.default_rng(0)).fit(train.X, train.y, 20)
    return float(((bag.predict(test.X) - test.y) ** 2).mean())
