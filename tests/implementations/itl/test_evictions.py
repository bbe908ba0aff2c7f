"""Searching inside ranges, and the gaps that an eviction touches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from implementations.itl.events import EventLog
from implementations.itl.evictions import Evictions, search_within
from implementations.itl.rules import RULES
from implementations.itl.timeline import Clock
from tests.implementations.itl.logs import unhurried

runs = st.lists(st.lists(st.integers(0, 20), max_size=6).map(sorted), min_size=1, max_size=5)


@unhurried
@given(runs, st.data())
def test_search_within_a_range_is_searchsorted_on_it(values, data):
    """Each needle is looked up in its own range, before or after its equals."""
    flat = np.array([v for run in values for v in run], np.int64)
    bounds = np.cumsum([0, *map(len, values)])
    run = np.array(data.draw(st.lists(st.integers(0, len(values) - 1), max_size=8)), np.int64)
    needle = np.array([data.draw(st.integers(-1, 21)) for _ in run], np.int64)
    for right, side in ((True, "right"), (False, "left")):
        found = search_within(flat, needle, bounds[run], bounds[run + 1], right=right)
        plain = [bounds[r] + np.searchsorted(values[r], n, side=side) for r, n in zip(run, needle)]
        assert found.tolist() == plain


def test_an_eviction_touches_the_gaps_it_overlaps():
    """From the gap it starts in to the gap it ends in, and none that it only meets at an end."""
    emissions = [("a", float(t), None) for t in range(5)] + [("b", float(t), None) for t in range(5)]
    log = EventLog.from_events(
        [], [], [], emissions, [("b", 1.5, 3.0), ("b", 3.5, None), ("a", -2.0, 0.5), ("c", 0.0, 9.0)]
    )
    clock = Clock.of(log)
    is_gap = np.arange(9) != 4
    found = Evictions.of(log, clock, clock.ticks(log.emissions["time_s"]), is_gap, RULES)
    window, gap = found.touching(0, 10)
    # A gap goes by the place of its first emission: those of "a" are 0 to 3, those of "b" 5 to 8.
    assert list(zip(window.tolist(), gap.tolist())) == [(0, 0), (1, 6), (1, 7), (2, 8)]
    assert np.flatnonzero(found.contradicted).tolist() == [0, 7, 9]
