"""The median rule against Optuna's, step for step."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.search.median_pruner import MedianPruner
from implementations.search.space import Float, Space
from implementations.search.study import History, State, Trial

SPACE = Space({"x": Float(0, 1)})
# Halves, so that the middle of two values is exact in every formula.
values = st.integers(-8, 8).map(lambda n: n / 2) | st.just(math.nan)
curves = st.dictionaries(st.integers(0, 12), values, max_size=8)
states = st.sampled_from([State.COMPLETE, State.COMPLETE, State.PRUNED, State.FAILED])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(states, curves), max_size=8),
    st.dictionaries(st.integers(0, 12), values, min_size=1, max_size=8),
    st.sampled_from([1.0, -1.0]),
    st.integers(0, 4),
    st.integers(0, 6),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_decisions_are_optunas_at_every_report(others, curve, sign, startup, warmup, interval, least):
    """Any earlier trials, any curve, any grace periods, both directions; NaN reports included."""
    optuna = pytest.importorskip("optuna")
    pruner = MedianPruner(startup, warmup, interval, least)
    theirs = optuna.pruners.MedianPruner(startup, warmup, interval, n_min_trials=least)
    study = optuna.create_study(direction="minimize" if sign > 0 else "maximize")
    trials = []
    for number, (state, reports) in enumerate(others):
        value = 0.0 if state is State.COMPLETE else None
        trials.append(Trial(number, {"x": 0.5}, state, value, reports))
        study.add_trial(
            optuna.trial.create_trial(
                state=getattr(optuna.trial.TrialState, "FAIL" if state is State.FAILED else state.name),
                value=value,
                intermediate_values=reports,
            )
        )
    running = Trial(len(trials), {"x": 0.5})
    shown = {}
    for step, value in curve.items():
        running.reports[step] = shown[step] = value
        frozen = optuna.trial.create_trial(state=optuna.trial.TrialState.PRUNED, intermediate_values=dict(shown))
        ours = pruner.should_stop(History(SPACE, [*trials, running], sign), running)
        assert ours == _quietly(theirs.prune, study, frozen)


def _quietly(function, *args):
    """NumPy warns about a median of nothing but NaN."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return function(*args)


def complete(*rows):
    return [Trial(i, {"x": 0.5}, State.COMPLETE, 0.0, dict(row)) for i, row in enumerate(rows)]


def stops(pruner, peers, curve):
    """The steps at which the rule would stop a trial with this curve."""
    running, found = Trial(99, {"x": 0.5}), []
    for step, value in curve.items():
        running.reports[step] = value
        if pruner.should_stop(History(SPACE, [*peers, running]), running):
            found.append(step)
    return found


PEERS = complete(*[{40: level, 80: level / 2} for level in (1.0, 2.0, 3.0, 4.0, 5.0)])


def test_a_trial_is_stopped_behind_the_median_of_its_step():
    """By hand: medians 3 and 1.5; equal to the median is not behind it."""
    assert stops(MedianPruner(), PEERS, {40: 3.0, 80: 1.5}) == []
    assert stops(MedianPruner(), PEERS, {40: 3.1, 80: 1.6}) == [40, 80]


def test_the_best_report_so_far_counts():
    """A trial that was good once is not stopped for being bad now."""
    assert stops(MedianPruner(), PEERS, {40: 1.0, 80: 9.0}) == []


def test_warm_up_counts_step_numbers_and_not_reports():
    """A warm-up of 2 protects no tree count of 40; one of 41 protects the first report."""
    bad = {40: 9.0, 80: 9.0}
    assert stops(MedianPruner(n_warmup_steps=2), PEERS, bad) == [40, 80]
    assert stops(MedianPruner(n_warmup_steps=41), PEERS, bad) == [80]
    assert stops(MedianPruner(n_warmup_steps=81), PEERS, bad) == []


def test_too_few_complete_trials_stop_nothing():
    """Four of five start-up trials."""
    assert stops(MedianPruner(), PEERS[:4], {40: 9.0}) == []


@pytest.mark.parametrize(
    "kwargs",
    [
        {"n_startup_trials": -1},
        {"n_warmup_steps": -1},
        {"n_warmup_steps": math.nan},
        {"interval_steps": 0},
        {"n_min_trials": 0},
    ],
)
def test_useless_grace_periods_are_refused(kwargs):
    """Each names itself."""
    with pytest.raises(ValueError, match=next(iter(kwargs))):
        MedianPruner(**kwargs)
