"""Gaps outside the steps, records in disorder, labels at their edges, and properties over random logs.

The log, unless said otherwise: others' prefill at 0–30 ms, a captured decode at 30–40 ms, one gap of 40 ms.
"""

import math
from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from runtwice import claim

# --- gaps ----------------------------------------------------------------------------------------------------------


@claim("itl.adversarial.zero-length-gap")
def test_a_gap_without_length_is_clean(evidence, small_log, primary_cause, compare_gap):
    """Two tokens at one time, of a live and of an evicted request."""
    emitted = evidence.given("emitted_ms")
    for state, evictions in (("live", []), ("evicted", evidence.given("evictions_ms"))):
        log = small_log(emitted=emitted, evictions=evictions)
        compare_gap(evidence, log.gaps()[0], f"{state}_")
        split = log.partition()
        evidence.figure(f"{state}_label", primary_cause(split.gap_ms, split.parts)[0])


@claim("itl.adversarial.negative-gap")
def test_tokens_that_run_backwards_are_refused(evidence, small_log, refusal):
    """A token 30 ms before its predecessor: the error, and the record it names."""
    error = refusal(small_log(emitted=evidence.given("emitted_ms"), emitted_by=[0, 1]).log)
    evidence.figure("error", type(error).__name__)
    evidence.figure("named", str(error).split(":")[0])


@claim("itl.adversarial.gap-before-first-step")
def test_time_before_the_first_step_is_residual(evidence, small_log, step, compare_gap):
    """A gap of 50 ms whose last 10 are a decode, without and with a collection before the step."""
    steps, emitted = [step(1000, 1040, [("decode", 1030, 1040)])], evidence.given("emitted_ms")
    compare_gap(evidence, small_log(steps, emitted=emitted).gaps()[0])
    with_gc = small_log(steps, emitted=emitted, collections=evidence.given("collections_ms"))
    compare_gap(evidence, with_gc.gaps()[0], "with_gc_")


@claim("itl.adversarial.gap-outside-all-steps")
def test_a_gap_outside_all_steps_is_residual(evidence, small_log, step):
    """A gap before all steps, after all steps, and in a log without any."""
    steps = [step(1000, 1040, [("decode", 1030, 1040)])]
    before, after = evidence.given("before_ms"), evidence.given("after_ms")
    logs = [small_log(steps, emitted=before), small_log(steps, emitted=after), small_log([], emitted=before)]
    gaps = [log.gaps()[0] for log in logs]
    evidence.figure("residual_pct", [100 * gap.parts["residual"] / gap.length_ms for gap in gaps])


# --- records in disorder -------------------------------------------------------------------------------------------


@claim("itl.adversarial.unsorted-steps")
def test_steps_may_come_in_any_order(evidence, small_log, step, compare_gap):
    """The two steps backwards, and three steps with the middle one first."""
    prefill, decode = small_log().steps
    compare_gap(evidence, small_log([decode, prefill]).gaps()[0], "reversed_")
    three = small_log([decode, prefill, step(40, 50, [("decode", 40, 50)])], emitted=[0, 50])
    compare_gap(evidence, three.gaps()[0], "middle_first_")


@claim("itl.adversarial.unsorted-gc-and-segments")
def test_collections_and_segments_may_come_in_any_order(evidence, small_log, step, compare_gap):
    """One step with its decode listed before its prefill, and the later collection first."""
    steps = [step(0, 40, [("decode", 30, 40), ("prefill", 0, 30)])]
    compare_gap(evidence, small_log(steps, collections=evidence.given("collections_ms")).gaps()[0])


@claim("itl.adversarial.overlapping-steps")
def test_a_long_step_is_found_behind_a_short_one(evidence, small_log, step, compare_gap):
    """A step of 100 ms that decodes at its end, and one inside it that is over before the gap."""
    steps = [step(0, 100, [("decode", 90, 100)]), step(20, 30, [])]
    compare_gap(evidence, small_log(steps, emitted=evidence.given("emitted_ms")).gaps()[0])


@claim("itl.adversarial.overlapping-segments")
def test_the_earlier_segment_keeps_the_time(evidence, small_log, step, compare_gap):
    """Tokenising at 0–20 ms, prefill at 10–30 ms, decode at 30–40 ms."""
    steps = [step(0, 40, [("tok", 0, 20), ("prefill", 10, 30), ("decode", 30, 40)])]
    compare_gap(evidence, small_log(steps).gaps()[0])


@claim("itl.adversarial.segment-outside-step")
def test_a_segment_outside_its_step_is_charged(evidence, small_log, step, compare_gap):
    """A step at 10–20 ms whose decode is at 20–40 ms."""
    steps = [step(10, 20, [("decode", 20, 40)])]
    compare_gap(evidence, small_log(steps, emitted=evidence.given("emitted_ms")).gaps()[0])


@claim("itl.adversarial.unknown-segment")
def test_an_unknown_segment_is_refused_by_name(evidence, small_log, step, refusal):
    """A segment of a kind without a label: the error, and whether it names the kind."""
    kind = evidence.given("kind")
    error = refusal(small_log([step(0, 40, [(kind, 0, 40)])]).log)
    evidence.figure("error", type(error).__name__)
    evidence.figure("named", str(error).split("'")[1])


@claim("itl.adversarial.live-but-skipped")
def test_skipped_steps_are_charged_and_counted(evidence, small_log, step, compare_gap):
    """Three captured decodes of 10 ms inside one gap of a request that was never evicted."""
    steps = [step(start, start + 10, [("decode", start, start + 10)]) for start in (0, 10, 20)]
    gap = small_log(steps, emitted=[0, 30]).gaps()[0]
    compare_gap(evidence, gap)
    evidence.figure("skipped_steps", gap.skipped_steps)


# --- labels --------------------------------------------------------------------------------------------------------


@claim("itl.adversarial.label-ties-and-thresholds")
def test_ties_and_thresholds_are_settled(evidence, primary_cause):
    """A tie, a cause at both bars, and one just below the floor."""
    for name in ("tie", "at_threshold", "below_floor"):
        evidence.figure(name, str(primary_cause(*_labelled(evidence.given(name)))[0]))


@claim("itl.adversarial.label-many-small")
def test_many_small_causes_are_mixed(evidence, primary_cause):
    """Three causes of 9 ms in a gap of 40: the label with and without the answer `mixed`."""
    names = ("gap_ms", "prefill_ms", "preempt_ms", "gc_ms")
    gap_ms, parts = _labelled({name: evidence.given(name) for name in names})
    evidence.figure("label", str(primary_cause(gap_ms, parts, mixed=True)[0]))
    evidence.figure("by_the_post", str(primary_cause(gap_ms, parts)[0]))


def _labelled(case):
    parts = {name.removesuffix("_ms"): [ms] for name, ms in case.items() if name != "gap_ms"}
    return [case["gap_ms"]], parts


# --- properties over random logs -----------------------------------------------------------------------------------


@claim("itl.adversarial.additive-over-cuts")
def test_a_cut_gap_adds_up_to_the_whole(evidence):
    """Random logs of one gap, partitioned whole and with one more token anywhere inside."""
    from dataclasses import replace

    from claims.experiments.scenes import split
    from claims.itl.random_scenes import BASELINES, END, scenes

    tolerance_ms = evidence.given("tolerance_ms")
    three_times = st.lists(st.integers(0, END), min_size=3, max_size=3).map(sorted)

    @given(scenes(off_processor=True), BASELINES, three_times)
    def check(scene, baseline, times):
        cut = replace(scene, emissions=[(0, t, None) for t in times])
        whole = replace(scene, emissions=[(0, t, None) for t in times[::2]])
        pieces, one = split(cut, baseline), split(whole, baseline)
        for label, part in one.parts.items():
            assert abs(pieces.parts[label].sum() - part[0]) <= tolerance_ms
            assert abs(pieces.context[label].sum() - one.context[label][0]) <= tolerance_ms

    evidence.every(check)


@claim("itl.adversarial.shift-and-order-invariance")
def test_neither_a_shift_nor_another_order_changes_anything(evidence):
    """Random logs, permuted (compared to the bit) and moved by up to weeks (compared to the given tolerance)."""
    from claims.experiments.scenes import TICK_S, permuted, split
    from claims.itl.random_scenes import BASELINES, scenes

    tolerance_ms = evidence.given("tolerance_ms")
    shifts_ticks = [round(shift_s / TICK_S) for shift_s in evidence.given("shifts_s")]

    @given(scenes(off_processor=True), BASELINES, st.randoms(use_true_random=False))
    def any_order(scene, baseline, random):
        one, two = split(scene, baseline), split(permuted(scene, random), baseline)
        assert all(np.array_equal(one.parts[label], two.parts[label]) for label in one.parts)
        assert all(np.array_equal(one.context[label], two.context[label]) for label in one.context)

    @given(scenes(), BASELINES, st.sampled_from(shifts_ticks))
    def any_origin(scene, baseline, shift):
        one, two = split(scene, baseline), split(scene, baseline, shift)
        assert all(np.abs(one.parts[label] - two.parts[label]).max() <= tolerance_ms for label in one.parts)
        assert all(np.abs(one.context[label] - two.context[label]).max() <= tolerance_ms for label in one.context)

    evidence.every(any_order, label="order")
    evidence.every(any_origin, label="shift")


@claim("itl.adversarial.long-gap-rounding")
def test_a_long_gap_adds_up_to_its_last_places(evidence, small_log, step):
    """A gap of 9.466 s with an eviction and uneven eager steps, at four origins of the clock: parts against gap."""
    gap_ms, rng = 1e3 * evidence.given("gap_s"), np.random.default_rng(1)
    for origin_s in evidence.given("origins_s"):
        edges = 1e3 * origin_s + np.append(np.sort(rng.uniform(0, gap_ms, 400)), gap_ms)
        steps = [step(a, b, [("decode", a, a + 0.9 * (b - a))], "eager") for a, b in pairwise(edges)]
        evictions = [(edges[100], edges[130])]
        gap = small_log(steps, evictions=evictions, emitted=[1e3 * origin_s, edges[-1]], baseline=(0.0, 3.0)).gaps()[0]
        off = abs(math.fsum(gap.parts.values()) - gap.length_ms) / np.spacing(gap.length_ms)
        within = bool(off <= evidence.given("units_in_the_last_place"))
        evidence.identical(within, True, label=f"clock at {origin_s:g} s, {off:g} units off")


@claim("itl.adversarial.oracle-fuzz")
def test_the_partition_is_what_painting_gives(evidence):
    """Random logs, tidy ones and any that can be written down, each gap painted tick by tick."""
    from claims.experiments.counterexamples import COUNTEREXAMPLES
    from claims.experiments.scenes import TICK_MS, split
    from claims.itl.random_scenes import BASELINES, scenes, tidy_scenes
    from implementations.itl.painter import paint

    tolerance_ms = evidence.given("tolerance_ms")

    def same_as_painted(scene, baseline):
        found = split(scene, baseline)
        for i, gap in enumerate(paint(scene, baseline)):
            for label in found.parts:
                assert abs(found.parts[label][i] - TICK_MS * gap.parts.get(label, 0)) <= tolerance_ms
                assert abs(found.context[label][i] - TICK_MS * gap.context.get(label, 0)) <= tolerance_ms

    for label, strategy in (("tidy", tidy_scenes()), ("anything", scenes(off_processor=True))):

        @given(strategy, BASELINES)
        def check(scene, baseline):
            same_as_painted(scene, baseline)

        for counterexample in COUNTEREXAMPLES.values():
            check = example(*counterexample)(check)
        evidence.every(check, label=label)


@claim("itl.adversarial.mutations-must-fail")
def test_every_planted_fault_is_caught(evidence):
    """The hand-made cases, split with each fault planted and with none, against what painting them gives."""
    from claims.experiments.hand_made import CASES
    from implementations.itl.misattribution import PLANTED_FAULTS
    from implementations.itl.rules import RULES

    tolerance_ms = evidence.given("tolerance_ms")
    painted = [(log, log.painted()) for log in CASES]

    def differs(log, paint, rules):
        return any(
            abs(ms - wanted.get(label, 0)) > tolerance_ms
            for gap, true in zip(log.gaps(rules), paint)
            for split, wanted in ((gap.parts, true.parts), (gap.context, true.context))
            for label, ms in split.items()
        )

    def does_not_add_up(log, rules):
        return any(abs(sum(gap.parts.values()) - gap.length_ms) > tolerance_ms for gap in log.gaps(rules))

    faults = PLANTED_FAULTS.values()
    evidence.figure("mutants", len(faults))
    evidence.figure("caught", sum(any(differs(*case, rules) for case in painted) for rules in faults))
    evidence.figure("false_alarms", sum(differs(*case, RULES) for case in painted))
    evidence.figure("caught_by_the_sum", sum(any(does_not_add_up(log, rules) for log in CASES) for rules in faults))
