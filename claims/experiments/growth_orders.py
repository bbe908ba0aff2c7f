"""Trees of equal size grown leaf by leaf and level by level, in XGBoost and in our histogram booster."""

from __future__ import annotations

from typing import Any

from claims.experiments.generated_sets import Part, cut_surface, log_loss, two_classes, with_flips
from implementations.boosting.histogram import HistogramBooster
from implementations.boosting.loss import LogLoss
from implementations.boosting.tree import Growth

LEAVES = 16
DEPTH = 4
ROUNDS = (100, 400)


def growth_losses(seed: int) -> dict[str, dict[str, float]]:
    """Test loss by set, number of rounds and order of growth, with XGBoost; and ours on one of the sets."""
    clusters = two_classes(seed, (1500, 3000), informative=10, flipped=0.05)
    small_train, small_test = two_classes(seed, (300, 3000), flipped=0.0)
    sets = {
        "clusters": clusters,
        "surface": cut_surface(seed, (1500, 3000)),
        "small and noisy": [with_flips(small_train, 0.2, seed), small_test],
    }
    found: dict[str, dict[str, float]] = {}
    for name, (train, test) in sets.items():
        for rounds in ROUNDS:
            found[f"{name}, {rounds} trees"] = {
                order: xgboost_loss(train, test, order, rounds) for order in ("lossguide", "depthwise")
            }
    found["clusters, 50 trees of ours"] = _ours(*clusters)
    return found


def xgboost_loss(train: Part, test: Part, order: str, rounds: int) -> float:
    """Test loss of XGBoost's trees of 16 leaves, grown `lossguide` or `depthwise`."""
    import xgboost

    settings: dict[str, Any] = {"objective": "binary:logistic", "tree_method": "hist", "eta": 0.1, "nthread": 1}
    settings |= {"grow_policy": order, "max_leaves": LEAVES, "max_depth": 0 if order == "lossguide" else DEPTH}
    booster = xgboost.train(settings, xgboost.DMatrix(train.X, train.y), rounds)
    return log_loss(test.y, booster.predict(xgboost.DMatrix(test.X)))


def _ours(train: Part, test: Part) -> dict[str, float]:
    losses = {}
    for name, order in (("lossguide", "leaf-wise"), ("depthwise", "depth-wise")):
        growth = Growth(max_depth=None if order == "leaf-wise" else DEPTH, ridge=1.0, min_curvature=1.0)
        booster = HistogramBooster(LogLoss(), growth=growth, num_leaves=LEAVES, order=order)  # type: ignore[arg-type]
        losses[name] = log_loss(test.y, booster.fit(train.X, train.y, 50).predict(test.X))
    return losses


def leaf_losses(seed: int, rows: int, least: int, depth: int) -> tuple[float, float]:
    """Test loss of a hundred of LightGBM's trees: with its default of leaves, and with leaves tied to a depth."""
    import lightgbm

    clean, test = two_classes(seed, (rows, 2000), flipped=0.0)
    train = with_flips(clean, 0.2, seed)
    fixed = {"objective": "binary", "min_data_in_leaf": least, "num_threads": 1, "verbosity": -1}
    tied = {"max_depth": depth, "num_leaves": 2**depth - 1}
    default, bound = (
        log_loss(test.y, lightgbm.train({**fixed, **limits}, lightgbm.Dataset(train.X, train.y), 100).predict(test.X))
        for limits in ({"force_col_wise": True}, {"force_col_wise": True, **tied})
    )
    return default, bound
