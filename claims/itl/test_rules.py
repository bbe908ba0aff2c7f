"""The rules by which a millisecond of a gap gets its label, and what they do and do not guarantee."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


@claim("itl.partition-sums-to-gap")
def test_parts_are_durations_that_add_up(evidence):
    """Random logs in which anything may overlap: each part at least 0, their sum the gap; labels that a run uses."""
    from claims.experiments.scenes import split
    from claims.experiments.synthetic_run import BASELINE_MS, laid_out, planned_steps
    from claims.itl.random_scenes import BASELINES, scenes
    from implementations.itl.partition import partition

    tolerance_ms = evidence.given("tolerance_ms")

    @given(scenes(), BASELINES)
    def check(scene, baseline):
        found = split(scene, baseline)
        assert min(part.min() for part in found.parts.values()) >= 0
        assert np.abs(sum(found.parts.values()) - found.gap_ms).max() <= tolerance_ms

    run = partition(laid_out(planned_steps(seed=1)), BASELINE_MS)
    evidence.figure("labels", sum(part.any() for part in run.parts.values()))
    evidence.every(check)


@claim("itl.reconcile-check-is-blind")
def test_the_sum_check_passes_what_is_wrong(evidence, small_log, step):
    """Four faulty splits: does the sum of the parts give each away, and does a split of the true log tick by tick?"""
    from implementations.itl.misattribution import PLANTED_FAULTS, charge_segments_regardless

    tolerance_ms, shift = evidence.given("tolerance_ms"), evidence.given("shift_ms")
    true = small_log()
    no_prefill = small_log([step(0, 30, [], None, 0), true.steps[1]])
    late = [
        step(one.start, one.end, [(k, a + shift, b + shift) for k, a, b in one.segments], one.captured, one.n_decode)
        for one in true.steps
    ]
    overlapping = small_log([step(0, 40, [("tok", 0, 20), ("prefill", 10, 30), ("decode", 30, 40)])])
    extrapolated = small_log(
        [step(0, 30, [("decode", 0, 30)], "eager", n_decode=40)], emitted=[0, 30], baseline=(1.0, -50.0)
    )

    def judge(label, parts, log):
        """What either check says of a split: True where it finds it in order."""
        painted = log.painted()[0]
        adds_up = abs(sum(parts.values()) - (painted.end - painted.start)) <= tolerance_ms
        agrees = all(abs(ms - painted.parts.get(name, 0)) <= tolerance_ms for name, ms in parts.items())
        evidence.procedure(wrong=adds_up, right=agrees, correct=False, label=label)

    judge("prefill segments lost", no_prefill.gaps()[0].parts, true)
    judge("segments stamped late", small_log(late).gaps()[0].parts, true)
    remainder = charge_segments_regardless(overlapping.log(), overlapping.baseline)
    judge("overlap, residual as remainder", {name: part[0] for name, part in remainder.items()}, overlapping)
    judge("negative baseline", extrapolated.gaps(PLANTED_FAULTS["excess not clipped"])[0].parts, extrapolated)


@claim("itl.rule-evicted")
def test_evicted_time_is_preemption_and_its_work_context(evidence, small_log):
    """Random logs without swapping: preemption, and the sum of the context, against the ticks evicted in each gap."""
    from claims.experiments.scenes import TICK_MS, evicted_ticks, gap_ticks, split
    from claims.itl.random_scenes import scenes

    tolerance_ms = evidence.given("tolerance_ms")

    @given(scenes(kinds=("tok", "prefill", "decode")))
    def check(scene):
        found = split(scene)
        for i, (request, gap) in enumerate(gap_ticks(scene)):
            evicted_ms = TICK_MS * len(gap & evicted_ticks(scene, request))
            assert abs(found.parts["preempt"][i] - evicted_ms) <= tolerance_ms
            assert abs(sum(part[i] for part in found.context.values()) - evicted_ms) <= tolerance_ms

    evidence.figure("context_prefill_ms", small_log(evictions=[(0, 30)]).gaps()[0].context["prefill"])
    evidence.every(check)


@claim("itl.rule-gc-precedence")
def test_a_collection_outranks_the_segment_around_it(evidence):
    """Random logs: gc against live ticks under a collection; in tidy ones prefill and tok against what that leaves."""
    from claims.experiments.scenes import TICK_MS, collected_ticks, segment_ticks, split
    from claims.itl.random_scenes import scenes, tidy_scenes

    tolerance_ms = evidence.given("tolerance_ms")

    @given(scenes())
    def gc_is_live_collected_time(scene):
        collected = collected_ticks(scene)
        for part, live in zip(split(scene).parts["gc"], _live_ticks(scene)):
            assert abs(part - TICK_MS * len(live & collected)) <= tolerance_ms

    @given(tidy_scenes())
    def segments_keep_the_rest(scene):
        found, collected = split(scene), collected_ticks(scene)
        for i, live in enumerate(_live_ticks(scene)):
            for kind in ("prefill", "tok"):
                left_ms = TICK_MS * len(live & segment_ticks(scene, kind) - collected)
                assert abs(found.parts[kind][i] - left_ms) <= tolerance_ms

    evidence.every(gc_is_live_collected_time, label="gc")
    evidence.every(segments_keep_the_rest, label="prefill and tok")


@claim("itl.rule-graph-split")
def test_excess_is_taken_in_proportion(evidence, small_log, step):
    """One decode with a collection, cut by the gap: both halves against the formula in whole milliseconds."""
    tolerance_ms = evidence.given("tolerance_ms")
    length, edges = 40, st.lists(st.integers(0, 40), min_size=2, max_size=2).map(sorted)

    @given(edges, edges, st.integers(0, 60), st.sampled_from(["eager", 16]))
    def check(gap, pause, baseline_ms, captured):
        log = small_log(
            [step(0, length, [("decode", 0, length)], captured)],
            collections=[pause],
            emitted=gap,
            baseline=(0.0, float(baseline_ms)),
        )
        parts = log.gaps()[0].parts
        worked = set(range(length)) - set(range(*pause))
        inside = len(worked & set(range(*gap)))
        share = max(0, len(worked) - baseline_ms) / len(worked) if worked and captured == "eager" else 0
        assert abs(parts["graph"] - inside * share) <= tolerance_ms
        assert abs(parts["forward"] - inside * (1 - share)) <= tolerance_ms

    evidence.every(check)


@claim("itl.rule-residual")
def test_residual_is_what_nothing_covers(evidence):
    """Random logs: residual against the live ticks under no segment and no collection."""
    from claims.experiments.scenes import TICK_MS, collected_ticks, segment_ticks, split
    from claims.itl.random_scenes import scenes

    tolerance_ms = evidence.given("tolerance_ms")

    @given(scenes())
    def check(scene):
        recorded = segment_ticks(scene) | collected_ticks(scene)
        for part, live in zip(split(scene).parts["residual"], _live_ticks(scene)):
            assert abs(part - TICK_MS * len(live - recorded)) <= tolerance_ms

    evidence.every(check)


def _live_ticks(scene):
    from claims.experiments.scenes import evicted_ticks, gap_ticks

    return [gap - evicted_ticks(scene, request) for request, gap in gap_ticks(scene)]


@claim("itl.baseline-mismatch")
def test_the_extrapolated_baseline_misjudges_excess(evidence, small_log, step):
    """An eager step of known excess, its cost bent or its contexts longer: excess over the fit and over the truth."""
    captured, eager = evidence.given("captured"), evidence.given("eager")
    excess_ms, sound_share = evidence.given("true_excess_ms"), evidence.given("sound_share")

    def graph_ms(cost_ms, eager_cost_ms, baseline):
        """Excess charged to an eager step that takes `excess_ms` more than a captured one would."""
        steps, now = [], 0.0
        for size in captured:
            steps.append(step(now, now + cost_ms(size), [("decode", now, now + cost_ms(size))], size, size))
            now = steps[-1].end
        end = now + eager_cost_ms + excess_ms
        steps.append(step(now, end, [("decode", now, end)], "eager", eager))
        return small_log(steps, emitted=[now, end], baseline=baseline).gaps()[0].parts["graph"]

    def bent(size):
        return 2.0 + 0.2 * size + 0.006 * size**2

    def at_context(tokens):
        return lambda size: 2.0 + 0.2 * size + 1e-4 * size * tokens

    for label, cost, true_cost in (
        ("cost bends with size", bent, bent(eager)),
        ("longer contexts", at_context(200), at_context(1500)(eager)),
    ):
        evidence.procedure(
            wrong=graph_ms(cost, true_cost, None),
            right=graph_ms(cost, true_cost, (0.0, true_cost)),
            correct=lambda charged: abs(charged - excess_ms) <= sound_share * excess_ms,
            label=label,
        )


@claim("itl.label-rule")
def test_the_primary_cause_is_the_largest_above_both_bars(evidence, primary_cause, causes):
    """Smallest cause that is named in a short and in a long gap; random gaps against the rule read off in a loop."""
    evidence.figure("floor_ms", _smallest_named_ms(primary_cause, gap_ms=2.0))
    evidence.figure("fraction_pct", 100 * _smallest_named_ms(primary_cause, gap_ms=1000.0) / 1000.0)
    rng, n = np.random.default_rng(evidence.given("seed")), evidence.given("gaps")
    gap_ms = rng.integers(1, 60, n).astype(float)
    parts = {cause: np.floor(gap_ms * rng.dirichlet(np.ones(9), n)[:, i]) for i, cause in enumerate(causes)}
    floor_ms, share = evidence.printed("floor_ms"), evidence.printed("fraction_pct") / 100

    def by_hand(i):
        largest = max(parts[cause][i] for cause in causes)
        first = next(cause for cause in causes if parts[cause][i] == largest)
        return first if largest >= floor_ms and largest >= share * gap_ms[i] else "clean"

    named = primary_cause(gap_ms, parts)
    evidence.figure("disagreements", sum(named[i] != by_hand(i) for i in range(n)))


def _smallest_named_ms(primary_cause, gap_ms):
    """The least prefill that is called the primary cause of a gap, by bisection."""
    low, high = 0.0, gap_ms
    while high - low > 1e-12 * gap_ms:
        middle = (low + high) / 2
        named = primary_cause([gap_ms], {"prefill": [middle]})[0] == "prefill"
        low, high = (low, middle) if named else (middle, high)
    return high


@pytest.fixture
def tail_totals():
    """Time by label in the tail of a synthetic run, its gaps picked in the run as it was, without some causes."""
    from claims.experiments.synthetic_run import BASELINE_MS, laid_out, planned_steps
    from implementations.itl.partition import partition

    def totals(seed, without):
        plan = planned_steps(seed, evictions=False)
        whole = partition(laid_out(plan), BASELINE_MS)
        tail = whole.gap_ms >= np.percentile(whole.gap_ms, 99)
        rerun = partition(laid_out(plan, without), BASELINE_MS)
        return {label: float(part[tail].sum()) for label, part in rerun.parts.items() if part[tail].any()}

    return totals


@claim("itl.shares-are-relative")
def test_other_shares_rise_when_a_cause_goes(evidence, tail_totals):
    """A synthetic run laid out again without one cause: time and share of every other label in the same gaps."""
    seed = evidence.given("seed")
    before = tail_totals(seed, [])
    for cause in evidence.given("removed"):
        after = tail_totals(seed, [cause])
        others = dict(before)
        del others[cause]  # an error where the tail never had it
        evidence.identical(after, others, label=f"time without {cause}")
        rising = [label for label in after if after[label] / sum(after.values()) > before[label] / sum(before.values())]
        evidence.identical(rising, list(others), label=f"rising shares without {cause}")
