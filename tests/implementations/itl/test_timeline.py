"""Interval arithmetic in ticks against sets of ticks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.itl.events import EventLog
from implementations.itl.timeline import (
    FORWARD,
    GC,
    GRAPH,
    LABELS,
    LONGEST_INTERVAL,
    OFFCPU,
    UNLABELLED,
    Clock,
    Timeline,
    covering,
    depth,
    distinct,
    first_come,
    time_before,
)
from tests.implementations.itl.logs import unhurried, windows

grouped = st.lists(st.tuples(st.integers(0, 2), windows()), max_size=10).map(sorted)


def columns(records):
    """Groups, starts and ends of (group, (start, end)) records as arrays."""
    flat = np.array([(g, a, b) for g, (a, b) in records], np.int64).reshape(-1, 3)
    return flat[:, 0], flat[:, 1], flat[:, 2]


@unhurried
@given(grouped)
def test_first_come_gives_each_tick_to_the_first_record_of_its_group(records):
    """What a record keeps is what no earlier record of its group covers."""
    group, start, end = columns(records)
    begin, finish = first_come(start, end, group)
    taken = set()
    for g, a, b, kept in zip(group, start, end, zip(begin, finish)):
        own = {(g, tick) for tick in range(a, b)} - taken
        assert {(g, tick) for tick in range(*kept)} == own
        taken |= own


@unhurried
@given(grouped)
def test_one_group_is_the_default(records):
    """Without groups the records are all in one."""
    _, start, end = columns(sorted(records, key=lambda r: r[1]))
    alone, together = first_come(start, end), first_come(start, end, np.zeros(len(start), np.int64))
    np.testing.assert_array_equal(alone, together)


@unhurried
@given(st.lists(windows(), max_size=6), st.lists(st.integers(0, 61), max_size=5))
def test_time_before_counts_ticks(records, at):
    """The measure of disjoint intervals before an instant is how many of their ticks are."""
    start, end = first_come(*columns([(0, w) for w in sorted(records)])[1:])
    start, end = start[end > start], end[end > start]
    ticks = {tick for a, b in records for tick in range(a, b)}
    at = np.array(at, np.int64)
    assert time_before(start, end, at).tolist() == [sum(tick < t for tick in ticks) for t in at]
    assert [i >= 0 for i in covering(start, end, at)] == [t in ticks for t in at]


@unhurried
@given(st.lists(windows(), max_size=6))
def test_depth_counts_records(records):
    """Between two cuts lie as many records as cover the tick after the first."""
    _, start, end = columns([(0, w) for w in records])
    cuts = distinct(np.concatenate([start, end, [0, 60]]))
    assert cuts.tolist() == sorted({0, 60, *start.tolist(), *end.tolist()})
    assert depth(start, end, cuts).tolist() == [sum(a <= cut < b for a, b in records) for cut in cuts]


def one_interval(length, offcpu, graph):
    """A timeline that is forward from 0 to length, with these shares."""
    return Timeline.laid_out(
        np.array([0, length]), np.array([FORWARD, UNLABELLED]), np.array([offcpu, 0]), np.array([graph, 0])
    )


shares = st.floats(0, 1)
lengths = st.integers(1, LONGEST_INTERVAL)


@unhurried
@given(lengths, shares, shares, st.data())
def test_shares_of_an_interval_only_ever_grow(length, offcpu, graph, data):
    """From one instant to the next no label loses a tick, and together they gain all of them."""
    first = data.draw(st.integers(0, length - 1))
    second = data.draw(st.integers(first, min(first + 3, length)))
    before = one_interval(length, offcpu, graph).time_before(np.array([first, second]))
    assert (before[1] - before[0]).min() >= 0
    assert before.sum(axis=1).tolist() == [first, second]


def test_shares_follow_the_definition():
    """Off the processor first, graph excess of the rest, forward what is left."""
    parts = one_interval(1000, 0.25, 0.5).time_before(np.array([400]))[0]
    assert {LABELS[i]: int(parts[i]) for i in np.flatnonzero(parts)} == {
        "offcpu": 100,
        "graph": 150,
        "forward": 150,
    }
    assert tuple(LABELS.index(label) for label in ("graph", "offcpu", "gc")) == (GRAPH, OFFCPU, GC)


def clock_of(*times):
    """The clock of a log with these emissions."""
    return Clock.of(EventLog.from_events([], [], [], [(0, t, None) for t in times], []))


@pytest.mark.parametrize("times", [(0.0, 3600.0), (1e5, 1e5 + 1e-6), (5.0, 5.0), (-2.0, 1e9)])
def test_clock_fits_any_span(times):
    """The first record is tick zero and the last is below 2**61, at the finest power of two."""
    clock = clock_of(*times)
    ticks = clock.ticks(np.array(times))
    assert ticks.tolist() == [0, clock.span]
    assert clock.span < 2**61
    assert clock.ms(ticks)[1] == pytest.approx(1e3 * (times[1] - times[0]), rel=1e-15)
    assert times[0] == times[1] or clock.span >= 2**60


def test_milestones_leave_no_interval_too_long():
    """Cuts are at most the longest interval apart, from the start to the end."""
    clock = clock_of(0.0, 7200.0)
    cuts = clock.milestones()
    assert (cuts[0], cuts[-1]) == (0, clock.span)
    assert np.diff(cuts).max() <= LONGEST_INTERVAL


def test_no_records_at_all():
    """An empty log has a clock too."""
    assert Clock.of(EventLog.from_events([], [], [], [], [])).milestones().tolist() == [0]
