"""What else could combine the members, and what a useless member costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, RidgeCV

from claims.experiments.regression_members import Columns, clean

Floats = NDArray[np.float64]

# Forest and booster have 100 trees, as the library has it where nothing is said.
COMBINERS: dict[str, Callable[[], Any]] = {
    "ridge": RidgeCV,
    "linear": LinearRegression,
    "forest": lambda: RandomForestRegressor(max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(max_depth=3, random_state=0),
}


class NonNegative:
    """Least squares with an intercept and coefficients of at least 0."""

    def fit(self, X: Floats, y: Floats) -> NonNegative:
        """Centre, solve, and put the means back into the intercept."""
        self.coef_, _ = nnls(X - X.mean(axis=0), y - y.mean())
        self.intercept_ = y.mean() - X.mean(axis=0) @ self.coef_
        return self

    def predict(self, X: Floats) -> Floats:
        """The weighted sum, shape (n,)."""
        return np.asarray(X @ self.coef_ + self.intercept_)


def with_member(found: Columns, train: Floats, test: Floats) -> Columns:
    """The same with one more column, which says the same of training rows in fold and out of fold."""
    one, other = train[:, None], test[:, None]
    return found.beside(Columns(("added",), found.y_train, found.y_test, one, one, other))


def with_constant(found: Columns) -> Columns:
    """A member that knows the mean of the training targets and nothing else."""
    mean = found.y_train.mean()
    return with_member(found, np.full(len(found.y_train), mean), np.full(len(found.y_test), mean))


def with_noise(found: Columns, seed: int) -> Columns:
    """A member that draws from the distribution of the training targets, as the post's does."""
    rng = np.random.RandomState(seed)
    mean, spread = found.y_train.mean(), found.y_train.std()
    train, test = (rng.normal(mean, spread, len(y)) for y in (found.y_train, found.y_test))
    return with_member(found, train, test)


def noise_cost_of_the_post(found: Columns) -> float:
    """What its own draw (seed 1) of a noise member costs in test R2."""
    return clean(found).score - clean(with_noise(found, 1)).score


def noise_cost(found: Columns, draws: int) -> Floats:
    """What test R2 loses to one noise member, for so many draws of it."""
    before = clean(found).score
    return np.array([before - clean(with_noise(found, seed)).score for seed in range(draws)])


def shared_bias(seed: int, n: int = 400) -> tuple[float, float]:
    """Test R2 of a non-negative and of a free combiner, where two members err alike and one knows nothing else.

    The first member is right but for an error; the second reports that error and no more. Only a negative weight on
    the second takes the error out.
    """
    rng = np.random.default_rng(seed)
    y, shared, own = rng.normal(size=2 * n), rng.normal(size=2 * n), rng.normal(0, 0.3, size=(2, 2 * n))
    table = np.column_stack([y + shared + own[0], shared + own[1]])
    parts = Columns(("right", "error"), y[:n], y[n:], table[:n], table[:n], table[n:])
    return clean(parts, NonNegative).score, clean(parts, LinearRegression).score
