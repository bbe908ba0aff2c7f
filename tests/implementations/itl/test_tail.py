"""Primary causes, the tail and the histogram on gaps whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl.events import EventLog
from implementations.itl.partition import partition
from implementations.itl.tail import (
    ANSWERS,
    cause_histogram,
    gap_percentiles,
    primary_cause,
    tail_decomposition,
)
from implementations.itl.timeline import CAUSES, LABELS
from tests.implementations.itl.logs import log_ms, unhurried

# Four gaps: all prefill, all decode, ten of each, and one of nothing recorded.
FOUR = log_ms(
    steps=[(0, 100, 1, 16)],
    segments=[(0, "prefill", 0, 30), (0, "decode", 30, 50), (0, "prefill", 50, 60)],
    gaps=[(0, 30), (30, 40), (40, 60), (60, 61)],
)


@pytest.mark.parametrize(
    ("gap_ms", "parts", "cause"),
    [
        (4, {"prefill": 1.0}, "prefill"),
        (3, {"prefill": 0.9}, "clean"),
        (4.1, {"prefill": 1.0}, "clean"),
        (40, {"prefill": 15, "preempt": 15}, "prefill"),
        (40, {"tok": 12, "gc": 12}, "gc"),
        (40, {"gc": 11, "preempt": 11, "graph": 11}, "preempt"),
        (40, {"tok": 12, "gc": 11.9}, "tok"),
        (40, {"forward": 40}, "clean"),
        (40, {"offcpu": 39, "residual": 1}, "clean"),
        (40, {"prefill": 9, "preempt": 9, "gc": 9}, "clean"),
        (0, {}, "clean"),
    ],
)
def test_primary_cause_by_the_rule(gap_ms, parts, cause):
    """At least 1 ms and a quarter of the gap; ties to the earlier of prefill, preempt, graph, gc, tok."""
    assert primary_cause(gap_ms, parts) == cause


@pytest.mark.parametrize(
    ("gap_ms", "parts", "answer"),
    [
        (40, {"prefill": 9, "preempt": 9, "gc": 9}, "mixed"),
        (40, {"prefill": 9, "preempt": 9, "gc": 2}, "clean"),
        (40, {"prefill": 9, "preempt": 9, "gc": 2.1}, "mixed"),
        (1, {"prefill": 0.2, "preempt": 0.2, "gc": 0.2}, "clean"),
        (40, {"prefill": 11, "preempt": 9, "gc": 9}, "prefill"),
        (40, {"offcpu": 40}, "clean"),
    ],
)
def test_several_middling_causes_are_mixed_on_request(gap_ms, parts, answer):
    """Causes that together exceed half of the gap make it mixed where none of them qualifies."""
    assert primary_cause(gap_ms, parts, mixed=True) == answer


def test_thresholds_hold_to_the_resolution_of_the_parts():
    """A cause of 1 ms read off stamps late in a log is 1 ms, and a tie a tie."""
    hour = 3.6e6
    split = partition(
        log_ms(
            steps=[(0, hour + 4, 1, 16)],
            segments=[(0, "swap", hour + 1, hour + 2), (0, "prefill", hour + 3, hour + 4)],
            gaps=[(hour, hour + 4)],
        ),
        (0, 1),
    )
    assert primary_cause(split.gap_ms, split.parts).tolist() == ["prefill"]


quarters = st.integers(0, 40).map(lambda n: n / 4)


@unhurried
@given(st.lists(st.tuples(*[quarters] * len(LABELS)), min_size=1, max_size=20))
def test_vectorised_answer_is_that_of_each_gap(rows):
    """Gaps do not see one another, and the answer is the plain rule's, ties and thresholds included."""
    parts = {label: np.array(column) for label, column in zip(LABELS, zip(*rows))}
    gap_ms = np.sum(list(parts.values()), axis=0)
    for i, answer in enumerate(primary_cause(gap_ms, parts)):
        largest = max(CAUSES, key=lambda cause: parts[cause][i])
        worth = parts[largest][i] >= 1 and parts[largest][i] >= gap_ms[i] / 4
        assert answer == (largest if worth else "clean")


def test_tail_is_shared_out_in_time_and_counted_by_cause():
    """The three longest gaps, 60 ms: 40 prefill and 20 decode, two of them by prefill."""
    tail = tail_decomposition(partition(FOUR, (0, 1)), q=100 / 3)
    assert (tail.threshold_ms, tail.gaps, tail.total_ms) == pytest.approx((10, 3, 60))
    assert {label: round(share, 9) for label, share in tail.share.items() if share} == {
        "prefill": round(2 / 3, 9),
        "forward": round(1 / 3, 9),
    }
    assert {cause: n for cause, n in tail.count.items() if n} == {"prefill": 2, "clean": 1}


@pytest.mark.parametrize("q", [0, 50, 99, 99.9])
def test_shares_of_a_tail_add_up(q):
    """Shares of time add up to one and counts to the gaps at or above the percentile."""
    split = partition(engine_log(5_000), BASELINE)
    tail = tail_decomposition(split, q)
    assert sum(tail.share.values()) == pytest.approx(1)
    assert sum(tail.count.values()) == tail.gaps == np.count_nonzero(split.gap_ms >= np.percentile(split.gap_ms, q))


def test_tail_without_length_has_no_shares():
    """Gaps of length zero are counted, and nothing is divided by them."""
    tail = tail_decomposition(partition(log_ms(gaps=[(10, 10), (10, 10)]), (0, 1)))
    assert (tail.gaps, tail.count["clean"], set(tail.share.values())) == (2, 2, {0.0})


def test_histogram_counts_by_length_and_cause():
    """Bins are closed below and open above; gaps outside them are left out."""
    counts = cause_histogram(partition(FOUR, (0, 1)), [5, 9, 19, float("inf")])
    assert {cause: n.tolist() for cause, n in counts.items() if n.any()} == {
        "prefill": [0, 0, 2],
        "clean": [0, 1, 0],
    }


def test_histogram_holds_every_gap_once():
    """Over bins that cover everything the counts add up to numpy's own."""
    split = partition(engine_log(5_000), BASELINE)
    edges = [0, 5, 10, 15, 20, 30, 50, np.inf]
    counts = cause_histogram(split, edges, mixed=True)
    assert list(counts) == list(ANSWERS)
    assert np.array_equal(sum(counts.values()), np.histogram(split.gap_ms, edges)[0])


@pytest.mark.parametrize("edges", [[], [1], [1, 1], [2, 1], [0, float("nan")]])
def test_histogram_refuses_edges_that_do_not_ascend(edges):
    """Bad bins are an error that shows them."""
    with pytest.raises(ValueError, match="ascending"):
        cause_histogram(partition(FOUR, (0, 1)), edges)


def test_percentiles_interpolate_between_gaps():
    """Halfway between the second and third of four gaps."""
    assert gap_percentiles(partition(FOUR, (0, 1)), [50, 100]) == pytest.approx({50: 15, 100: 30})


def test_no_gaps_have_no_percentile():
    """A request with one emission has no gap to speak of."""
    with pytest.raises(ValueError, match="no gaps"):
        gap_percentiles(partition(EventLog.from_events([], [], [], [(0, 1.0, None)], [])))
