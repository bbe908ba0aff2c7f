"""The stopping rule against a slow reading of its definition and LightGBM's callback."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.boosting.early_stopping import Patience, best_round

curves = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=40)


def stopped(losses, rounds, min_fall=0.0):
    """The round at which the rule stops, and the best one it saw."""
    patience = Patience(rounds, min_fall)
    for round_, loss in enumerate(losses, 1):
        if patience.stops(loss):
            return round_, patience.best_round
    return len(losses), patience.best_round


def stopped_by_definition(losses, rounds):
    """The first round that is `rounds` after the first minimum of all rounds up to it."""
    for end in range(1, len(losses) + 1):
        best = losses[:end].index(min(losses[:end])) + 1
        if end - best >= rounds:
            return end, best
    return len(losses), losses.index(min(losses)) + 1


@given(curves, st.integers(1, 6))
def test_it_stops_where_the_definition_says(losses, rounds):
    """Any curve, ties included."""
    assert stopped(losses, rounds) == stopped_by_definition(losses, rounds)


@given(curves)
def test_the_best_round_is_the_first_minimum(losses):
    """Counted from 1."""
    assert losses[best_round(losses) - 1] == min(losses)
    assert best_round(losses) == losses.index(min(losses)) + 1


def test_it_stops_like_lightgbm():
    """The library's best iteration on a curve of its own, and ours on the losses it printed."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(300, 5)), rng.normal(size=300)
    train, valid = (lightgbm.Dataset(X[rows], X[rows, 0] + noise[rows]) for rows in (slice(150), slice(150, 300)))
    losses = {}
    booster = lightgbm.train(
        {"objective": "regression", "learning_rate": 0.3, "num_threads": 1, "verbosity": -1},
        train,
        200,
        valid_sets=[valid],
        callbacks=[lightgbm.early_stopping(7, verbose=False), lightgbm.record_evaluation(losses)],
    )
    ours = stopped(losses["valid_0"]["l2"], 7)
    assert ours == (booster.best_iteration + 7, booster.best_iteration)


def test_a_small_fall_does_not_count():
    """The curve falls by 0.1 a round, and 0.15 is asked for."""
    assert stopped([1.0, 0.9, 0.8, 0.7], 2, min_fall=0.15) == (4, 3)
    assert stopped([1.0, 0.9, 0.89, 0.88], 2, min_fall=0.15) == (3, 1)


@pytest.mark.parametrize(("rounds", "min_fall"), [(0, 0.0), (np.nan, 0.0), (1.5, 0.0), (1, -0.1), (1, np.nan)])
def test_a_patience_out_of_range_is_refused(rounds, min_fall):
    """At least one round, and whole ones; a finite fall of at least 0."""
    with pytest.raises(ValueError, match=r"patience|min_fall"):
        Patience(rounds, min_fall)


def test_a_nan_loss_is_refused():
    """A model that diverged has no best round."""
    with pytest.raises(ValueError, match="NaN"):
        Patience(1).stops(np.nan)
    with pytest.raises(ValueError, match="NaN"):
        best_round([1.0, np.nan])
    with pytest.raises(ValueError, match="one loss a round"):
        best_round([])
