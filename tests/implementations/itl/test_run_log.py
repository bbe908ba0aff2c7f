"""The log's own figures agree with the event log made from it."""

import numpy as np
import pytest

from implementations.itl.events import EventLog
from implementations.itl.partition import partition

LOAD = [(2e-5 * number, 10 + 13 * number % 50, 5 + 11 * number % 40) for number in range(20)]
TIGHT = {"kv_blocks": 14, "max_num_seqs": 6, "token_budget": 24, "capture_sizes": (1, 2, 4)}


@pytest.fixture
def log(serve):
    """A run with evictions, chunks and fallback steps."""
    return serve(LOAD, **TIGHT)[0]


def test_gaps_are_the_differences_within_each_request(log):
    """n tokens have n - 1 gaps that add up to the last minus the first."""
    assert len(log.gaps_s()) == sum(max_new - 1 for *_, max_new in LOAD)
    spans = [row.finished_s - row.first_token_s for row in log.requests]
    assert log.gaps_s().sum() == pytest.approx(sum(spans))
    assert (log.gaps_s() > 0).all()


def test_the_event_log_is_the_one_its_tuples_make(log):
    """Columns in bulk and records one by one give the same log."""
    requests = [row[:5] for row in log.requests]
    by_tuples = EventLog.from_events(log.steps, log.segments, log.collections, log.emissions, log.evictions, requests)
    assert log.event_log() == by_tuples


def test_the_partition_of_a_run_covers_its_gaps(log):
    """Same gaps in the same order, and no time without a label."""
    parts = partition(log.event_log())
    np.testing.assert_allclose(parts.gap_ms, log.gaps_s() * 1e3, rtol=1e-9)
    np.testing.assert_allclose(sum(parts.parts.values()), parts.gap_ms, atol=1e-9)


def test_chunks_add_up_to_the_prompts(log):
    """Unless a prompt was started over."""
    restarted = {event.victim for event in log.preemptions if event.restarted}
    computed = {row.request: 0 for row in log.requests}
    for chunk in log.chunks:
        computed[chunk.request] += chunk.n_tokens
    for row in log.requests:
        assert computed[row.request] == row.prompt_tokens or row.request in restarted


def test_an_empty_run_has_an_empty_log(serve):
    """No request, no rows."""
    log, _ = serve([])
    assert (len(log.steps), len(log.gaps_s()), len(log.ttft_s())) == (0, 0, 0)
    assert len(log.event_log().steps) == 0
