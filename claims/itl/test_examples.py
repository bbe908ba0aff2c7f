"""The cases the post works out by hand, and the two faults of its first version that they expose."""

import math

import numpy as np
import pytest

from runtwice import claim

WORKED = (
    *("ex1-corrected", "ex2-corrected", "test-real-excess"),
    *("test-partial-overlap", "test-gc-after-emission", "test-mixed-step"),
)


@pytest.fixture
def worked():
    """The only gap of one of the post's six cases."""
    from claims.experiments.worked_examples import EXAMPLES

    return lambda name: EXAMPLES[name].gaps()[0]


@pytest.fixture
def first_version():
    """The first version's split of a log, rebuilt: both of its faults on top of the right partition."""
    from implementations.itl.misattribution import charge_evictions_twice, graph_excess_with_collections_in_total

    def split(log, baseline=None):
        return charge_evictions_twice(graph_excess_with_collections_in_total(log, baseline))

    return split


@claim("itl.ex1-corrected")
def test_evicted_time_is_charged_once(evidence, compare_gap, worked):
    """Evicted 0–30 ms while others prefill, then a decode of 10 ms."""
    compare_gap(evidence, worked("ex1-corrected"))


@claim("itl.ex2-corrected")
def test_a_collection_makes_no_graph_excess(evidence, compare_gap, worked):
    """An eager decode of 30 ms, 20 of them a collection, over a baseline of 10 ms."""
    compare_gap(evidence, worked("ex2-corrected"))


@claim("itl.test-real-excess")
def test_real_excess_outlives_the_collection(evidence, compare_gap, worked):
    """An eager decode of 40 ms with a collection of 10 ms, over a baseline of 10 ms."""
    compare_gap(evidence, worked("test-real-excess"))


@claim("itl.test-partial-overlap")
def test_half_a_step_has_half_of_each_part(evidence, compare_gap, worked):
    """A gap over the second half of an eager decode of 40 ms, over a baseline of 10 ms."""
    compare_gap(evidence, worked("test-partial-overlap"))


@claim("itl.test-gc-after-emission")
def test_a_collection_between_steps_belongs_to_the_next_gap(evidence, compare_gap, worked):
    """Emission at 10 ms, a collection at 12–40 ms, the next decode at 45–50 ms."""
    compare_gap(evidence, worked("test-gc-after-emission"))


@claim("itl.test-mixed-step")
def test_every_segment_of_a_mixed_step_keeps_its_time(evidence, compare_gap, worked):
    """One step with tok 0–5, swap 5–7, prefill 7–40 and decode 40–48 ms in a gap of 50 ms."""
    compare_gap(evidence, worked("test-mixed-step"))


@claim("itl.six-tests-pass")
def test_all_printed_unit_tests_pass(evidence, worked):
    """Every figure printed for each of the six cases, to the tolerance of the printed tests."""
    from claims.experiments.worked_examples import FROM_A_READER

    tolerance = evidence.given("tolerance_ms")

    def passes(name):
        measured = worked(name).amounts()
        printed = evidence.others[f"itl.{name}"].printed
        return all(math.isclose(measured[key], ms, rel_tol=0, abs_tol=tolerance) for key, ms in printed.items())

    passed = [name for name in WORKED if passes(name)]
    evidence.figure("tests", len(passed))
    evidence.figure("reader_cases", sum(name in FROM_A_READER for name in passed))
    evidence.figure("extra", sum(name not in FROM_A_READER for name in passed))


@claim("itl.v1-outputs")
def test_the_first_version_is_rebuilt(evidence, first_version, causes):
    """Both examples through the two faults, rebuilt from their description."""
    from claims.experiments.worked_examples import EXAMPLES

    one, two = EXAMPLES["ex1-corrected"], EXAMPLES["ex2-corrected"]
    first, second = first_version(one.log(), one.baseline), first_version(two.log(), two.baseline)
    evidence.figure("ex1_gap_ms", one.gaps()[0].length_ms)
    evidence.figure("ex1_prefill_ms", first["prefill"][0])
    evidence.figure("ex1_preempt_ms", first["preempt"][0])
    evidence.figure("ex1_total_ms", sum(first[cause][0] for cause in causes))
    evidence.figure("ex2_gc_ms", second["gc"][0])
    evidence.figure("ex2_graph_ms", second["graph"][0])


@claim("itl.correction-double-count")
def test_evictions_charged_twice_exceed_the_gap(evidence, causes):
    """The first example, and runs drawn from seeds: time charged twice and once, against the gap."""
    from claims.experiments.synthetic_run import BASELINE_MS, laid_out, planned_steps
    from claims.experiments.worked_examples import EXAMPLES
    from implementations.itl.misattribution import charge_evictions_twice
    from implementations.itl.partition import partition

    right = EXAMPLES["ex1-corrected"].partition()
    twice, gap_ms = charge_evictions_twice(right), right.gap_ms[0]
    evidence.figure("gap_ms", gap_ms)
    evidence.figure("charged_ms", sum(twice[cause][0] for cause in causes))
    for name, split in [("the example", right)] + [
        (f"seed {seed}", partition(laid_out(planned_steps(seed)), BASELINE_MS)) for seed in evidence.given("seeds")
    ]:
        hit = split.context["prefill"] > 0
        evidence.procedure(
            wrong=np.sum(list(charge_evictions_twice(split).values()), axis=0)[hit],
            right=np.sum(list(split.parts.values()), axis=0)[hit],
            correct=split.gap_ms[hit],
            label=name,
        )


@claim("itl.correction-gc-inflation")
def test_a_collection_left_in_the_total_invents_excess(evidence, small_log, step):
    """The second example, and eager decodes with a collection drawn from seeds: excess against work over baseline."""
    from claims.experiments.worked_examples import EXAMPLES
    from implementations.itl.misattribution import graph_excess_with_collections_in_total as with_collections

    example = EXAMPLES["ex2-corrected"]
    right, wrong = example.partition(), with_collections(example.log(), example.baseline)
    evidence.figure("gap_ms", right.gap_ms[0])
    evidence.figure("gc_ms", wrong.parts["gc"][0])
    evidence.figure("graph_invented_ms", wrong.parts["graph"][0])
    evidence.figure("graph_correct_ms", right.parts["graph"][0])
    for seed in evidence.given("seeds"):
        rng = np.random.default_rng(seed)
        work, pause = (int(length) for length in rng.integers(2, 30, 2))
        base, length = float(rng.integers(1, work)), work + pause
        log = small_log(
            [step(0, length, [("decode", 0, length)], "eager")],
            collections=[(0, pause)],
            emitted=[0, length],
            baseline=(0.0, base),
        )
        evidence.procedure(
            wrong=with_collections(log.log(), log.baseline).parts["graph"][0],
            right=log.gaps()[0].parts["graph"],
            correct=work - base,
            label=f"{work} ms of work, {pause} of collection, baseline {base}",
        )


@claim("itl.bugs-left-percentiles-alone")
def test_the_faults_move_causes_and_no_percentile(evidence, first_version, causes):
    """One synthetic run through both versions: gap percentiles, and each cause's share of the time of the tail."""
    from claims.experiments.synthetic_run import BASELINE_MS, laid_out, planned_steps
    from implementations.itl.misattribution import graph_excess_with_collections_in_total
    from implementations.itl.partition import partition

    log = laid_out(planned_steps(evidence.given("seed")))
    right, faulty = partition(log, BASELINE_MS), graph_excess_with_collections_in_total(log, BASELINE_MS)
    ranks = [50, 90, 99, 99.9, 100]
    shift = np.percentile(faulty.gap_ms, ranks) - np.percentile(right.gap_ms, ranks)
    evidence.figure("percentile_shift_ms", np.abs(shift).max())
    tail, charged = right.gap_ms >= np.percentile(right.gap_ms, 99), first_version(log, BASELINE_MS)
    moved = [cause for cause in causes if abs((charged[cause] - right.parts[cause])[tail].sum()) > 1e-9]
    evidence.figure("causes_moved", moved)
