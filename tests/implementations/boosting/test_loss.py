"""Every loss against finite differences, a numerical minimum, and scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from implementations.boosting.loss import LOSSES, ExponentialLoss, LogLoss, SquaredError

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def rows(loss, n=50):
    rng = np.random.default_rng(1)
    y = rng.normal(size=n) if isinstance(loss, SquaredError) else (rng.random(n) < 0.3).astype(float)
    return y, rng.normal(scale=2.0, size=n), rng.uniform(0.5, 2.0, n)


@every_loss
def test_derivatives_are_those_of_the_value(loss):
    """Central differences of the value give the gradient, and of the gradient the curvature."""
    y, raw, _ = rows(loss)
    step = 1e-5
    slope = (loss.value(y, raw + step) - loss.value(y, raw - step)) / (2 * step)
    bend = (loss.gradient(y, raw + step) - loss.gradient(y, raw - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, raw), slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(loss.curvature(y, raw), bend, rtol=1e-6, atol=1e-8)


@every_loss
def test_the_constant_is_the_best_one(loss):
    """No shared score has a smaller weighted loss."""
    y, _, weight = rows(loss)
    found = minimize_scalar(lambda c: (weight * loss.value(y, np.full_like(y, c))).sum(), bracket=(-1, 1)).x
    assert loss.constant(y, weight) == pytest.approx(found, abs=1e-6)


@every_loss
def test_scores_far_out_stay_finite(loss):
    """A log loss of a hopeless row does not overflow."""
    y = np.array([0.0, 1.0])
    raw = np.array([300.0, -300.0])
    assert np.isfinite([*loss.value(y, raw), *loss.gradient(y, raw), *loss.curvature(y, raw)]).all()


def test_log_loss_is_the_librarys():
    """Mean value and gradient against scikit-learn's."""
    sklearn = pytest.importorskip("sklearn.metrics")
    loss = LogLoss()
    y, raw, weight = rows(loss)
    theirs = sklearn.log_loss(y, loss.response(raw), sample_weight=weight)
    assert np.average(loss.value(y, raw), weights=weight) == pytest.approx(theirs, rel=1e-12)


def test_the_exponential_score_is_half_the_log_odds():
    """Its response inverts its constant."""
    y, _, weight = rows(ExponentialLoss())
    constant = ExponentialLoss().constant(y, weight)
    assert ExponentialLoss().response(np.array([constant]))[0] == pytest.approx(np.average(y, weights=weight))


@every_loss
@pytest.mark.parametrize("bad", [[], [[1.0]], [0.0, np.nan], [0.0, np.inf]], ids=["empty", "2-d", "nan", "inf"])
def test_bad_targets_are_refused(loss, bad):
    """Empty, wrongly shaped and non-finite targets."""
    with pytest.raises(ValueError, match="target"):
        loss.targets(bad)


@pytest.mark.parametrize("labels", [[0, 0], [1, 1], [1, 2], [-1, 1], [0, 1, 2]])
@pytest.mark.parametrize("loss", [LogLoss(), ExponentialLoss()])
def test_labels_are_0_and_1(loss, labels):
    """One class, three classes, and other names."""
    with pytest.raises(ValueError, match="named 0 and 1"):
        loss.targets(labels)


def test_a_class_without_weight_is_refused():
    """Weights can leave one class only."""
    with pytest.raises(ValueError, match="share of 0"):
        LogLoss().constant(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
