"""When each request was evicted, and which of its gaps that touches.

Follows: step 1 of the rule at the top of `partition.py`: a request is evicted or it is not, so the
union of overlapping, nested or repeated records counts, and a record without an end lasts.
Leaves out: inferring evictions from steps that a request sat out; only recorded ones count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from implementations.itl.events import EventLog
from implementations.itl.rules import Rules
from implementations.itl.timeline import Clock, Flags, Places, Ticks


@dataclass(frozen=True)
class Evictions:
    """Evicted windows of all requests, ascending and disjoint within each. A gap goes by its first emission.

    Args:
        start: start of each window, shape (n,).
        end: its end, shape (n,).
        first: first gap it touches, shape (n,).
        last: last gap it touches, before `first` if it touches none, shape (n,).
        reach: furthest gap that this window or an earlier one touches, shape (n,).
        contradicted: whether each emission lies strictly inside a recorded eviction, shape (emissions,).
    """

    start: Ticks
    end: Ticks
    first: Places
    last: Places
    reach: Places
    contradicted: Flags

    @classmethod
    def of(cls, log: EventLog, clock: Clock, emitted: Ticks, rules: Rules) -> Evictions:
        """Reads them off a log whose emissions came at the given ticks."""
        evicted, low, high, run = _runs(log)
        forever = clock.span + 1
        start, end = clock.ticks(evicted["evicted_s"]), np.full(len(evicted), forever)
        shut = ~np.isnan(evicted["readmitted_s"])
        end[shut] = clock.ticks(evicted["readmitted_s"][shut])
        contradicted = _mark(
            len(emitted),
            search_within(emitted, start, low, high, right=True),
            search_within(emitted, end, low, high),
        )
        start, end = rules.evicted_union(start, rules.readmitted(end, forever), run)
        first = np.maximum(search_within(emitted, start, low, high, right=True) - 1, low)
        last = np.minimum(search_within(emitted, end, low, high) - 1, high - 2)
        last = np.where(end > start, last, first - 1)
        return cls(start, end, first, last, np.maximum.accumulate(last), contradicted)

    def touching(self, gap0: int, gap1: int) -> tuple[Places, Places]:
        """Pairs (window, gap) that touch, for gap0 <= gap < gap1, by gap."""
        window = np.arange(np.searchsorted(self.reach, gap0), np.searchsorted(self.first, gap1))
        low, high = np.maximum(self.first[window], gap0), np.minimum(self.last[window], gap1 - 1)
        count = np.maximum(high - low + 1, 0)
        nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        gap = np.repeat(low, count) + nth
        order = np.argsort(gap, kind="stable")
        return np.repeat(window, count)[order], gap[order]


def _runs(log: EventLog) -> tuple[NDArray[np.void], Places, Places, Places]:
    """The evictions of requests that emit, where their emissions begin and end, and which request it is."""
    request, evicted = log.emissions["request"], log.evictions
    bounds = np.flatnonzero(request[1:] != request[:-1]) + 1
    bounds = np.concatenate([[0], bounds, [len(request)]])
    known = request[bounds[:-1]] if len(request) else request
    run = np.searchsorted(known, evicted["request"])
    emits = run < len(known)
    emits[emits] = known[run[emits]] == evicted["request"][emits]
    run = run[emits]
    return evicted[emits], bounds[run], bounds[run + 1], run


def search_within(values: Ticks, needle: Ticks, low: Places, high: Places, *, right: bool = False) -> Places:
    """np.searchsorted inside a range of its own for each needle, all ranges halved together.

    Args:
        values: ascending inside each range, shape (n,).
        needle: what to look for, shape (m,).
        low: where each range begins, shape (m,).
        high: where it ends, shape (m,).
        right: after equal values rather than before them.
    """
    low, high = low.copy(), high.copy()
    while (wide := np.flatnonzero(low < high)).size:
        middle = (low[wide] + high[wide]) // 2
        beyond = values[middle] <= needle[wide] if right else values[middle] < needle[wide]
        low[wide[beyond]] = middle[beyond] + 1
        high[wide[~beyond]] = middle[~beyond]
    return low


def _mark(n: int, low: Places, high: Places) -> Flags:
    """Flags every place that lies in one of the ranges low <= place < high."""
    change = np.zeros(n + 1, np.int32)
    some = high > low
    np.add.at(change, low[some], 1)
    np.add.at(change, high[some], -1)
    return np.greater(np.cumsum(change[:-1], dtype=np.int32), 0)
