"""Fits and predictions of XGBoost and LightGBM at equal sizes, to be timed: each function is one call."""

from __future__ import annotations

import time
from typing import Any

import numpy as np


def rows_for(library: str, rows: int, trees: int, leaves: int) -> tuple[str, Any, Any, int, int]:
    """Arguments of a fit: the library's name, a matrix of 30 features, labels, and the size of the model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 30))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=rows) > 0).astype(float)
    return library, X, y, trees, leaves


def fit(library: str, X: Any, y: Any, trees: int, leaves: int) -> Any:
    """A fitted model, binning included, one thread."""
    if library == "lightgbm":
        import lightgbm

        settings = {"objective": "binary", "num_leaves": leaves, "num_threads": 1, "verbosity": -1}
        return lightgbm.train({**settings, "force_col_wise": True}, lightgbm.Dataset(X, y), trees)
    import xgboost

    growth = {"grow_policy": "lossguide", "max_leaves": leaves, "max_depth": 0, "tree_method": "hist", "nthread": 1}
    return xgboost.train({"objective": "binary:logistic", "eta": 0.1, **growth}, xgboost.DMatrix(X, y), trees)


def model_for(library: str, rows: int, trees: int, leaves: int) -> tuple[str, Any, Any]:
    """Arguments of a prediction: the library's name, a model of 5,000 rows, and a matrix of new rows."""
    new = np.random.default_rng(1).normal(size=(rows, 30))
    return library, fit(*rows_for(library, 5000, trees, leaves)), new


def predict(library: str, model: Any, new: Any) -> Any:
    """Scores of new rows, straight from the matrix, one thread."""
    return model.predict(new, num_threads=1) if library == "lightgbm" else model.inplace_predict(new)


def seconds(function: Any, *args: Any) -> float:
    """Time of one call."""
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def candidates(library: str, seed: int, budget_s: float) -> tuple[int, float]:
    """Settings that a random search tries in this much processor time, and the test AUC of the best of them."""
    from claims.experiments.generated_sets import auc, two_classes
    from claims.experiments.library_searches import FITS, SIZES, draw

    train, valid, test = two_classes(seed, SIZES, informative=12, flipped=0.02)
    rng, tried, end = np.random.default_rng(seed), [], time.process_time() + budget_s
    while not tried or time.process_time() < end:
        score = FITS[library](train, draw(rng))
        tried.append([auc(part.y, score(part.X)) for part in (valid, test)])
    return len(tried), max(tried)[1]
