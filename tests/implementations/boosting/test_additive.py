"""What every booster is: a sum of trees from a start, grown round by round, readable at every round."""

import pickle

import numpy as np
import pytest

from implementations.boosting.early_stopping import Patience
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.histogram import HistogramBooster
from implementations.boosting.loss import LogLoss, SquaredError
from implementations.boosting.newton import NewtonBooster
from implementations.boosting.tree import Growth
from tests.implementations.boosting.datasets import classification, regression


def sets(name, n=400, seed=0):
    """A training and a test set for a loss."""
    make = regression if name == "squared_error" else classification
    X, y = make(n=2 * n, seed=seed)
    return X[:n], y[:n], X[n:], y[n:]


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
        ({"start": np.nan}, "start is nan"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    """The message names the setting and its value."""
    with pytest.raises(ValueError, match=message):
        GradientBooster(SquaredError(), **settings)


def test_bad_fits_are_refused():
    """Rows without targets, nothing to go on from or predict with, a patience that watches nothing, other columns."""
    X, y, _, _ = sets("squared_error", n=20)
    for call, message in (
        (lambda booster: booster.fit(X, y[:-1], 1), "20 rows but 19 targets"),
        (lambda booster: booster.fit_more(1), "call fit first"),
        (lambda booster: booster.fit(X, y, 1, patience=Patience(1)), "valid="),
        (lambda booster: booster.fit(X, y, 1, weight=-np.ones(20)), "weight -1"),
        (lambda booster: booster.fit(X[:0], y[:0], 1), "shape"),
        (lambda booster: booster.fit(X, y, 0).fit_more(-1), "n_trees is -1"),
        (lambda booster: booster.fit(X, y, 1.5), "n_trees is 1.5"),
        (lambda booster: booster.fit(X, y, 1).predict(X, -1), "n_trees is -1"),
        (lambda booster: booster.fit(X, y, 1, valid=(X[:, :2], y)), "2 columns to watch"),
        (lambda booster: booster.fit(X, y, 1, valid=(X, y[:3])), "20 rows but 3 targets"),
        (lambda booster: booster.fit(X, y, 1).staged_loss(X, y[:3]), "20 rows but 3 targets"),
        (lambda booster: booster.raw(X), "call fit first"),
        (lambda booster: booster.fit(X, y, 1).predict(X[:, :2]), "2 columns for a model of 6"),
        (lambda booster: list(booster.fit(X, y, 1).staged_raw(X[:, :2])), "2 columns for a model of 6"),
    ):
        with pytest.raises(ValueError, match=message):
            call(GradientBooster(SquaredError()))


every_booster = pytest.mark.parametrize("booster", [GradientBooster, NewtonBooster, HistogramBooster])


@every_booster
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [0.0, 1.0, np.nan, 1.0]}, "target nan"),
        ({"y": [0.0, 1.0, np.inf, 1.0]}, "target inf"),
        ({"y": [1.0] * 4}, "needs two classes"),
        ({"X": np.empty((0, 2)), "y": []}, r"shape \(0, 2\)"),
        ({"X": np.empty((4, 0))}, r"shape \(4, 0\)"),
        ({"X": np.full((4, 2), np.inf)}, "row 0, feature 0 is inf"),
        ({"weight": [1.0, 1.0, -2.0, 1.0]}, "weight -2"),
        ({"weight": [1.0, 1.0, np.nan, 1.0]}, "weight nan"),
        ({"weight": [1e308] * 4}, "no finite sum"),
        ({"y": [0.0, 1.0, 1e200, 1.0]}, "size 1e\\+200"),
        ({"y": [0.0, 1.0, 1j, 1.0]}, "complex"),
        ({"X": np.full((4, 2), 1j)}, "complex"),
    ],
)
def test_every_booster_refuses_bad_data(booster, changed, message):
    """Bad targets, one class, no rows, no columns, infinite values, bad weights, and what is no real number."""
    data = {"X": np.arange(8.0).reshape(4, 2), "y": [0.0, 1.0, 0.0, 1.0], **changed}
    with pytest.raises(ValueError, match=message):
        booster(LogLoss()).fit(data.pop("X"), data.pop("y"), 1, **data)


@every_booster
def test_constant_features_leave_the_intercept(booster):
    """A matrix that says nothing gives the mean."""
    fitted = booster(SquaredError()).fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 6.0], 5)
    assert fitted.predict([[1.0, 1.0], [7.0, 7.0]]) == pytest.approx([3.0, 3.0])


@every_booster
def test_a_refused_fit_leaves_the_earlier_one(booster):
    """Bad targets, or a validation set of other columns."""
    X, y, new, _ = sets("squared_error", n=60)
    fitted = booster(SquaredError()).fit(X, y, 3)
    before = fitted.predict(new)
    for bad in ({"y": y * np.nan}, {"y": y, "valid": (X[:, :1], y)}):
        with pytest.raises(ValueError, match=r"target nan|columns to watch"):
            fitted.fit(X, n_trees=1, **bad)
    np.testing.assert_array_equal(fitted.predict(new), before)


def test_a_patience_watches_one_fit():
    """One that ran out would end the next fit at its first tree."""
    X, y, new, target = sets("squared_error", n=60)
    patience = Patience(1)
    GradientBooster(SquaredError()).fit(X, y, 2, valid=(new, target), patience=patience)
    with pytest.raises(ValueError, match="has watched 2 rounds"):
        GradientBooster(SquaredError()).fit(X, y, 2, valid=(new, target), patience=patience)


@every_booster
def test_a_fitted_booster_survives_pickling(booster):
    """It predicts the same and goes on the same."""
    X, y, new, _ = sets("squared_error", n=60)
    fitted = booster(SquaredError()).fit(X, y, 3)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(new), fitted.predict(new))
    np.testing.assert_array_equal(copy.fit_more(2).predict(new), fitted.fit_more(2).predict(new))


@every_booster
def test_rows_without_weight_or_curvature_add_nothing(booster):
    """A sample of rows that all weigh 0, and odds so far from even that no curvature is left."""
    X, y, new, _ = sets("squared_error", n=40)
    alone = np.eye(40)[0]
    sampled = booster(SquaredError(), subsample=0.05, rng=np.random.default_rng(0)).fit(X, y, 5, weight=alone)
    assert np.isfinite(sampled.predict(new)).all()
    growth = Growth(max_depth=None, min_leaf=1)
    sure = booster(LogLoss(), growth=growth, learning_rate=1e3).fit(X, (y > y.mean()).astype(int), 20)
    assert np.isfinite(sure.predict(new)).all()


@every_booster
def test_inputs_are_only_read(booster):
    """Read-only, Fortran-ordered and reversed arrays give what plain ones give."""
    X, y, new, _ = sets("squared_error", n=60)
    plain = booster(SquaredError()).fit(X, y, 5).predict(new)
    frozen, targets = np.asfortranarray(X), y.copy()
    for array in (frozen, targets):
        array.setflags(write=False)
    np.testing.assert_array_equal(booster(SquaredError()).fit(frozen, targets, 5).predict(new), plain)
