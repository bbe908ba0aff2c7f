"""XGBoost by depth, trees stopped early, on data that suit the depths of the rule and on data that do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from claims.experiments.generated_sets import Part, log_loss, parts, surface, two_classes

DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 0)  # 0 is no limit
SETS = ("clusters", "clean surface", "noisy surface", "additive", "parity")
SIZES = (1000, 500, 2000)
# Three ways to spend 3,200 leaves and fewer: depth and number of trees.
SHAPES = {"depth 3, 400 trees": (3, 400), "depth 8, 12 trees": (8, 12)}


def parts_of(name: str, seed: int) -> list[Part]:
    """Training, validation and test rows."""
    if name == "clusters":
        return two_classes(seed, SIZES)
    if name in ("clean surface", "noisy surface"):
        noisy = name == "noisy surface"
        return surface(seed, (300 if noisy else 1000, *SIZES[1:]), noise=5.0 if noisy else 1.0)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sum(SIZES), 8))
    if name == "additive":
        return parts(X, np.sin(2 * X).sum(axis=1) + rng.normal(size=len(X)), SIZES)
    sign = np.prod(np.sign(X[:, :5]), axis=1)
    return parts(X, (np.where(rng.random(len(X)) < 0.05, -sign, sign) > 0).astype(float), SIZES)


def depth_losses(seed: int) -> dict[str, dict[str, list[float]]]:
    """Validation and test loss by depth, by set."""
    found: dict[str, dict[str, list[float]]] = {}
    for name in SETS:
        data = parts_of(name, seed)
        pairs = [fitted(data, depth, 0.1, 500) for depth in DEPTHS]
        found[name] = {"valid": [pair[0] for pair in pairs], "test": [pair[1] for pair in pairs]}
    return found


def shape_losses(seed: int) -> dict[str, dict[str, float]]:
    """Test loss of many shallow trees and of few deep ones, each at the best of three rates, by set."""
    found: dict[str, dict[str, float]] = {}
    for name in SETS[:3]:
        data = parts_of(name, seed)
        found[name] = {
            shape: min(fitted(data, depth, rate, trees, stop=False) for rate in (0.05, 0.1, 0.3))[1]
            for shape, (depth, trees) in SHAPES.items()
        }
    return found


def fitted(data: list[Part], depth: int, rate: float, most: int, *, stop: bool = True) -> tuple[float, float]:
    """Validation and test loss; stopped early, or after all of its trees."""
    import xgboost

    train, valid, test = data
    classes = len(np.unique(train.y)) == 2
    settings: dict[str, Any] = {
        "objective": "binary:logistic" if classes else "reg:squarederror",
        "tree_method": "hist",
        "max_depth": depth,
        "eta": rate,
        "nthread": 1,
    }
    watched = xgboost.DMatrix(valid.X, valid.y)
    booster = xgboost.train(
        settings,
        xgboost.DMatrix(train.X, train.y),
        most,
        evals=[(watched, "valid")],
        early_stopping_rounds=30 if stop else None,
        verbose_eval=False,
    )
    until = (0, booster.best_iteration + 1 if stop else most)
    answers = [booster.predict(xgboost.DMatrix(part.X), iteration_range=until) for part in (valid, test)]
    losses = [
        log_loss(part.y, p.astype(float)) if classes else float(((part.y - p) ** 2).mean())
        for part, p in zip((valid, test), answers)
    ]
    return losses[0], losses[1]
