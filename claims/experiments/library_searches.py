"""Random searches with XGBoost and with LightGBM over matched ranges, on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from claims.experiments.generated_sets import Part, auc, two_classes

SIZES = (1000, 1000, 4000)
TRIALS = {"lightgbm": 59, "xgboost": 37}
TREES = 100


def draw(rng: np.random.Generator) -> dict[str, float]:
    """One setting of the six knobs that both libraries have."""
    return {
        "rate": float(np.exp(rng.uniform(np.log(0.03), np.log(0.3)))),
        "depth": int(rng.integers(3, 8)),
        "rows": float(rng.uniform(0.6, 1.0)),
        "columns": float(rng.uniform(0.6, 1.0)),
        "least": float(np.exp(rng.uniform(np.log(0.1), np.log(10)))),
        "ridge": float(np.exp(rng.uniform(np.log(0.01), np.log(10)))),
    }


def fit_lightgbm(train: Part, knobs: dict[str, float], seed: int = 0, trees: int = TREES) -> Any:
    """Something that scores a matrix."""
    import lightgbm

    settings = {
        "objective": "binary",
        "learning_rate": knobs["rate"],
        "max_depth": int(knobs["depth"]),
        "num_leaves": min(31, 2 ** int(knobs["depth"])),
        "bagging_fraction": knobs["rows"],
        "bagging_freq": 1,
        "feature_fraction": knobs["columns"],
        "min_sum_hessian_in_leaf": knobs["least"],
        "min_data_in_leaf": 1,
        "lambda_l2": knobs["ridge"],
        "seed": seed,
        "num_threads": 1,
        "verbosity": -1,
        "force_col_wise": True,
    }
    booster = lightgbm.train(settings, lightgbm.Dataset(train.X, train.y), trees)
    return lambda X: booster.predict(X, raw_score=True)


def fit_xgboost(train: Part, knobs: dict[str, float], seed: int = 0, trees: int = TREES) -> Any:
    """Something that scores a matrix."""
    import xgboost

    settings = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "eta": knobs["rate"],
        "max_depth": int(knobs["depth"]),
        "max_leaves": 31,
        "subsample": knobs["rows"],
        "colsample_bytree": knobs["columns"],
        "min_child_weight": knobs["least"],
        "reg_lambda": knobs["ridge"],
        "seed": seed,
        "nthread": 1,
    }
    booster = xgboost.train(settings, xgboost.DMatrix(train.X, train.y), trees)
    return lambda X: booster.predict(xgboost.DMatrix(X), output_margin=True)


FITS = {"lightgbm": fit_lightgbm, "xgboost": fit_xgboost}


def searched(seed: int) -> dict[str, Any]:
    """Validation and test AUC of each trial of each library, and of one setting under five other library seeds."""
    train, valid, test = two_classes(seed, SIZES, informative=12, flipped=0.02)
    found: dict[str, Any] = {}
    for library, fit in FITS.items():
        rng = np.random.default_rng(seed)
        settings = [draw(rng) for _ in range(TRIALS[library])]
        scores = [fit(train, knobs) for knobs in settings]
        found[library] = [[auc(part.y, score(part.X)) for part in (valid, test)] for score in scores]
        found[f"{library} again"] = [auc(test.y, fit(train, settings[0], seed=other)(test.X)) for other in range(1, 6)]
    return found


def chosen(trials: list[list[float]], most: int) -> float:
    """Test AUC of the trial that is best on the validation rows, among the first `most`."""
    return max(trials[:most])[1]
