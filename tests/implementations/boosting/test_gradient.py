"""First-order boosting against scikit-learn's boosters, a row-by-row reference and its own definition."""

import numpy as np
import pytest

from implementations.boosting.early_stopping import Patience
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


def test_the_intercept_is_part_of_the_prediction():
    """Without a tree the prediction is the mean, and far from 0 it stays there."""
    X, y, new, _ = sets("squared_error")
    booster = GradientBooster(SquaredError()).fit(X, y + 1000, 0)
    assert booster.predict(new) == pytest.approx(np.full(len(new), y.mean() + 1000))


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_a_warm_start_is_one_long_fit(subsample):
    """20 + 10 + 10 rounds against 40."""
    X, y, new, _ = sets("log_loss")
    one, other = (
        GradientBooster(LogLoss(), subsample=subsample, rng=np.random.default_rng(3)).fit(X, y, n) for n in (40, 20)
    )
    other.fit_more(10).fit_more(10)
    np.testing.assert_array_equal(one.raw(new), other.raw(new))


def test_fitting_again_starts_anew():
    """Nothing of the first fit is left."""
    X, y, new, _ = sets("squared_error")
    twice = GradientBooster(SquaredError()).fit(X, -y, 5).fit(X, y, 5)
    np.testing.assert_array_equal(twice.raw(new), GradientBooster(SquaredError()).fit(X, y, 5).raw(new))


def test_staged_scores_are_prefixes():
    """The k-th staged score is the score of k trees, and of the training state at the end."""
    X, y, new, target = sets("log_loss")
    booster = GradientBooster(LogLoss()).fit(X, y, 12)
    for k, raw in enumerate(booster.staged_raw(new), 1):
        np.testing.assert_allclose(raw, booster.raw(new, k))
    np.testing.assert_allclose(booster.training.raw, booster.raw(X))
    losses = [LogLoss().value(target, booster.raw(new, k)).mean() for k in range(1, 13)]
    np.testing.assert_allclose(booster.staged_loss(new, target), losses)


def test_a_tree_sees_its_sample_only():
    """Half of the rows a round: the first tree's root counts them, and the rounds differ."""
    X, y, _, _ = sets("squared_error")
    booster = GradientBooster(SquaredError(), subsample=0.5, rng=np.random.default_rng(0)).fit(X, y, 2)
    assert [stage.partition.rows[0] for stage in booster.stages] == [200, 200]
    assert booster.stages[0].partition.threshold[0] != booster.stages[1].partition.threshold[0]


def test_it_stops_when_patience_runs_out():
    """Validation losses are those of the stages, and the last round is patience after the best."""
    X, y, new, target = sets("squared_error")
    patience = Patience(10)
    booster = GradientBooster(SquaredError(), learning_rate=0.5)
    booster.fit(X, y, 500, valid=(new, target), patience=patience)
    np.testing.assert_allclose(booster.validation.losses, booster.staged_loss(new, target))
    assert len(booster) == patience.best_round + 10 < 500


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate is 0"),
        ({"subsample": 0.0}, "subsample is 0"),
        ({"subsample": 0.5}, "pass rng"),
        ({"leaf": "median"}, "leaf is 'median'"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    """The message names the setting and its value."""
    with pytest.raises(ValueError, match=message):
        GradientBooster(SquaredError(), **settings)


def test_bad_fits_are_refused():
    """Rows without targets, going on from nothing, a patience that watches nothing, negative weights."""
    X, y, _, _ = sets("squared_error", n=20)
    for call, message in (
        (lambda booster: booster.fit(X, y[:-1], 1), "20 rows but 19 targets"),
        (lambda booster: booster.fit_more(1), "call fit first"),
        (lambda booster: booster.fit(X, y, 1, patience=Patience(1)), "valid="),
        (lambda booster: booster.fit(X, y, 1, weight=-np.ones(20)), "weight -1"),
        (lambda booster: booster.fit(X[:0], y[:0], 1), "shape"),
        (lambda booster: booster.fit(X, y, 0).fit_more(-1), "n_trees is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            call(GradientBooster(SquaredError()))


def test_constant_features_leave_the_intercept():
    """A matrix that says nothing gives the mean."""
    booster = GradientBooster(SquaredError()).fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 6.0], 5)
    assert booster.predict([[1.0, 1.0], [7.0, 7.0]]) == pytest.approx([3.0, 3.0])
