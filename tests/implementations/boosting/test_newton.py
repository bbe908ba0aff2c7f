"""Second-order boosting against XGBoost's exact method, margin by margin, and against its own price of a leaf."""

import numpy as np
import pytest

from implementations.boosting.loss import LogLoss, SquaredError
from implementations.boosting.newton import NewtonBooster
from implementations.boosting.tree import Growth, pruned
from tests.implementations.boosting.datasets import classification, holed, regression, uneven_weights


def library(X, y, rounds, **settings):
    """XGBoost's exact booster on one thread."""
    xgboost = pytest.importorskip("xgboost")
    fixed = {"tree_method": "exact", "nthread": 1, "base_score": 0.5, "eta": 0.3}
    booster = xgboost.train({**fixed, **settings}, xgboost.DMatrix(X, y, weight=uneven_weights(len(y))), rounds)
    return lambda new: booster.predict(xgboost.DMatrix(new), output_margin=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gamma", [0.0, 1.0])
@pytest.mark.parametrize("missing", [False, True])
def test_logistic_margins_are_xgboosts(missing, gamma, seed):
    """40 rounds of depth 4, with and without missing values and a price for splits; the library keeps float32.

    Where values are missing, the training rows alone are compared: the library tells present from missing by a finite
    threshold, and the direction of a node without missing rows is a tie.
    """
    complete, y = classification(n=600, seed=seed)
    X, new = holed(complete[:400], seed) if missing else complete[:400], complete[400:]
    theirs = library(X, y[:400], 40, objective="binary:logistic", max_depth=4, gamma=gamma)
    growth = Growth(max_depth=4, ridge=1.0, min_curvature=1.0)
    booster = NewtonBooster(LogLoss(), growth=growth, gamma=gamma, start=0.0)
    booster.fit(X, y[:400], 40, weight=uneven_weights(400))
    for rows in (X,) if missing else (X, new):
        np.testing.assert_allclose(booster.raw(rows), theirs(rows), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_squared_margins_are_xgboosts(ridge):
    """30 rounds of depth 3 by squared error."""
    X, y = regression(n=400)
    theirs = library(X, y, 30, objective="reg:squarederror", max_depth=3, reg_lambda=ridge)
    growth = Growth(max_depth=3, ridge=ridge, min_curvature=1.0)
    booster = NewtonBooster(SquaredError(), growth=growth, start=0.5).fit(X, y, 30, weight=uneven_weights(400))
    np.testing.assert_allclose(booster.raw(X), theirs(X), rtol=1e-5, atol=1e-4)


def test_each_leaf_minimises_the_penalised_expansion():
    """Sum of g v + h v**2 / 2 over a leaf, plus ridge v**2 / 2, has no slope at the leaf's value."""
    X, y = classification()
    booster = NewtonBooster(LogLoss(), growth=Growth(max_depth=3, ridge=2.0)).fit(X, y, 3)
    before = booster.raw(X, 2)
    g, h = LogLoss().gradient(y, before), LogLoss().curvature(y, before)
    tree = booster.stages[2].partition
    for node in np.unique(ids := tree.apply(X)):
        assert g[ids == node].sum() + (h[ids == node].sum() + 2.0) * tree.value[node] == pytest.approx(0, abs=1e-9)


def test_no_pruning_of_the_tree_lowers_the_priced_objective():
    """Among all ways to cut the tree back, its own has the least -gain / 2 + gamma / 2 a split."""
    X, y = classification()
    full = NewtonBooster(LogLoss(), growth=Growth(max_depth=4, ridge=1.0)).fit(X, y, 1).stages[0].partition

    def objective(tree):
        return float((gamma - tree.gain[~tree.is_leaf]).sum())

    for gamma in (0.5, 2.0, 5.0):
        prices = np.unique(full.gain)
        assert objective(pruned(full, gamma)) <= min(objective(pruned(full, price)) for price in prices) + 1e-9


def test_sampling_rows_and_features():
    """Both shares are drawn anew each round, from the generator alone."""
    X, y = classification()
    one, other = (
        NewtonBooster(LogLoss(), subsample=0.5, colsample=0.5, rng=np.random.default_rng(1)).fit(X, y, 8)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.raw(X), other.raw(X))
    looked_at = [set(tree.partition.feature[~tree.partition.is_leaf]) for tree in one.stages]
    assert max(map(len, looked_at)) <= 3
    assert len(set.union(*looked_at)) > 3
    assert one.stages[0].partition.rows[0] == 150


@pytest.mark.parametrize("settings", [{"gamma": -1.0}, {"colsample": 1.5}, {"colsample": 0.5}])
def test_settings_out_of_range_are_refused(settings):
    """The message names the setting."""
    with pytest.raises(ValueError, match=next(iter(settings))):
        NewtonBooster(LogLoss(), **settings)
