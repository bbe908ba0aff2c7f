"""What evictions take from gaps that come a block at a time.

Follows: `evictions.py` and `skips.py`, with every sum over the past read once, when its instant goes by.
Leaves out: rules other than the default ones.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from implementations.itl.event_tables import Table
from implementations.itl.evictions import search_within
from implementations.itl.timeline import LABELS, PREEMPT, Clock, Flags, Places, Ticks, first_come

# What is known of a request at one of its tokens.
READING = np.dtype([("at", "i8"), ("time_s", "f8"), ("begun", "i8"), ("spent", "i8", (len(LABELS),))])
Readings = NDArray[np.void]


class Sums(Protocol):
    """What has gone by before an instant: time of each label, decode steps begun, and decode steps ended."""

    def spent(self, at: Ticks) -> Ticks:
        """Ticks of each label before each instant, (m,) -> (m, labels)."""

    def begun(self, at: Ticks) -> Places:
        """Decode steps begun before each instant, (m,) -> (m,)."""

    def ended(self, at: Ticks) -> Places:
        """Decode steps ended at or before each instant, (m,) -> (m,)."""


class EvictedSums:
    """Disjoint evicted windows of every request, and the sums at their two ends once these have gone by.

    Args:
        evictions: the records, requests by number, shape (k,).
        requests: how many requests there are.
        clock: the log's clock.
    """

    def __init__(self, evictions: Table, requests: int, clock: Clock) -> None:
        order = np.lexsort((evictions["readmitted_s"], evictions["evicted_s"], evictions["request"]))
        request, forever = np.ascontiguousarray(evictions["request"][order]), clock.span + 1
        start, end = clock.ticks(evictions["evicted_s"][order]), np.full(len(order), forever)
        shut = ~np.isnan(evictions["readmitted_s"][order])
        end[shut] = clock.ticks(evictions["readmitted_s"][order][shut])
        self._raw_start, self._raw_reach = start, _reach(end, request)
        self._raw_bounds = np.searchsorted(request, np.arange(requests + 1))
        start, end = first_come(start, end, request)
        kept = np.flatnonzero(end > start)
        self.request, self.start, self.end = request[kept], start[kept], end[kept]
        self._bounds = np.searchsorted(self.request, np.arange(requests + 1))
        self._by_start, self._by_end = np.argsort(self.start), np.argsort(self.end)
        n = len(kept)
        self._spent_start, self._spent_end = np.zeros((2, n, len(LABELS)), np.int64)
        self._ended_start, self._begun_end = np.zeros((2, n), np.int64)

    def read(self, sums: Sums, first: int, last: int) -> None:
        """Reads the sums at the ends of windows that lie between two instants, both included."""
        begin = _within(self.start, self._by_start, first, last)
        self._spent_start[begin] = sums.spent(self.start[begin])
        self._ended_start[begin] = sums.ended(self.start[begin])
        finish = _within(self.end, self._by_end, first, last)
        self._spent_end[finish] = sums.spent(self.end[finish])
        self._begun_end[finish] = sums.begun(self.end[finish])

    def take_out(self, request: Places, before: Readings, after: Readings, parts: Ticks, sat_out: Places) -> None:
        """Moves evicted time from what ran to preempt, and drops the skipped steps it explains, in place.

        Args:
            request: number of each gap's request, shape (n,).
            before: readings at its first token, shape (n,).
            after: readings at its last token, shape (n,); all windows up to there have been read.
            parts: ticks of each label inside it, shape (n, labels).
            sat_out: decode steps it sat out, shape (n,).
        """
        window, gap = self._touching(request, before["at"], after["at"])
        start, end = self.start[window], self.end[window]
        begin, finish = before["at"][gap], after["at"][gap]
        since = np.where((start > begin)[:, None], self._spent_start[window], before["spent"][gap])
        until = np.where((end < finish)[:, None], self._spent_end[window], after["spent"][gap])
        np.subtract.at(parts, gap, until - since)
        np.add.at(parts[:, PREEMPT], gap, np.minimum(end, finish) - np.maximum(start, begin))
        np.subtract.at(sat_out, gap, self._explained(window, gap, before, after))

    def contradicted(self, request: Places, at: Ticks) -> Flags:
        """Whether each emission lies strictly inside a recorded eviction of its request, shape (m,)."""
        low = self._raw_bounds[request]
        last = search_within(self._raw_start, at, low, self._raw_bounds[request + 1]) - 1
        found = last >= low
        found[found] = self._raw_reach[last[found]] > at[found]
        return found

    def _touching(self, request: Places, begin: Ticks, finish: Ticks) -> tuple[Places, Places]:
        """Pairs (window, gap) that touch, by gap, then by start."""
        some = np.flatnonzero(self._bounds[request] < self._bounds[request + 1])
        bounds = self._bounds[request[some]], self._bounds[request[some] + 1]
        low = search_within(self.end, begin[some], *bounds, right=True)
        count = np.maximum(search_within(self.start, finish[some], *bounds) - low, 0)
        nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        windows: Places = nth + np.repeat(low, count)
        return windows, np.repeat(some, count)

    def _explained(self, window: Places, gap: Places, before: Readings, after: Readings) -> Places:
        """Steps that a gap sat out under each window, and under no earlier one; as `DecodeSteps.explained`."""
        last = after["begun"][gap] - 1  # the last step begun inside the gap is the one that ended it with a token
        until = np.where(self.end[window] < after["at"][gap], self._begun_end[window], last)
        since = np.maximum(before["begun"][gap], self._ended_start[window])
        again = gap[1:] == gap[:-1]
        since[1:][again] = np.maximum(since[1:][again], until[:-1][again])
        found: Places = np.maximum(np.minimum(until, last) - since, 0)
        return found


def _reach(end: Ticks, request: Places) -> Ticks:
    """Furthest end so far within each request, as in `first_come`."""
    if not len(end):
        return end
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(len(end), np.int64)
    rank[by_end] = np.arange(len(end))
    reach: Ticks = end[by_end[np.maximum.accumulate(request * len(end) + rank) % len(end)]]
    return reach


def _within(values: Ticks, order: Places, first: int, last: int) -> Places:
    """Places of the values from `first` to `last`, given their ascending order."""
    low = np.searchsorted(values, first, sorter=order)
    found: Places = order[low : np.searchsorted(values, last, side="right", sorter=order)]
    return found
