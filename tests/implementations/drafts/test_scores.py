"""Expected scores against the mean over many drawn results."""

import numpy as np
import pytest

from implementations.drafts.scores import called_right, expected_accuracy, expected_log_loss
from implementations.drafts.world import chance


def case(n=400, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.normal(size=n)
    return true, true + rng.normal(size=n), rng.random((4000, n)) < chance(true)


def test_expected_accuracy_is_the_mean_accuracy():
    """Over four thousand draws of all results."""
    true, called, won = case()
    assert expected_accuracy(true, called) == pytest.approx(((called > 0) == won).mean(), abs=1e-3)


def test_expected_log_loss_is_the_mean_log_loss():
    """Over four thousand draws of all results."""
    true, called, won = case()
    drawn = np.where(won, np.logaddexp(0, -called), np.logaddexp(0, called)).mean()
    assert expected_log_loss(true, called) == pytest.approx(drawn, abs=1e-3)


def test_nobody_beats_the_true_odds():
    """In accuracy and in log loss."""
    true, called, _ = case()
    assert expected_accuracy(true, called) < expected_accuracy(true, true)
    assert expected_log_loss(true, called) > expected_log_loss(true, true)
    assert (called_right(true, true) >= 0.5).all()


@pytest.mark.parametrize("score", [expected_accuracy, expected_log_loss])
@pytest.mark.parametrize(
    ("true", "called"), [(np.ones(3), np.ones(1)), (np.ones(3), np.full(3, np.nan)), (np.empty(0), np.empty(0))]
)
def test_odds_that_cannot_be_scored_are_refused(score, true, called):
    """Other lengths, NaN (which would call the other side), and no match."""
    with pytest.raises(ValueError, match="odds of shape"):
        score(true, called)
