"""Timings: the sequential answer over injected measurements, and real processes over arms of known ratio."""

import json
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from runtwice import timing
from runtwice.errors import EvidenceError
from runtwice.stats import Estimate, TooFewSamples
from runtwice.timing import (
    Arm,
    ArmError,
    ArmRaised,
    BadDuration,
    Control,
    Plan,
    ProcessTimes,
    ReturnedEarly,
    Rule,
    UnfitArm,
    Worker,
    WorkerDied,
    a_a_control,
    compare,
    run,
)

HERE = "tests.harness.timing_arms"
SLOW, FAST = Arm(f"{HERE}:thrice"), Arm(f"{HERE}:work")


def rng(seed=0):
    return np.random.default_rng(seed)


def likely_at_most(rate, n):
    return int(scipy_stats.binom.ppf(1 - 1e-4, n, rate))


def replay(log_ratios):
    """A measurement that gives these log ratios, one a process."""
    left = iter(log_ratios)
    return lambda plan: ProcessTimes((math.exp(next(left)),) * 3, (1.0,) * 3, plan=plan)


def ticking(step_s):
    """A clock that moves on by this much at each look."""
    now = iter(range(10**9))
    return lambda: next(now) * step_s


def injected(log_ratios, clock=None, **rule):
    return run(replay(log_ratios), SLOW, FAST, Rule(**rule), clock=clock or ticking(1e-6))


def normal_runs(effect, spread, reps, seed, **rule):
    draws = rng(seed).normal(effect, spread, (reps, 60))
    return [injected(row, **rule) for row in draws]


def share(results, answer):
    return sum(result.decided == answer for result in results)


def measured(target, other=FAST, **settings):
    """One real process with `target` as the slow arm."""
    return Worker(Arm(target, settings=settings), other, 0.1)(Plan(1, 0, (0, 1, 0)))


# --- the answer --------------------------------------------------------------------------------------------


def test_unanimous_processes_decide_after_ten():
    """Ten log ratios above 0 decide at 1%, and the interval is their range."""
    values = np.linspace(0.08, 0.12, 20)
    result = injected(values)
    assert (result.decided, len(result.processes)) == ("above", 10)
    assert (result.estimate.low, result.estimate.high) == pytest.approx((values[0], values[9]))
    assert (result.more_processes, result.e_value > 100) == (0, True)


def test_the_patient_time_as_many_processes_as_can_decide():
    """Where each takes longer than all the time there is; a doubtful case ends there."""
    clear, doubtful = [0.1] * 20, [0.1, -0.1] * 10
    hasty, patient, in_doubt = (
        injected(values, clock=ticking(5.0), patient=patient)
        for values, patient in ((clear, False), (clear, True), (doubtful, True))
    )
    assert (hasty.decided, len(hasty.processes) < 10) == (None, True)
    assert (patient.decided, len(patient.processes)) == ("above", 10)
    assert (in_doubt.decided, len(in_doubt.processes)) == (None, 10)


def test_a_reversed_effect_is_below():
    """A fast arm that is the slower one is decided as below."""
    assert injected([-0.1] * 20).decided == "below"


def test_an_effect_inside_the_margin_is_inside():
    """Log ratios that scatter around 0 within the margin are decided as inside, and only with a margin."""
    values = [0.001, -0.001] * 30
    assert injected(values, margin=0.02).decided == "inside"
    assert injected(values).decided is None


def test_a_slight_reversal_is_no_refutation_within_the_margin():
    """Just below 0 but inside the margin is inside, not below."""
    assert injected([-0.005] * 60, margin=0.02).decided == "inside"


def test_the_promised_ratio_is_what_is_tested():
    """A true ratio of 1.5 is above a promised 1.2, below a promised 2, and the estimate stays that of the ratio."""
    values = np.log(1.5) + np.linspace(-0.01, 0.01, 60)
    above, below = injected(values, promised=1.2), injected(values, promised=2.0)
    assert (above.decided, below.decided) == ("above", "below")
    assert above.ratio == pytest.approx(1.5, rel=0.01)
    assert math.exp(above.estimate.low) > 1.4


def test_min_and_max_processes_are_kept():
    """Unanimity does not stop before the minimum, disagreement not before the maximum."""
    assert len(injected([0.1] * 60, min_processes=25).processes) == 25
    result = injected([0.1, -0.1] * 30, max_processes=12)
    assert (len(result.processes), result.decided) == (12, None)
    assert "the most allowed" in result.stopped


def test_time_is_kept_and_leaves_no_estimate_too_early():
    """With time for three processes there is no estimate, and the answer says how many more are needed."""
    result = injected([0.1] * 60, clock=ticking(1.0), max_seconds=3.5)
    assert (len(result.processes), result.estimate, result.decided) == (3, None, None)
    assert (result.more_processes, result.e_value) == (7, 1.0)
    assert "were up" in result.stopped


def test_more_processes_are_asked_for_where_the_effect_drowns():
    """The noisier the processes around the same median, the more are asked for."""
    noise = rng(5).permutation(np.linspace(-1, 1, 20))
    quiet, loud = (injected(0.05 + spread * noise, max_processes=20) for spread in (0.1, 0.5))
    assert quiet.decided is loud.decided is None
    assert 0 < quiet.more_processes < loud.more_processes


def test_false_alarms_stay_below_alpha_however_often_one_looks():
    """1 000 A/A timings at a spread of 4%, looked at after each process: at most 1% are decided either way."""
    results = normal_runs(0.0, 0.04, 1_000, 1, max_processes=40)
    assert share(results, "above") + share(results, "below") <= likely_at_most(0.01, 1_000)


def test_being_set_up_first_does_not_raise_false_alarms():
    """500 A/A timings in which the first arm is 5% slower, far above the spread: at most 1% are decided."""

    def order_effect(source):
        def measure(plan):
            log_ratio = (0.05 if plan.first == 0 else -0.05) + source.normal(0, 0.001)
            return ProcessTimes((math.exp(log_ratio),), (1.0,), plan=plan)

        return measure

    results = [run(order_effect(rng(i)), SLOW, FAST, Rule(max_processes=40), seed=i) for i in range(500)]
    assert share(results, None) >= 500 - likely_at_most(0.01, 500)


def test_identical_arms_are_seldom_called_different_with_a_margin():
    """500 A/A timings at a spread of 2%, margin 5%: at most 1% false alarms, and at least 95% are inside."""
    results = normal_runs(0.0, 0.02, 500, 2, margin=0.05)
    assert share(results, "above") + share(results, "below") <= likely_at_most(0.01, 500)
    assert share(results, "inside") >= 0.95 * 500


def test_a_tenth_slower_is_found_within_the_planned_processes():
    """500 timings of a 10% slowdown at a spread of 4%: above in at least 95% within 20 processes."""
    results = normal_runs(math.log(1.1), 0.04, 500, 3, max_processes=20)
    assert share(results, "above") >= 0.95 * 500


def test_the_interval_covers_where_the_timing_stopped():
    """500 timings of a 5% slowdown, stopped when decided: the 99% interval misses at most 1%."""
    truth = math.log(1.05)
    results = normal_runs(truth, 0.04, 500, 4)
    missed = sum(not r.estimate.low <= truth <= r.estimate.high for r in results)
    assert missed <= likely_at_most(0.01, 500)


def test_progress_is_said_after_each_process():
    """The callback sees every process, its log ratio and, at last, the decision."""
    seen = []
    run(replay([0.1] * 20), SLOW, FAST, Rule(), progress=seen.append, clock=ticking(0.0))
    assert [one.processes for one in seen] == list(range(1, 11))
    assert [one.decided for one in seen] == [None] * 9 + ["above"]
    assert seen[0].log_ratio == pytest.approx(0.1)


@pytest.mark.parametrize("seconds", [(), (0.0,), (1.0, -1e-3), (math.nan,), (math.inf,)])
@pytest.mark.parametrize("arm", ["slow", "fast"])
def test_bad_durations_name_the_arm(seconds, arm):
    """No, zero, negative, NaN and infinite durations are an error that names the arm."""
    times = {"slow_s": (1.0,), "fast_s": (1.0,), f"{arm}_s": seconds}
    with pytest.raises(BadDuration, match=f"arm '{arm}'") as caught:
        run(lambda plan: ProcessTimes(**times), SLOW, FAST, Rule())
    assert isinstance(caught.value, EvidenceError)


@pytest.mark.parametrize(
    "rule",
    [
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"margin": 0.0},
        {"margin": math.nan},
        {"promised": 0.0},
        {"promised": math.inf},
        {"max_seconds": 0.0},
        {"max_processes": 9},
    ],
)
def test_rules_that_cannot_be_kept_are_refused(rule):
    """A probability, margin, ratio, time or number of processes out of range is named."""
    with pytest.raises(ValueError, match=f"{next(iter(rule))} must be"):
        Rule(**rule)


def test_settings_are_what_was_asked_for():
    """The settings are JSON, equal for equal requests, and contain no measurement."""
    one, two = injected([0.1] * 20), injected([0.2] * 20)
    assert json.dumps(one.settings()) == json.dumps(two.settings())
    assert one.settings()["threads"]["OMP_NUM_THREADS"] == "1"
    assert one.settings()["slow"]["target"] == f"{HERE}:thrice"


def test_plans_follow_the_seed():
    """The same seed gives the same coins and hash seeds, another seed others; both coins fall both ways."""
    first = [next(p) for p in [timing._plans(1)] for _ in range(50)]
    again = [next(p) for p in [timing._plans(1)] for _ in range(50)]
    other = [next(p) for p in [timing._plans(2)] for _ in range(50)]
    assert first == again != other
    assert {plan.first for plan in first} == {0, 1} == {plan.starts[0] for plan in first}


# --- arms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        (lambda: 1, "top level of a module"),
        (test_plans_follow_the_seed, "write '.*:test_plans_follow_the_seed'"),
        ("m:<lambda>", "top level of a module"),
        ("m:f.<locals>.g", "top level of a module"),
        ("m.f", "write 'module.path:function'"),
        ("m:f()", "write 'module.path:function'"),
        ("__main__:f", "one with a name"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_advice(target, advice):
    """Lambdas, closures, objects, malformed names and `__main__` say what to write instead."""
    with pytest.raises(UnfitArm, match=advice):
        Arm(target)


@pytest.mark.parametrize("settings", [{"x": {1, 2}}, {"x": math.nan}, {"x": object()}])
def test_settings_must_be_json(settings):
    """A set, NaN or an object among the settings is refused."""
    with pytest.raises(UnfitArm, match="are not JSON"):
        Arm(f"{HERE}:work", settings=settings)


@pytest.mark.parametrize("module", ["no_such_module", "tests.no_such_module", "no_such_package.module"])
def test_a_missing_module_is_refused_before_any_process_starts(module):
    """A module nobody can import is named."""
    with pytest.raises(UnfitArm, match=module):
        Worker(Arm(f"{module}:f"), FAST, 1.0)


def timed(slow, fast):
    """Short real processes, as many as it takes: a busy machine makes this slow, not undecided."""
    return run(Worker(slow, fast, 0.5), slow, fast, Rule(max_seconds=300.0))


def test_three_times_the_work_takes_about_three_times_as_long():
    """Real processes: decided as above, with a ratio about 3, both arms' raw seconds and ten or more hash seeds."""
    result = timed(SLOW, FAST)
    assert result.decided == "above"
    assert 1.5 < result.ratio < 6.0  # wide, because other tests may share the cores
    assert len(result.seconds_of("slow")) == len(result.seconds_of("fast")) >= 20
    assert len({process.plan.hash_seed for process in result.processes}) == len(result.processes) >= 10


def test_swapped_arms_are_below():
    """Real processes: the quick arm given as the slow one is decided as below."""
    assert timed(FAST, SLOW).decided == "below"


@pytest.mark.parametrize(
    ("setup", "settings"),
    [("make_positions", {"steps": 500, "times": 2}), ("make_keywords", {"steps": 500})],
)
def test_a_set_up_case_is_spread_over_the_arguments(setup, settings):
    """A tuple becomes positional arguments, a dict keywords."""
    arm = Arm(f"{HERE}:work_times", f"{HERE}:{setup}", settings)
    assert Worker(arm, arm, 0.1)(Plan(1, 0, (0, 1))).slow_s


def test_any_other_case_is_the_one_argument():
    """A case that is neither tuple nor dict is passed as it is: 20 times the steps take longer."""
    arms = [Arm(f"{HERE}:work", f"{HERE}:make_steps", {"steps": steps}) for steps in (40_000, 2_000)]
    assert Worker(*arms, 0.1)(Plan(1, 0, (0, 1))).log_ratio > math.log(4)


def test_rounds_are_long_enough_for_the_clock():
    """A round of a short call is looped to a millisecond or nearly so, both arms equally often timed."""
    times = measured(f"{HERE}:work", steps=100)
    assert times.slow_loops * np.median(times.slow_s) > 0.5e-3
    assert len(times.slow_s) == len(times.fast_s)


@pytest.mark.parametrize("name", ["without_collector", "alone", "on_one_thread", "chatty"])
def test_the_worker_keeps_its_promises(name):
    """No collector in the timed part, no pytest, NumPy or package beside the arm, threads pinned, prints harmless."""
    assert measured(f"{HERE}:{name}").slow_s


def test_the_process_records_what_it_ran_under():
    """Hash seed, threads and interpreter of the child come back with its times."""
    found = Worker(SLOW, FAST, 0.1)(Plan(77, 0, (0,))).environment
    assert (found["hash_seed"], found["threads"]["OMP_NUM_THREADS"], found["numpy"]) == ("77", "1", None)


@pytest.mark.parametrize(("first", "setups"), [(0, "ab"), (1, "ba")])
def test_rounds_go_by_turns_in_the_planned_order(tmp_path, first, setups):
    """The planned arm is set up first; each turn is A B B A or B A A B, as planned."""
    notes = tmp_path / "notes"
    arms = [Arm(f"{HERE}:noting", f"{HERE}:note_setup", {"path": str(notes), "name": name}) for name in "ab"]
    Worker(*arms, 10.0)(Plan(1, first, (0, 1, 1)))
    assert notes.read_text() == setups + "abba" + "baab" + "baab"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("raising", ArmRaised, r"call: KeyError: 'no such knob' \(.*timing_arms\.py:\d+\)$"),
        ("raising_later", ArmRaised, "timed rounds: ZeroDivisionError: worn out"),
        ("leaving", ArmRaised, "call: SystemExit"),
        ("vanishing", WorkerDied, "call: its process ended with status 3"),
        ("early", ReturnedEarly, "an empty function takes"),
        ("lazy", ReturnedEarly, "generator, which has not run"),
        ("unawaited", ReturnedEarly, "coroutine, which has not run"),
        ("no_such_function", ArmRaised, "import: AttributeError"),
        ("not_callable", ArmRaised, "import: TypeError"),
    ],
)
def test_a_bad_arm_is_an_error_that_names_it(name, error, message):
    """Raising, leaving, dying, returning early and missing arms raise a typed error naming arm and stage."""
    with pytest.raises(error, match=f"arm 'slow': .*{message}"):
        measured(f"{HERE}:{name}")


def test_the_bad_arm_is_the_one_that_is_named():
    """A fast arm that raises is called fast."""
    with pytest.raises(ArmRaised, match="arm 'fast'"):
        measured(f"{HERE}:work", other=Arm(f"{HERE}:raising"))


def test_a_failing_set_up_and_wrong_settings_are_the_arms_fault():
    """A set-up that raises, and settings the target does not take, name arm and stage."""
    with pytest.raises(ArmRaised, match="setup: OSError: no such data set"):
        Worker(Arm(f"{HERE}:work", f"{HERE}:bad_setup", {"steps": 1}), FAST, 0.1)(Plan(1, 0, (0,)))
    with pytest.raises(ArmRaised, match="call: TypeError"):
        measured(f"{HERE}:work", knobs=3)


def test_an_arm_that_never_comes_back_is_given_up():
    """A call beyond the patience ends its process and is an error."""
    worker = Worker(Arm(f"{HERE}:hanging"), FAST, 0.1)
    worker._patience_s = 1.0
    with pytest.raises(WorkerDied, match=r"arm 'slow': \w+: no answer for 1 s"):
        worker(Plan(1, 0, (0,)))


def test_an_error_ends_the_timing_and_frees_the_machine():
    """After a bad arm the machine can be timed on again at once, and `compare` says when its time was up."""
    with pytest.raises(ArmError):
        compare(Arm(f"{HERE}:raising"), FAST, max_seconds=1.0)
    result = compare(SLOW, FAST, max_seconds=0.05)
    assert (len(result.processes), result.decided) == (1, None)
    assert "0.05 s were up" in result.stopped


# --- the control -------------------------------------------------------------------------------------------


def control(low, high, margin=0.05, machine=None):
    estimate = Estimate((low + high) / 2, low, high, 0.999, 12, 0.01, "")
    return Control(estimate, margin, 0.01, 1.0, machine)


@pytest.mark.parametrize(
    ("low", "high", "state"),
    [(-0.01, 0.02, "quiet"), (-0.2, 0.2, "unresolved"), (0.01, 0.2, "unresolved"), (0.03, 0.2, "noisy")],
)
def test_the_control_is_noisy_only_clear_of_half_the_margin(low, high, state):
    """Inside half the margin is quiet, clear of it noisy, across it unresolved; only noisy is a reason."""
    assert control(low, high).state == state
    assert (control(low, high).noise is not None) == (state == "noisy")
    assert control(-high, -low).state == state


def test_the_machine_is_a_reason_of_its_own():
    """Steal or load void a quiet control too."""
    assert control(-0.01, 0.01, machine="load 9.0 on 2 cores").noise == "load 9.0 on 2 cores"


def test_a_control_runs_identical_arms():
    """Real processes: the control of this machine estimates a ratio near 1 from as many processes as asked."""
    found = a_a_control(processes=11, max_seconds=0.2)
    assert (found.estimate.n, found.estimate.confidence) == (11, 0.999)
    assert abs(found.estimate.value) < 0.5


def test_a_control_needs_eleven_processes():
    """Below 11 processes no 99.9% interval exists."""
    with pytest.raises(TooFewSamples, match="need at least 11"):
        a_a_control(processes=3, max_seconds=0.2)
