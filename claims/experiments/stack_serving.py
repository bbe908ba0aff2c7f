"""A stack beside its best member alone, to be fitted and to answer: what a timing calls, in a process of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV

from claims.experiments.regression_members import friedman_split, members
from implementations.ensembles.stacking import Stack, fit_stack


def serving(n_rows: int, n_trees: int, stacked: bool) -> tuple[Any, Any]:
    """A fitted stack, or its booster alone, and 900 rows to answer for."""
    rows = friedman_split(n_rows, 0)
    model = fitted_stack(n_rows, n_trees) if stacked else fitted_booster(n_rows, n_trees)
    return model, np.resize(rows.X_test, (900, rows.X_test.shape[1]))


def answer(model: Any, X: Any) -> Any:
    """Predict every row."""
    return model.predict(X)


def fitted_stack(n_rows: int, n_trees: int) -> Stack:
    """All members on all folds and once more on all rows, and the combiner."""
    rows = friedman_split(n_rows, 0)
    return fit_stack(list(members(n_trees).values()), RidgeCV, rows.X_train, rows.y_train, rows.folds)


def fitted_booster(n_rows: int, n_trees: int) -> Any:
    """The best member, once."""
    rows = friedman_split(n_rows, 0)
    return members(n_trees)["boosting"]().fit(rows.X_train, rows.y_train)
