"""The wrong ways to split a gap are wrong as they are said to be, and right where nothing misleads."""

import numpy as np
import pytest
from hypothesis import given

from implementations.itl.baseline import Baseline
from implementations.itl.events import PREFILL, EventLog
from implementations.itl.misattribution import (
    PLANTED_FAULTS,
    charge_evictions_twice,
    charge_segments_regardless,
    graph_excess_with_collections_in_total,
    residual_as_remainder,
)
from implementations.itl.partition import partition
from implementations.itl.timeline import CAUSES, LABELS
from tests.implementations.itl.logs import TICK_S, amounts, log_ms, scenes, unhurried

EAGER = {"steps": [(0, 30, 1, "eager")], "segments": [(0, "decode", 0, 30)], "gaps": [(0, 30)]}
OVERLAPPING = {
    "steps": [(0, 40, 1, 16)],
    "segments": [(0, "tok", 0, 20), (0, "prefill", 10, 30), (0, "decode", 30, 40)],
}


def total(parts):
    """The first gap's parts added up."""
    return sum(float(part[0]) for part in parts.values())


def test_evicted_time_charged_twice():
    """The post's first example: 30 ms of preemption and 30 of prefill in a gap of 40."""
    parts = charge_evictions_twice(partition(log_ms(evictions=[(0, 30)]), (0, 10)))
    assert amounts(parts) == {"prefill": 30, "preempt": 30, "forward": 10}
    assert sum(float(parts[cause][0]) for cause in CAUSES) == pytest.approx(60)


@unhurried
@given(scenes())
def test_charging_twice_exceeds_the_gap_by_the_work_done_meanwhile(scene):
    """It overcharges exactly where something ran during an eviction."""
    split = partition(EventLog.from_events(**scene.in_seconds(TICK_S)), (0, 0.01))
    over = np.sum(list(charge_evictions_twice(split).values()), axis=0) - split.gap_ms
    work = sum(split.context[label] for label in LABELS if label != "residual")
    np.testing.assert_allclose(over, work, rtol=0, atol=1e-9)


def test_collection_left_in_the_total():
    """The post's second example: two thirds of the 10 ms left become graph excess out of nothing."""
    got = graph_excess_with_collections_in_total(log_ms(**EAGER, collections=[(5, 25)]), (0, 10))
    assert amounts(got.parts) == {"gc": 20, "graph": pytest.approx(20 / 3), "forward": pytest.approx(10 / 3)}


@unhurried
@given(scenes())
def test_collection_left_in_the_total_never_lowers_excess(scene):
    """It can only invent excess, and leaves gaps, collections and what is no decode alone."""
    log = EventLog.from_events(**scene.in_seconds(TICK_S))
    right, wrong = partition(log, (0, 0.01)), graph_excess_with_collections_in_total(log, (0, 0.01))
    assert np.all(wrong.parts["graph"] >= right.parts["graph"] - 1e-9)
    assert np.array_equal(wrong.gap_ms, right.gap_ms)
    for label in set(LABELS) - {"graph", "forward"}:
        assert np.array_equal(wrong.parts[label], right.parts[label])


def test_without_collections_the_total_is_right():
    """Fitted or given, the comparison differs only where something was collected."""
    log = log_ms(
        steps=[(0, 10, 8, 8), (10, 25, 16, 16), (25, 60, 20, "eager")],
        segments=[(0, "decode", 0, 10), (1, "decode", 10, 25), (2, "decode", 25, 60)],
        gaps=[(0, 60)],
    )
    assert amounts(graph_excess_with_collections_in_total(log).parts) == amounts(partition(log).parts)


def test_remainder_hides_lost_segments():
    """Residual as what is left makes parts add up with every prefill dropped from the log."""
    log = log_ms()
    lost = partition(EventLog.from_events(**{**log.to_events(), "segments": [(1, "decode", 0.03, 0.04)]}), (0, 10))
    parts = residual_as_remainder(lost.gap_ms, lost.parts)
    assert amounts(parts) == {"forward": 10, "residual": 30}
    assert total(parts) == pytest.approx(40)


def test_remainder_hides_segments_charged_twice():
    """Overlapping segments charged in full leave a negative residual and still add up."""
    parts = charge_segments_regardless(log_ms(**OVERLAPPING), (0, 10))
    assert amounts(parts) == {"tok": 20, "prefill": 20, "forward": 10, "residual": -10}
    assert total(parts) == pytest.approx(40)


def test_remainder_hides_a_negative_baseline():
    """An excess share above one makes forward negative and still adds up."""
    log = log_ms(**{**EAGER, "steps": [(0, 30, 40, "eager")]})
    got = partition(log, (1, -50), PLANTED_FAULTS["excess not clipped"])
    assert amounts(got.parts) == {"graph": 40, "forward": -10}
    assert total(got.parts) == pytest.approx(30)


@unhurried
@given(scenes())
def test_kinds_that_do_not_overlap_may_be_charged_regardless(scene):
    """With one kind of segment the careless charge is the exclusive one."""
    log = EventLog.from_events(**scene.in_seconds(TICK_S))
    one_kind = EventLog(
        log.steps,
        log.segments[log.segments["kind"] == PREFILL],
        log.collections,
        log.emissions,
        log.evictions,
        log.requests,
    )
    careless, right = charge_segments_regardless(one_kind, Baseline(0, 1)), partition(one_kind, (0, 1))
    for label in LABELS:
        np.testing.assert_allclose(careless[label], right.parts[label], rtol=0, atol=1e-9)
