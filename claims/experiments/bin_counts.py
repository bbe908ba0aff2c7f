"""LightGBM at several numbers of bins, on data whose structure is coarser and finer than the bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from claims.experiments.generated_sets import Part, cut_surface, log_loss, ripples, surface, two_classes

BINS = (15, 255, 1023)
SIZES = (1500, 3000)
TREES = 150


def bin_losses(seed: int) -> dict[str, dict[str, float]]:
    """Test log loss by set and number of bins."""
    sets = {
        "clusters": two_classes(seed, SIZES, informative=10, flipped=0.05),
        "surface": cut_surface(seed, SIZES),
        "ripples": ripples(seed, SIZES),
    }
    return {name: {str(bins): _loss(*parts, bins) for bins in BINS} for name, parts in sets.items()}


def _loss(train: Part, test: Part, bins: int) -> float:
    return log_loss(test.y, _fitted(train, bins, "binary").predict(test.X))


def _fitted(train: Part, bins: int, objective: str) -> Any:
    import lightgbm

    settings = {"objective": objective, "num_leaves": 31, "learning_rate": 0.1, "num_threads": 1, "verbosity": -1}
    data = lightgbm.Dataset(train.X, train.y, params={"max_bin": bins, "verbosity": -1})
    return lightgbm.train({**settings, "max_bin": bins}, data, TREES)


def bin_predictions(seed: int) -> dict[str, list[float]]:
    """Predictions of 400 fixed points of a known surface, from the rows a seed draws, by number of bins."""
    (train,) = surface(seed + 1, (500,))
    (points,) = surface(0, (400,))
    return {str(bins): _fitted(train, bins, "regression").predict(points.X).tolist() for bins in (15, 1023)}


def variances(predictions: list[dict[str, list[float]]], bins: int) -> list[float]:
    """How far each seed's predictions lie from the mean of the others', mean square over the points."""
    table = np.array([one[str(bins)] for one in predictions])  # (seeds, points)
    others = (table.sum(axis=0) - table) / (len(table) - 1)
    return [float(value) for value in ((table - others) ** 2).mean(axis=1)]
