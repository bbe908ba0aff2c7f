"""One small training set used twice: with a holdout for the weights, and with out-of-fold columns for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from claims.experiments.vote_members import four, rows
from implementations.ensembles.blending import likelihoods
from implementations.ensembles.folds import assign_stratified_folds, out_of_fold
from implementations.ensembles.simplex import log_loss, minimise_log_loss


def delivered(seed: int, n_rows: int = 900, n_holdout: int = 300) -> dict[str, Any]:
    """Test log loss of the four blended by weights from a holdout and from folds, and rows the weights had."""
    data = rows(seed)
    X, y = data.X_train[:n_rows], data.y_train[:n_rows]
    makers = [lambda one=one: clone(one) for one in four().values()]  # type: ignore[misc]
    fitted = [make().fit(X[n_holdout:], y[n_holdout:]) for make in makers]
    held_out = np.column_stack([model.predict_proba(X[:n_holdout])[:, 1] for model in fitted])
    folds = assign_stratified_folds(y, 5, np.random.default_rng(seed))
    columns = np.hstack([out_of_fold(make, X, y, folds, "predict_proba") for make in makers])

    def loss(models: list[Any], said: Any, truth: Any) -> float:
        weights = minimise_log_loss(likelihoods(said, truth)).weights
        test = np.column_stack([model.predict_proba(data.X_test)[:, 1] for model in models])
        return log_loss(weights, likelihoods(test, data.y_test))

    return {
        "holdout": loss(fitted, held_out, y[:n_holdout]),
        "folds": loss([make().fit(X, y) for make in makers], columns, y),
        "holdout rows": len(held_out),
        "fold rows": len(columns),
    }
