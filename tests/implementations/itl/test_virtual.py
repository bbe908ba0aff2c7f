"""Virtual runs are exact, repeatable, and schedule as real ones do."""

import numpy as np
import pytest

from implementations.itl.cost_model import PUBLISHED_MACHINE
from implementations.itl.ladder import alone, rung
from implementations.itl.trace import arrivals
from implementations.itl.virtual import run_virtual


def short(config, seed=1, duration_s=12.0, rate_per_s=9.0):
    """Twelve crowded seconds on the published machine."""
    return run_virtual(config, arrivals(seed, duration_s, rate_per_s, texts=False), PUBLISHED_MACHINE)


@pytest.fixture(scope="module")
def baseline():
    """The baseline's twelve seconds."""
    return short(rung("baseline"))


def test_the_same_arguments_give_the_same_log(baseline):
    """To the bit."""
    again = short(rung("baseline"))
    assert again.event_log() == baseline.event_log()
    assert again.preemptions == baseline.preemptions


def test_texts_do_not_matter(baseline):
    """Only their lengths are used."""
    with_texts = run_virtual(rung("baseline"), arrivals(1, 12.0, 9.0), PUBLISHED_MACHINE)
    assert with_texts.event_log() == baseline.event_log()


def test_a_slower_machine_at_a_slower_rate_does_the_same_later():
    """Costs and arrivals stretched by two stretch the log by two: nothing else keeps time."""
    trace = arrivals(2, 6.0, 9.0, texts=False)
    stretched = [type(a)(a.request, 2 * a.arrival_s, None, a.chars, a.approximate_tokens, a.max_new) for a in trace]
    fast = run_virtual(rung("baseline"), trace, PUBLISHED_MACHINE)
    slow = run_virtual(rung("baseline"), stretched, PUBLISHED_MACHINE.scaled(2.0))
    np.testing.assert_allclose(slow.gaps_s(), 2 * fast.gaps_s(), rtol=1e-9)
    assert slow.preemptions == fast.preemptions


def test_time_is_accounted_for(baseline):
    """Segments, collections and the loop's own cost make up every step."""
    step_s = baseline.step["end_s"] - baseline.step["start_s"]
    in_segments = np.bincount(
        baseline.segment["step"].astype(int), baseline.segment["end_s"] - baseline.segment["start_s"]
    )
    in_pauses = sum(end - start for start, end, _ in baseline.collections)
    assert step_s.sum() == pytest.approx(in_segments.sum() + in_pauses + len(step_s) * PUBLISHED_MACHINE.step_s)


def test_processor_time_is_the_segment_without_its_collections(baseline):
    """In virtual time nothing competes for the processor."""
    for _, _, start_s, end_s, cpu_s in baseline.segments:
        inside = sum(max(0.0, min(end_s, end) - max(start_s, start)) for start, end, _ in baseline.collections)
        assert cpu_s == pytest.approx(end_s - start_s - inside, abs=1e-9)


def test_each_fix_takes_its_cause_away(baseline):
    """Objects, fallback steps, tokenizing on the loop, and (nearly) preemption."""
    assert len(short(alone("compact-history")).collections) < len(baseline.collections) / 5
    assert baseline.n_fallback_steps > short(alone("graphs-to-48")).n_fallback_steps == 0
    assert "tok" in {kind for _, kind, *_ in baseline.segments}
    assert "tok" not in {kind for _, kind, *_ in short(alone("tokenize-off-loop")).segments}
    assert short(alone("admission-watermark")).n_preemptions < baseline.n_preemptions / 5
    assert short(alone("budget-256")).step["prefill_tokens"].max() <= 256
