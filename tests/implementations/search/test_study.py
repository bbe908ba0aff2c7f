"""Asking, telling, failing, growing, keeping and resuming."""

import json
import math
import pickle

import numpy as np
import pytest

from implementations.search.grid import Grid
from implementations.search.median_pruner import MedianPruner
from implementations.search.random_search import RandomSearch
from implementations.search.space import Categorical, Float, Int, Space
from implementations.search.study import State, Study
from implementations.search.tpe import TPE

SPACE = Space({"x": Float(-1.0, 1.0), "k": Int(0, 5)})


def loss(config):
    return config["x"] ** 2 + config["k"]


def study(sampler=None, **kwargs):
    return Study(SPACE, sampler or TPE(n_startup=5), **kwargs)


def configs(of):
    return [trial.config for trial in of.trials]


def test_asking_and_telling_is_running():
    """The two ways to drive a study give the same trials."""
    by_hand, run = study(), study().run(loss, 20)
    for _ in range(20):
        trial = by_hand.ask()
        by_hand.tell(trial.number, loss(trial.config))
    assert configs(by_hand) == configs(run)
    assert run.best.value == min(trial.value for trial in run.trials)


@pytest.mark.parametrize("cut", [1, 5, 12, 19])
def test_a_resumed_study_goes_on_as_if_it_had_never_stopped(cut):
    """Cut anywhere, in start-up or after it."""
    whole = study(seed=4).run(loss, 20)
    first = study(seed=4).run(loss, cut)
    assert configs(study(seed=4).resume(first.dump()).run(loss, 20 - cut)) == configs(whole)


def test_nothing_is_global():
    """Two studies that take turns do not disturb each other."""
    one, two = study(seed=1), study(seed=2)
    for _ in range(15):
        one.run(loss, 1)
        two.run(loss, 1)
    assert configs(one) == configs(study(seed=1).run(loss, 15))


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "much"])
def test_a_value_that_is_no_finite_number_fails_the_trial_only(bad):
    """The study goes on, and the failed trial is no best."""
    run = study().run(lambda config: bad if config["k"] == 2 else loss(config), 30)
    assert {trial.state for trial in run.trials} == {State.FAILED, State.COMPLETE}
    assert all(trial.value is None and repr(bad) in trial.error for trial in run.trials if trial.state is State.FAILED)
    assert math.isfinite(run.best.value)


def test_an_objective_that_raises_fails_the_trial_only():
    """The error is kept with the trial; TPE never sees it."""
    run = study().run(lambda config: 1 / config["k"], 30)
    failed = [trial for trial in run.trials if trial.state is State.FAILED]
    assert failed
    assert all(trial.error == "ZeroDivisionError: division by zero" for trial in failed)
    assert len(run.trials) == 30


def test_no_complete_trial_has_no_best():
    """Says so instead of guessing."""
    with pytest.raises(ValueError, match="none of 3 trials"):
        _ = study().run(lambda config: math.nan, 3).best


@pytest.mark.parametrize("number", [-1, 0, 5])
def test_an_unknown_trial_cannot_be_told(number):
    """Of a study without trials."""
    with pytest.raises(ValueError, match=f"no trial {number}"):
        study().tell(number, 1.0)


def test_a_trial_ends_once():
    """Telling twice, or reporting afterwards, is refused."""
    one = study()
    trial = one.ask()
    one.tell(trial.number, 1.0)
    with pytest.raises(ValueError, match="ended already"):
        one.tell(trial.number, 2.0)
    with pytest.raises(ValueError, match="ended already"):
        one.report(trial.number, 1, 2.0)
    with pytest.raises(ValueError, match="how it ended"):
        one.tell(one.ask().number, 1.0, State.RUNNING)


def test_an_added_trial_must_fit_the_space():
    """A value out of range is refused and leaves no trial behind."""
    one = study()
    with pytest.raises(ValueError, match="outside"):
        one.add({"x": 3.0, "k": 1}, 0.5)
    assert one.trials == []


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (lambda: Study(Space({"x": Float(-1.0, 2.0), "k": Int(0, 5)}), TPE()), "another space"),
        (lambda: study(seed=7), "another seed"),
        (lambda: study(maximise=True), "another sign"),
        (lambda: study().run(loss, 1), "trials of its own"),
    ],
)
def test_resuming_something_else_is_refused(other, what):
    """Another space, seed or direction, or a study that has begun."""
    with pytest.raises(ValueError, match=what):
        other().resume(study().run(loss, 3).dump())


@pytest.mark.parametrize("dumped", ["", "no JSON", "[]", '{"trials": []}'])
def test_resuming_what_is_no_study_is_refused(dumped):
    """Text that `dump` did not write."""
    with pytest.raises(ValueError, match="no kept study"):
        study().resume(dumped)


def test_resuming_an_impossible_trial_is_refused():
    """A file edited by hand leaves no trial behind."""
    one, kept = study(), json.loads(study().run(loss, 1).dump())
    kept["trials"][0]["config"]["k"] = 77
    with pytest.raises(ValueError, match="k = 77 lies outside"):
        one.resume(json.dumps(kept))
    assert one.trials == []


def test_choices_that_json_would_change_are_not_kept():
    """A pair would come back as a list."""
    with pytest.raises(ValueError, match=r"choice \(1, 2\) of 'layers'"):
        Study(Space({"layers": Categorical(((1, 2), (3, 4)))}), RandomSearch()).dump()


def test_a_trial_of_numpy_numbers_can_be_kept():
    """Added values are kept as plain ones."""
    one = study()
    one.add({"x": np.float64(0.5), "k": np.int64(3)}, 1.0)
    assert configs(study().resume(one.dump())) == [{"x": 0.5, "k": 3}]


def test_a_trial_that_was_running_has_failed_after_resuming():
    """It keeps its number, so that the streams of later trials stay what they were."""
    first = study(RandomSearch())
    first.run(loss, 2)
    first.ask()
    resumed = study(RandomSearch()).resume(first.dump())
    assert resumed.trials[2].state is State.FAILED
    assert configs(resumed.run(loss, 2)) == configs(study(RandomSearch()).run(loss, 5))


def growing(config):
    """Five reports that halve, then the last of them as the value."""
    value = loss(config)
    for step in range(1, 6):
        yield step, value + 2.0**-step
    return value


def test_a_growing_objective_is_stopped_by_its_pruner():
    """Pruned trials hold what they reported; complete ones all five steps."""
    run = study(RandomSearch(), pruner=MedianPruner(n_startup_trials=3)).grow(growing, 30)
    pruned = run.history.having(State.PRUNED)
    assert pruned
    assert all(len(trial.reports) < 5 for trial in pruned)
    assert all(len(trial.reports) == 5 for trial in run.history.having(State.COMPLETE))
    assert all(trial.number >= 3 for trial in pruned)


def test_a_growing_objective_without_a_value_keeps_its_last_report():
    """And one that raises half-way has failed."""

    def steps(config):
        yield 1, 4.0
        yield 2, 3.0
        if config["k"] == 0:
            raise RuntimeError("out of memory")

    run = study(RandomSearch()).grow(steps, 30)
    assert {trial.value for trial in run.history.having(State.COMPLETE)} == {3.0}
    assert {trial.error for trial in run.history.having(State.FAILED)} == {"RuntimeError: out of memory"}


def test_best_so_far_never_gets_worse():
    """NaN until the first complete trial."""
    run = study(maximise=True).run(lambda config: math.nan if config["k"] > 3 else loss(config), 25)
    curve = [value for value in run.best_so_far() if not math.isnan(value)]
    assert curve == sorted(curve)
    assert curve[-1] == run.best.value


def test_a_grid_ends_the_study():
    """Asked for more than there is, it stops at the end."""
    run = Study(SPACE, Grid({"x": [0.0, 0.5], "k": [0, 1, 2]})).run(loss, 100)
    assert len(run.trials) == 6


def damaged(**changes):
    kept = json.loads(study(RandomSearch()).run(loss, 2).dump())
    kept["trials"][0] |= changes
    return json.dumps(kept)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 7},
        {"state": "asleep"},
        {"value": None},
        {"value": "good"},
        {"value": math.inf},
        {"config": None},
        {"reports": None},
        {"reports": {"first": 1.0}},
        {"colour": "red"},
    ],
)
def test_a_damaged_trial_is_refused_by_its_number(changes):
    """Whatever was changed in the file, nothing is taken over from it."""
    fresh = study(RandomSearch())
    with pytest.raises(ValueError, match="trial 0 of the kept study is damaged"):
        fresh.resume(damaged(**changes))
    assert fresh.trials == []


@pytest.mark.parametrize("kept", [None, 3, '{"space": 1, "seed": 0, "sign": 1.0, "trials": 3}'])
def test_resuming_from_what_is_no_text_of_a_study_is_refused(kept):
    """Nor a list of trials that is none."""
    with pytest.raises(ValueError, match="no kept study"):
        study().resume(kept)


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ((0, 1.0, "asleep"), "told as asleep"),
        ((0, "x", State.PRUNED), "value 'x' of the pruned trial 0"),
        ((0, 10**400, State.FAILED), "of the failed trial 0"),
        (("0", 1.0), "no trial '0'"),
        ((None, 1.0), "no trial None"),
    ],
)
def test_a_trial_that_cannot_be_told_goes_on_running(told, what):
    """It can be told again, with what is right."""
    run = study()
    run.ask()
    with pytest.raises(ValueError, match=what):
        run.tell(*told)
    assert run.tell(0, 1.0).state is State.COMPLETE


def test_a_whole_number_that_no_float_holds_fails_the_trial():
    """Told by hand, as in `run`."""
    run = study()
    run.ask()
    assert run.tell(0, 10**400).state is State.FAILED


@pytest.mark.parametrize(("step", "value"), [(-1, 1.0), (1.5, 1.0), ("last", 1.0), (1, "high"), (1, None)])
def test_a_report_that_could_not_be_kept_is_refused(step, value):
    """A step counts from 0 and a value is a number; the study can still be dumped."""
    run = study()
    run.ask()
    with pytest.raises(ValueError, match=r"whole number of at least 0|report a number"):
        run.report(0, step, value)
    assert json.loads(run.dump())["trials"][0]["reports"] == {}


def test_a_report_of_numpy_numbers_can_be_kept():
    """Steps and values come back as ordinary numbers."""
    run = study()
    run.ask()
    run.report(0, np.int64(3), np.float32(0.5))
    assert study().resume(run.dump()).trials[0].reports == {3: 0.5}


def test_a_fault_after_a_trials_end_does_not_end_the_study():
    """An objective that raises while it is closed, and one that is no generator, keep what they were told."""

    class Stop:
        def should_stop(self, history, trial):
            return True

    def stubborn(config):
        try:
            yield 1, 2.0
        finally:
            raise OSError("cannot clean up")

    run = study(RandomSearch(), pruner=Stop()).grow(stubborn, 3)
    assert [(trial.state, trial.error) for trial in run.trials] == [(State.PRUNED, "OSError: cannot clean up")] * 3
    plain = study(RandomSearch()).grow(lambda config: iter([(1, 2.0)]), 2)
    assert [trial.value for trial in plain.trials] == [2.0, 2.0]


@pytest.mark.parametrize("seed", [None, -1, 1.5, "a"])
def test_a_seed_that_gives_no_streams_is_refused(seed):
    """At once, and not at the first trial."""
    with pytest.raises(ValueError, match="seed"):
        study(seed=seed)


def test_a_study_survives_pickling_and_a_numpy_seed():
    """Its streams too: it goes on as the original does."""
    run = study(RandomSearch(), seed=np.int64(3)).run(loss, 2)
    copy = pickle.loads(pickle.dumps(run))
    assert copy.ask().config == run.ask().config
    assert json.loads(run.dump())["seed"] == 3
