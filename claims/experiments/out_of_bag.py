"""The forest's honest account of its own training rows: each judged by the trees that did not draw it."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from claims.experiments.regression_members import Columns, Combined, combined, friedman_split

Floats = NDArray[np.float64]


@cache
def forest_column(n_rows: int, n_trees: int, seed: int) -> Floats:
    """Out-of-bag predictions of the post's forest, shape (n_train,)."""
    rows = friedman_split(n_rows, seed)
    forest = RandomForestRegressor(n_trees, random_state=0, oob_score=True).fit(rows.X_train, rows.y_train)
    return np.asarray(forest.oob_prediction_)


def leaked_but_for_the_forest(found: Columns, honest: Floats) -> Combined:
    """The leaked stack with the forest's column taken out of bag."""
    columns = np.where(np.array(found.names) == "forest", honest[:, None], found.in_fold)
    return combined(columns, found.y_train, found.test, found.y_test)
