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
from implementations.itl.skips import DecodeSteps
from implementations.itl.timeline import BLOCK, LABELS, Clock, Flags, Places, Ticks, Timeline, first_come


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
    def of(cls, log: EventLog, clock: Clock, emitted: Ticks, is_gap: Flags, rules: Rules) -> Evictions:
        """Reads them off a log.

        Args:
            log: the log.
            clock: its clock.
            emitted: when each emission came, shape (emissions,).
            is_gap: whether each emission but the last has the next one's request, shape (emissions - 1,).
            rules: the decisions.
        """
        evicted, low, high, run = _runs(log, is_gap)
        forever = clock.span + 1
        start, end = clock.ticks(evicted["evicted_s"]), np.full(len(evicted), forever)
        shut = ~np.isnan(evicted["readmitted_s"])
        end[shut] = clock.ticks(evicted["readmitted_s"][shut])
        inside = (
            search_within(emitted, start, low, high, right=True),
            search_within(emitted, end, low, high),
        )
        contradicted = np.zeros(len(emitted), np.bool_)
        contradicted[_places(*first_come(*inside, run))] = True
        start, end = rules.evicted_union(start, rules.readmitted(end, forever), run)
        first = np.maximum(search_within(emitted, start, low, high, right=True) - 1, low)
        last = np.minimum(search_within(emitted, end, low, high) - 1, high - 2)
        last = np.where(end > start, last, first - 1)
        return cls(start, end, first, last, np.maximum.accumulate(last), contradicted)

    def touching(self, gap0: int, gap1: int) -> tuple[Places, Places]:
        """Pairs (window, gap) that touch, for gap0 <= gap < gap1, by gap."""
        window = np.arange(np.searchsorted(self.reach, gap0), np.searchsorted(self.first, gap1))
        low, high = np.maximum(self.first[window], gap0), np.minimum(self.last[window], gap1 - 1)
        gap = _places(low, high + 1)
        order = np.argsort(gap, kind="stable")
        return np.repeat(window, np.maximum(high - low + 1, 0))[order], gap[order]


@dataclass(frozen=True)
class EvictedGaps:
    """What evictions take from the gaps they touch.

    Args:
        gap: the gaps, ascending, shape (k,).
        evicted: how long the request was evicted inside each, shape (k,).
        context: what the engine did meanwhile, shape (labels, k).
        explained: how many of the decode steps it sat out the evictions explain, shape (k,).
    """

    gap: Places
    evicted: Ticks
    context: Ticks
    explained: Places

    @classmethod
    def of(
        cls, evictions: Evictions, emitted: Ticks, timeline: Timeline, steps: DecodeSteps, rules: Rules
    ) -> EvictedGaps:
        """Works through the gaps some at a time, so that a log full of evictions needs no more memory."""
        found = [
            cls._among(evictions, first, emitted, timeline, steps, rules) for first in range(0, len(emitted), BLOCK)
        ]
        nothing = np.zeros(0, np.int64)
        return cls(
            np.concatenate([nothing, *(f.gap for f in found)]),
            np.concatenate([nothing, *(f.evicted for f in found)]),
            np.concatenate([np.zeros((len(LABELS), 0), np.int64), *(f.context for f in found)], axis=1),
            np.concatenate([nothing, *(f.explained for f in found)]),
        )

    @classmethod
    def _among(
        cls,
        evictions: Evictions,
        first: int,
        emitted: Ticks,
        timeline: Timeline,
        steps: DecodeSteps,
        rules: Rules,
    ) -> EvictedGaps:
        window, gap = evictions.touching(first, first + BLOCK)
        evicted, readmitted = evictions.start[window], evictions.end[window]
        begin, finish = emitted[gap], emitted[gap + 1]
        start, end = rules.clip(evicted, readmitted, begin, finish)
        ran = timeline.time_before(end) - timeline.time_before(start)  # (pairs, labels)
        explained = steps.explained(evicted, readmitted, gap, begin, finish)
        head = np.flatnonzero(np.append(True, gap[1:] != gap[:-1])[: len(gap)])
        return cls(
            gap[head],
            np.add.reduceat(end - start, head),
            np.add.reduceat(ran, head, axis=0).T,
            np.add.reduceat(explained, head),
        )


def _places(low: Places, high: Places) -> Places:
    """All places of the ranges low <= place < high, one range after the other."""
    count = np.maximum(high - low, 0)
    nth: Places = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return nth + np.repeat(low, count)


def _runs(log: EventLog, is_gap: Flags) -> tuple[NDArray[np.void], Places, Places, Places]:
    """The evictions of requests that emit, where their emissions begin and end, and which request it is."""
    request, evicted = log.emissions["request"], log.evictions
    bounds = np.flatnonzero(~is_gap) + 1
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
