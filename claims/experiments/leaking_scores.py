"""Cross-validation of a column encoded by the target: before the folds are dealt (leaking), or inside each (honest)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claims.experiments.encoded_columns import ROWS, encodings, rows_with_category
from claims.experiments.generated_sets import log_loss
from claims.experiments.library_searches import draw

Floats = NDArray[np.float64]
FOLDS = 3


@dataclass(frozen=True)
class Rows:
    """Rows with a category that says nothing of the target."""

    X: Floats
    y: Floats
    category: NDArray[np.intp]

    def at(self, places: Any) -> Rows:
        """Some of the rows."""
        return Rows(self.X[places], self.y[places], self.category[places])


def rows_of(seed: int) -> tuple[Rows, Rows]:
    """Rows to tune on, and fresh ones."""
    rows = Rows(*rows_with_category(seed))
    return rows.at(slice(0, ROWS)), rows.at(slice(ROWS, None))


def with_column(train: Rows, new: Rows, encoder: str) -> tuple[Floats, Floats]:
    """The matrices of training and new rows, the category encoded from the training rows, or left out for `drop`."""
    if encoder == "drop":
        return train.X, new.X
    encoding = encodings(encoder, train.category, train.y, seed=0)
    return np.column_stack([train.X, encoding.training]), np.column_stack([new.X, encoding.new(new.category)])


def fit(X: Floats, y: Floats, knobs: dict[str, Any]) -> Any:
    """LightGBM with these knobs."""
    import lightgbm

    settings = {
        "objective": "binary",
        "learning_rate": knobs["rate"],
        "max_depth": int(knobs["depth"]),
        "num_leaves": 2 ** int(knobs["depth"]),
        "feature_fraction": knobs["columns"],
        "min_sum_hessian_in_leaf": knobs["least"],
        "lambda_l2": knobs["ridge"],
        "num_threads": 1,
        "verbosity": -1,
        "force_col_wise": True,
    }
    return lightgbm.train(settings, lightgbm.Dataset(X, y), int(knobs["trees"]))


def cross_validated(rows: Rows, knobs: dict[str, Any], seed: int, *, leaking: bool) -> float:
    """Log loss over the folds; leaking where the category was encoded from all rows first."""
    fold = np.random.default_rng(seed).permutation(len(rows.y)) % FOLDS
    whole, _ = with_column(rows, rows, knobs["encoder"])
    losses = []
    for one in range(FOLDS):
        inside, outside = rows.at(fold == one), rows.at(fold != one)
        matrices = (whole[fold != one], whole[fold == one])
        train, valid = matrices if leaking else with_column(outside, inside, knobs["encoder"])
        losses.append(log_loss(inside.y, fit(train, outside.y, knobs).predict(valid)))
    return float(np.mean(losses))


def fresh_loss(rows: Rows, fresh: Rows, knobs: dict[str, Any]) -> float:
    """Log loss on fresh rows of a model of all old ones."""
    train, new = with_column(rows, fresh, knobs["encoder"])
    return log_loss(fresh.y, fit(train, rows.y, knobs).predict(new))


def trials(seed: int) -> list[dict[str, float]]:
    """Leaking and honest cross-validated loss, and the loss on fresh rows, of 24 random settings.

    A setting says whether the naive column is used, besides six knobs and the number of trees.
    """
    rows, fresh = rows_of(seed)
    rng, found = np.random.default_rng(seed), []
    for number in range(24):
        encoder = ("naive", "drop")[number % 2]
        knobs = {**draw(rng), "trees": int(rng.integers(10, 120)), "encoder": encoder}
        found.append(
            {
                "leaking": cross_validated(rows, knobs, seed, leaking=True),
                "honest": cross_validated(rows, knobs, seed, leaking=False),
                "fresh": fresh_loss(rows, fresh, knobs),
            }
        )
    return found


def depth_or_encoder(seed: int) -> dict[str, float]:
    """Loss on fresh rows: the naive column with depth and trees chosen by cross-validation, or the encoder repaired."""
    rows, fresh = rows_of(seed)
    plain = {"rate": 0.1, "columns": 1.0, "least": 1e-3, "ridge": 0.0}
    grid = [
        {**plain, "encoder": "naive", "depth": depth, "trees": trees}
        for depth in (1, 2, 3, 4, 6, 8)
        for trees in (20, 60, 100)
    ]
    found = {}
    for name, leaking in (("encoded before the split", True), ("encoded inside the folds", False)):
        best = min(grid, key=lambda knobs: cross_validated(rows, knobs, seed, leaking=leaking))
        found[name] = fresh_loss(rows, fresh, best)
    found["repaired"] = fresh_loss(rows, fresh, {**plain, "encoder": "out of fold", "depth": 3, "trees": 100})
    return found
