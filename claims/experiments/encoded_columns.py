"""A category that says nothing of the target, encoded by the target in six ways, beside leaving it out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from claims.experiments.generated_sets import Part, log_loss
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import LogLoss
from implementations.boosting.ordered_target import Encoding, leave_one_out, naive, ordered, out_of_fold
from implementations.boosting.tree import Growth

ROWS = 1000
TEST_ROWS = 2000
LEVELS = 500


def rows_with_category(
    seed: int, n: int = ROWS + TEST_ROWS, levels: int = LEVELS
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Five normal features, labels that lean on two of them, and a category drawn by itself."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (rng.random(n) < expit(1.2 * X[:, 0] + 0.8 * X[:, 1])).astype(float)
    return X, y, rng.integers(0, levels, n)


def encodings(name: str, categories: NDArray[np.intp], y: NDArray[np.float64], seed: int) -> Encoding:
    """The training rows' category, encoded in the named way."""
    rng = np.random.default_rng(seed)
    ways = {
        "naive": lambda: naive(categories, y),
        "smoothed": lambda: naive(categories, y, smoothing=10.0),
        "leave one out": lambda: leave_one_out(categories, y),
        "out of fold": lambda: out_of_fold(categories, y, rng),
        "ordered": lambda: ordered(categories, y, rng),
    }
    return ways[name]()


def with_encoding(name: str, seed: int, levels: int = LEVELS) -> tuple[Part, Part]:
    """Training and test rows, the encoded column last; without it for `drop`."""
    X, y, category = rows_with_category(seed, levels=levels)
    train, test = slice(0, ROWS), slice(ROWS, None)
    if name == "drop":
        return Part(X[train], y[train]), Part(X[test], y[test])
    encoding = encodings(name, category[train], y[train], seed)
    return (
        Part(np.column_stack([X[train], encoding.training]), y[train]),
        Part(np.column_stack([X[test], encoding.new(category[test])]), y[test]),
    )


def encoding_losses(seed: int) -> dict[str, dict[str, float]]:
    """Training and test loss with the naive and the out-of-fold column, and without one."""
    return {name: boosted_losses(*with_encoding(name, seed)) for name in ("naive", "out of fold", "drop")}


def other_encoding_losses(seed: int) -> dict[str, float]:
    """Test loss with the other encodings, and of CatBoost with the raw category and without it."""
    found = {
        name: boosted_losses(*with_encoding(name, seed))["test"] for name in ("smoothed", "leave one out", "ordered")
    }
    return {**found, **catboost_losses(seed)}


def boosted_losses(train: Part, test: Part, trees: int = 100, depth: int = 3) -> dict[str, float]:
    """Log loss on training and test rows."""
    booster = GradientBooster(LogLoss(), growth=Growth(max_depth=depth)).fit(train.X, train.y, trees)
    return {"train": log_loss(train.y, booster.predict(train.X)), "test": log_loss(test.y, booster.predict(test.X))}


def catboost_losses(seed: int) -> dict[str, float]:
    """Test loss of CatBoost given the category, and without it."""
    X, y, category = rows_with_category(seed)
    losses = {}
    for name in ("CatBoost", "CatBoost without"):
        rows = [[*row, str(level)] if name == "CatBoost" else list(row) for row, level in zip(X.tolist(), category)]
        model = catboost_classifier(100).fit(rows[:ROWS], y[:ROWS], cat_features=[5] if name == "CatBoost" else [])
        losses[name] = log_loss(y[ROWS:], model.predict_proba(rows[ROWS:])[:, 1])
    return losses


def catboost_classifier(trees: int, **settings: Any) -> Any:
    """CatBoost on one thread, silent, writing nothing."""
    from catboost import CatBoostClassifier

    fixed = {"verbose": False, "thread_count": 1, "allow_writing_files": False, "random_seed": 0}
    return CatBoostClassifier(iterations=trees, **{**fixed, **settings})
