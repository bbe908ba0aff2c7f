"""scikit-learn's StackingRegressor on the post's second set-up."""

from __future__ import annotations

from functools import cache
from typing import Any

from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from claims.experiments.regression_members import friedman_split, members


@cache
def on_the_posts_folds(n_rows: int, n_trees: int, seed: int) -> Any:
    """Fitted with the shuffled folds that the stack by hand uses."""
    rows = friedman_split(n_rows, seed)
    return _unfitted(n_trees, KFold(5, shuffle=True, random_state=0)).fit(rows.X_train, rows.y_train)


def score_as_printed(n_rows: int, n_trees: int, seed: int) -> float:
    """Test R2 with the library's own five folds, which it does not shuffle."""
    rows = friedman_split(n_rows, seed)
    fitted = _unfitted(n_trees, 5).fit(rows.X_train, rows.y_train)
    return float(r2_score(rows.y_test, fitted.predict(rows.X_test)))


def _unfitted(n_trees: int, cv: Any) -> StackingRegressor:
    return StackingRegressor([(name, make()) for name, make in members(n_trees).items()], RidgeCV(), cv=cv)
