"""Baselines that are negative, falling, not finite or not to be had, read for an eager decode of 30 ms."""

import pytest

from runtwice import claim


@pytest.fixture
def eager(small_log, step):
    """Builds a log of captured decodes, given as (size, ms), and one eager decode of 30 ms with a gap over it."""

    def build(sequences, baseline=None, captured=()):
        steps, now = [], 0
        for size, length in captured:
            steps.append(step(now, now + length, [("decode", now, now + length)], size, size))
            now += length
        steps.append(step(now, now + 30, [("decode", now, now + 30)], "eager", sequences))
        return small_log(steps, emitted=[now, now + 30], baseline=baseline)

    return build


@claim("itl.adversarial.negative-baseline")
def test_a_negative_baseline_counts_as_zero(evidence, eager, compare_gap):
    """A baseline that is -10 ms at the size of the step; whether the partition calls it usable."""
    log = eager(evidence.given("sequences"), evidence.given("baseline"))
    compare_gap(evidence, log.gaps()[0])
    evidence.figure("usable", log.partition().baseline_usable)


@claim("itl.adversarial.negative-slope-fit")
def test_a_falling_fit_counts_as_zero(evidence, eager, compare_gap):
    """A baseline fitted to a slow small and a fast large batch, read at a larger one."""
    log = eager(evidence.given("sequences"), captured=evidence.given("captured_ms"))
    split = log.partition()
    compare_gap(evidence, log.gaps()[0])
    evidence.figure(
        "naive_base_ms", split.baseline.slope_ms * evidence.given("sequences") + split.baseline.intercept_ms
    )
    evidence.figure("usable", split.baseline_usable)


@claim("itl.adversarial.baseline-above-step")
def test_a_fast_step_has_no_excess(evidence, eager, compare_gap):
    """A baseline of three times the step."""
    compare_gap(evidence, eager(evidence.given("sequences"), evidence.given("baseline")).gaps()[0])


@claim("itl.adversarial.baseline-not-finite")
def test_a_baseline_that_is_no_number_is_refused(evidence, eager, refusal):
    """NaN and infinity, as slope and as intercept."""
    errors = [refusal(eager(1, baseline).gaps) for baseline in evidence.given("baselines")]
    evidence.figure("errors", [type(error).__name__ for error in errors])


@claim("itl.adversarial.no-captured-steps")
def test_without_captured_steps_nothing_is_excess(evidence, eager, compare_gap):
    """A log of one eager step and no baseline."""
    log = eager(evidence.given("sequences"))
    compare_gap(evidence, log.gaps()[0])
    evidence.figure("identifiable", log.partition().graph_identifiable)
    evidence.figure("unjudged_steps", len(log.partition().unjudged_steps))


@claim("itl.adversarial.one-captured-size")
def test_one_size_says_nothing_of_others(evidence, eager, compare_gap):
    """One captured step; an eager step of its size, and one of another."""
    captured = evidence.given("captured_ms")
    same, other = eager(captured[0][0], captured=captured), eager(evidence.given("sequences"), captured=captured)
    compare_gap(evidence, same.gaps()[0], "same_size_")
    compare_gap(evidence, other.gaps()[0], "other_size_")
    evidence.figure("identifiable", [log.partition().graph_identifiable for log in (same, other)])


@claim("itl.adversarial.few-captured-sizes-weighting")
def test_exact_costs_give_the_line_whatever_the_counts(evidence, eager):
    """Costs on a line, three sizes, in even and in very uneven numbers."""
    slope, intercept = evidence.given("slope_ms"), evidence.given("intercept_ms")
    costs = [(size, intercept + slope * size) for size in evidence.given("sizes")]
    for counts in evidence.given("counts"):
        captured = [cost for cost, count in zip(costs, counts) for _ in range(count)]
        fitted = eager(48, captured=captured).partition().baseline
        evidence.identical([fitted.slope_ms, fitted.intercept_ms], [slope, intercept], label=f"counts {counts}")
