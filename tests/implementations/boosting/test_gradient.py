"""First-order boosting against scikit-learn's boosters, a row-by-row reference and its own definition."""

import numpy as np
import pytest

from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import ExponentialLoss, LogLoss, SquaredError
from implementations.boosting.tree import Growth
from tests.implementations.boosting.datasets import classification, regression, uneven_weights

LOSSES = {"squared_error": SquaredError(), "log_loss": LogLoss(), "exponential": ExponentialLoss()}


def sets(name, n=400, seed=0):
    """A training and a test set for a loss."""
    make = regression if name == "squared_error" else classification
    X, y = make(n=2 * n, seed=seed)
    return X[:n], y[:n], X[n:], y[n:]


def library(name, X, y, **settings):
    """scikit-learn's booster and its raw score of a matrix."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    if name == "squared_error":
        fitted = ensemble.GradientBoostingRegressor(**settings).fit(X, y, sample_weight=uneven_weights(len(y)))
        return fitted.predict
    fitted = ensemble.GradientBoostingClassifier(loss=name, **settings).fit(X, y, sample_weight=uneven_weights(len(y)))
    return fitted.decision_function


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LOSSES)
def test_it_is_scikit_learns_booster(name, seed):
    """Raw scores of new rows after 60 trees; 20 rows a leaf and uneven weights keep splits from tying."""
    X, y, new, _ = sets(name, seed=seed)
    theirs = library(name, X, y, n_estimators=60, max_depth=3, min_samples_leaf=20, random_state=0)
    booster = GradientBooster(LOSSES[name], growth=Growth(max_depth=3, min_leaf=20))
    booster.fit(X, y, 60, weight=uneven_weights(len(y)))
    np.testing.assert_allclose(booster.raw(new), theirs(new), rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_it_takes_a_librarys_trees(name):
    """With scikit-learn's trees drawing ties from one generator, as its booster's trees do."""
    trees = pytest.importorskip("sklearn.tree")
    X, y, new, _ = sets(name)
    theirs = library(name, X, y, n_estimators=60, max_depth=3, min_samples_leaf=20, random_state=0)
    ties = np.random.RandomState(0)

    def learner(target, weight):
        tree = trees.DecisionTreeRegressor(max_depth=3, min_samples_leaf=20, random_state=ties)
        return tree.fit(X, target, sample_weight=weight)

    booster = GradientBooster(LOSSES[name], learner=learner).fit(X, y, 60, weight=uneven_weights(len(y)))
    np.testing.assert_allclose(booster.raw(new), theirs(new), rtol=0, atol=1e-8)


@pytest.mark.parametrize("leaf", ["mean", "newton"])
def test_leaves_row_by_row(leaf):
    """Each leaf of the first tree from its rows alone, by the formula of the log loss."""
    X, y, _, _ = sets("log_loss")
    booster = GradientBooster(LogLoss(), leaf=leaf, learning_rate=0.5).fit(X, y, 1)
    p = y.mean()
    for node in np.unique(ids := booster.stages[0].partition.apply(X)):
        residual = y[ids == node] - p
        step = residual.mean() if leaf == "mean" else residual.sum() / (len(residual) * p * (1 - p))
        assert booster.stages[0].values[node] == pytest.approx(0.5 * step)


def test_a_tree_sees_its_sample_only():
    """Half of the rows a round: the first tree's root counts them, and the rounds differ."""
    X, y, _, _ = sets("squared_error")
    booster = GradientBooster(SquaredError(), subsample=0.5, rng=np.random.default_rng(0)).fit(X, y, 2)
    assert [stage.partition.rows[0] for stage in booster.stages] == [200, 200]
    assert booster.stages[0].partition.threshold[0] != booster.stages[1].partition.threshold[0]


def test_an_unknown_leaf_rule_is_refused():
    """The message names the setting and its value."""
    with pytest.raises(ValueError, match="leaf is 'median'"):
        GradientBooster(SquaredError(), leaf="median")
