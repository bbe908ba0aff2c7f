"""Stacks of other members, of fewer rows and of other numbers of folds, on data small enough to draw many times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from claims.experiments.regression_members import (
    Columns,
    Split,
    clean,
    columns,
    error_correlation,
    friedman_split,
    members,
    noise_free,
    shuffled_folds,
    split,
)
from implementations.ensembles.members import Member

SIZES = (60, 120, 250, 500, 1000)
FOLDS = (2, 3, 5, 10, 20)
MEMORISERS: dict[str, Member] = {
    "nearest": lambda: KNeighborsRegressor(1),
    "extra trees": lambda: ExtraTreesRegressor(50, random_state=0),
    "full tree": lambda: DecisionTreeRegressor(random_state=0),
}
BOOSTERS: dict[str, Member] = {
    f"depth {depth}, rate {rate}": lambda depth=depth, rate=rate: GradientBoostingRegressor(  # type: ignore[misc]
        n_estimators=50, max_depth=depth, learning_rate=rate, random_state=0
    )
    for depth, rate in ((3, 0.1), (3, 0.2), (4, 0.1), (2, 0.2))
}


def data_set(name: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and targets of one of four regression problems."""
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    makers = {
        "friedman1": (make_friedman1, 1.0),
        "friedman2": (make_friedman2, 125.0),
        "friedman3": (make_friedman3, 0.1),
    }
    make, noise = makers[name]
    return make(600, noise=noise, random_state=seed)


def memoriser_columns(name: str, seed: int) -> Columns:
    """The four members with fewer trees, and three that remember every row, on one data set."""
    return columns({**members(50), **MEMORISERS}, split(*data_set(name, seed), seed, seed))


def family_gains(seed: int) -> dict[str, Any]:
    """What stacking adds to the best member: four families, and four boosters."""
    rows, target = friedman_split(1000, seed, seed), noise_free(1000, seed)
    found = {"families": columns(members(50), rows), "variants": columns(BOOSTERS, rows)}
    return {
        name: {
            "gain": clean(one).score - float(one.scores.max()),
            "correlation": float(error_correlation(one, target).max()),
        }
        for name, one in found.items()
    }


def gain_by_rows(seed: int) -> list[float]:
    """Stack minus the member that is best out of fold, in test R2, at each of `SIZES` training rows.

    All sizes are scored on the same 2,000 rows, so that a small training set does not come with a small test set.
    """
    most = max(SIZES)
    X, y = make_friedman1(most + 2000, noise=1.0, random_state=seed)
    gains = []
    for n in SIZES:
        rows = Split(X[:n], y[:n], X[most:], y[most:], shuffled_folds(n, 5, seed))
        found = columns(members(50), rows)
        chosen = int(np.argmax([r2_score(found.y_train, column) for column in found.oof.T]))
        gains.append(clean(found).score - float(found.scores[chosen]))
    return gains


def score_by_folds(seed: int) -> list[float]:
    """Test R2 of the stack with each of `FOLDS` folds, on the same 600 rows."""
    return [clean(columns(members(50), friedman_split(600, seed, seed, k))).score for k in FOLDS]
