"""Boosting at several learning rates, each stopped where its validation loss is lowest."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from claims.experiments.generated_sets import Part, log_loss, two_classes
from implementations.boosting.early_stopping import Patience, best_round
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import LogLoss
from implementations.boosting.tree import Growth

RATES = (0.3, 0.2, 0.1, 0.06, 0.05, 0.03)
SIZES = (1000, 1000, 1000)


def rounds_to_wait(rate: float) -> int:
    """Patience in proportion to what a round moves."""
    return int(np.ceil(6 / rate))


def rate_curves(seed: int) -> dict[str, Any]:
    """Validation loss by round and test loss at the best one, for each rate; and of two refits on bootstrap samples."""
    train, valid, test = two_classes(seed, SIZES)
    rng = np.random.default_rng(seed)
    refits = []
    for _ in range(2):
        drawn = rng.integers(0, len(train), len(train))
        refits.append(_ours(Part(train.X[drawn], train.y[drawn]), valid, test, 0.1)["test_loss"])
    return {"refits": refits, **{str(rate): _ours(train, valid, test, rate) for rate in RATES}}


def _ours(train: Part, valid: Part, test: Part, rate: float) -> dict[str, Any]:
    booster = GradientBooster(LogLoss(), learning_rate=rate, growth=Growth(max_depth=3))
    patience = Patience(rounds_to_wait(rate))
    booster.fit(train.X, train.y, 3000, valid=(valid.X, valid.y), patience=patience)
    p = booster.predict(test.X, patience.best_round)
    return {
        "best": patience.best_round,
        "valid": [round(loss, 6) for loss in booster.validation.losses],  # type: ignore[union-attr]
        "test_loss": log_loss(test.y, p),
    }


def lightgbm_best_rounds(seed: int) -> dict[str, int]:
    """The early-stopped number of LightGBM's trees of depth 3, by rate."""
    train, valid, _ = two_classes(seed, SIZES)
    return {str(rate): lightgbm_curve(train, (valid,), rate, 3)[0] for rate in RATES}


def lightgbm_curve(
    train: Part, watched: tuple[Part, ...], rate: float, depth: int, most: int = 3000
) -> tuple[int, list[list[float]]]:
    """Best round on the first watched set, and the loss on each by round."""
    import lightgbm

    settings = {
        "objective": "binary",
        "learning_rate": rate,
        "max_depth": depth,
        "num_leaves": 2**depth,
        "num_threads": 1,
        "verbosity": -1,
        "force_col_wise": True,
    }
    data = lightgbm.Dataset(train.X, train.y)
    losses: dict[str, Any] = {}
    named = [f"set {i}" for i in range(len(watched))]
    lightgbm.train(
        settings,
        data,
        most,
        valid_sets=[lightgbm.Dataset(part.X, part.y, reference=data) for part in watched],
        valid_names=named,
        callbacks=[
            lightgbm.record_evaluation(losses),
            lightgbm.early_stopping(rounds_to_wait(rate), first_metric_only=True, verbose=False),
        ],
    )
    curves = [losses[name]["binary_logloss"] for name in named]
    return best_round(curves[0]), curves


def rounds_to_level(curves: dict[str, Any], slow: float, fast: float) -> tuple[int, int]:
    """Rounds that each of two rates needs to come down to a validation loss that both reach."""
    level = max(min(curves[str(rate)]["valid"]) for rate in (slow, fast)) * 1.01
    first_below = partial(_first_below, level=level)
    return first_below(curves[str(slow)]["valid"]), first_below(curves[str(fast)]["valid"])


def _first_below(curve: list[float], level: float) -> int:
    return int(np.argmax(np.array(curve) <= level)) + 1


def grid_and_stopping(
    seed: int, rates: list[float], counts: list[int], depths: list[int], patience: int
) -> dict[str, float]:
    """Test loss and trees fitted: a grid over rates, counts and depths, and one rate stopped early over depths."""
    import lightgbm

    train, valid, test = two_classes(seed, SIZES)
    grid: list[tuple[float, float, int]] = []
    stopped: list[tuple[float, float, int]] = []
    for depth in depths:
        for rate in rates:
            settings = {"objective": "binary", "learning_rate": rate, "max_depth": depth, "num_leaves": 2**depth}
            booster = lightgbm.train(
                {**settings, "num_threads": 1, "verbosity": -1}, lightgbm.Dataset(train.X, train.y), max(counts)
            )
            grid += [(*_losses(booster, count, valid, test), count) for count in counts]
        best, curves = _stopped(train, (valid, test), depth, patience)
        stopped.append((curves[0][best - 1], curves[1][best - 1], len(curves[0])))
    return {
        "grid_loss": min(grid)[1],
        "grid_trees": sum(count for *_, count in grid),
        "stopped_loss": min(stopped)[1],
        "stopped_trees": sum(count for *_, count in stopped),
    }


def _losses(booster: Any, count: int, valid: Part, test: Part) -> tuple[float, float]:
    one, other = (log_loss(part.y, booster.predict(part.X, num_iteration=count)) for part in (valid, test))
    return one, other


def _stopped(train: Part, watched: tuple[Part, ...], depth: int, patience: int) -> tuple[int, list[list[float]]]:
    best, curves = lightgbm_curve(train, watched, 0.1, depth, 800)
    end = min(len(curves[0]), best + patience)
    return best, [curve[:end] for curve in curves]
