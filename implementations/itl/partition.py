"""The exclusive partition of every gap between two tokens of a request over what the engine was doing.

Follows: the decode-step-stall post's corrected rule, made total. An instant of a gap belongs to the first
that applies:

1. preempt, while the request is evicted; what the engine did meanwhile is kept apart as context;
2. gc, inside a collection;
3. the segment that covers it: the one with the earliest start, ties in the order of `KINDS` (tok, swap,
   prefill, decode), then to the earlier end, then to the earlier step. tok and prefill go to their own
   labels, swap to preempt, and decode to graph (excess over the baseline, for steps without a captured
   graph) and forward (the rest);
4. residual, where no record covers it.

One label is not the post's: offcpu, the share 1 - cpu_s / collection-free wall time of a segment that
says how long its thread ran, spread evenly over the segment. Graph excess is taken of what it leaves.

Leaves out: who of a step's requests a segment worked for. A live request that sat out a step is charged for
it like the others; `skipped_steps` counts those. A decode hidden behind an earlier segment still took its
own time: a step's decode time is the union of its decode segments, whoever owns them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.itl.baseline import Baseline
from implementations.itl.events import EventLog
from implementations.itl.evictions import Evictions
from implementations.itl.labelling import Excess, Segments, fit_captured, lay_out
from implementations.itl.rules import RULES, Rules
from implementations.itl.timeline import (
    CAUSES,
    LABELS,
    PREEMPT,
    Clock,
    Flags,
    Floats,
    Places,
    Ticks,
    Timeline,
    first_come,
    nonempty,
)

__all__ = ["CAUSES", "LABELS", "RULES", "Baseline", "Partition", "Rules", "fit_baseline", "partition"]

BLOCK = 1 << 14  # gaps handled at a time; keeps the temporaries in cache and off the memory bill


@dataclass(frozen=True, eq=False)
class Partition:
    """Every gap of a log, by request and time, split over `LABELS`.

    Args:
        gap_ms: length of each gap, shape (n,).
        request: id of its request, shape (n,).
        start_step: step that emitted the token before the gap, shape (n,), -1 where not on record.
        end_step: step that emitted the token after it, shape (n,).
        parts: ms per label, shape (n,) each; they add up to the gap and none is negative.
        evicted_gaps: the gaps that an eviction touches, ascending, shape (k,).
        evicted_context: what the engine did in their evicted time, ms, shape (labels, k).
        baseline: the one that graph excess was taken over.
        skipped_steps: decode steps begun inside the gap without a token for the request, that no eviction
            explains, shape (n,).
        emitted_while_evicted: whether the token after the gap came strictly inside a recorded eviction,
            which it contradicts (an open one by coming at all), shape (n,).
        unjudged_steps: steps without a captured graph whose excess the baseline cannot tell.
        negative_baseline_steps: steps for which the baseline was below zero and taken as zero.
    """

    gap_ms: Floats
    request: NDArray[Any]
    start_step: NDArray[np.int64]
    end_step: NDArray[np.int64]
    parts: dict[str, Floats]
    evicted_gaps: Places
    evicted_context: Floats
    baseline: Baseline
    skipped_steps: NDArray[np.int32]
    emitted_while_evicted: Flags
    unjudged_steps: Places
    negative_baseline_steps: Places

    def __len__(self) -> int:
        return len(self.gap_ms)

    @cached_property
    def context(self) -> dict[str, Floats]:
        """What the engine did while the request was evicted, ms per label, shape (n,) each.

        It adds up to the evicted time of each gap and is no part of the gap.
        """
        dense = np.zeros((len(LABELS), len(self)))
        dense[:, self.evicted_gaps] = self.evicted_context
        return dict(zip(LABELS, dense))

    @property
    def graph_identifiable(self) -> bool:
        """Whether the graph excess of every step could be told."""
        return not len(self.unjudged_steps)

    @property
    def baseline_usable(self) -> bool:
        """Whether the baseline made sense wherever it was read: identifiable, not falling, not negative."""
        return self.graph_identifiable and not (self.baseline.falling or len(self.negative_baseline_steps))


def partition(log: EventLog, baseline: Baseline | tuple[float, float] | None = None, rules: Rules = RULES) -> Partition:
    """Splits every gap of a log over `LABELS`.

    Args:
        log: the raw log.
        baseline: what captured steps cost, as a `Baseline` or as (slope_ms, intercept_ms); fitted to the
            log's own captured steps if None.
        rules: the decisions; others than the default ones are planted faults.

    Returns:
        The gaps in order of request and time.

    Raises:
        ValueError: a baseline that is not finite.
    """
    clock = Clock.of(log)
    segments = Segments.of(log, clock, rules)
    if baseline is None:
        baseline = fit_captured(log, segments)
    elif not isinstance(baseline, Baseline):
        baseline = Baseline(*baseline)
    excess = Excess.of(log, segments.decode_ms, baseline, rules)
    timeline = lay_out(clock, segments, excess.share, rules)
    return _Splitter.of(log, clock, timeline, rules).collect(log, baseline, excess)


def fit_baseline(log: EventLog, rules: Rules = RULES) -> Baseline:
    """Fits decode time against captured size over the captured steps of a log that spent time decoding."""
    return fit_captured(log, Segments.of(log, Clock.of(log), rules))


@dataclass(frozen=True)
class _DecodeSteps:
    """Windows of the steps that decoded, disjoint and ascending."""

    start: Ticks
    end: Ticks

    @classmethod
    def of(cls, log: EventLog, clock: Clock) -> _DecodeSteps:
        steps = log.steps[log.steps["n_decode"] > 0]
        return cls(*nonempty(*first_come(clock.ticks(steps["start_s"]), clock.ticks(steps["end_s"]))))

    def begun_before(self, at: Ticks) -> Places:
        return np.searchsorted(self.start, at, side="left")

    def over_by(self, at: Ticks) -> Places:
        return np.searchsorted(self.end, at, side="right")


@dataclass(frozen=True)
class _Stamps:
    """What lies before each emission, looked up once for all emissions that share a stamp.

    The tokens of a step share one, so a log has some thirty times as many emissions as stamps.
    """

    place: Places  # (emissions,): the stamp of each
    before: Ticks  # (labels, stamps): time of each label before it
    begun: Places  # (stamps,): decode steps begun before it

    @classmethod
    def of(cls, emitted: Ticks, step: NDArray[np.int64], timeline: Timeline, steps: _DecodeSteps) -> _Stamps:
        shared = np.zeros(int(step.max(initial=-1)) + 2, np.int64)
        shared[step] = emitted  # the last stamp of each step; emissions of no known step share the last place
        place = np.where(step < 0, len(shared) - 1, step)
        own = np.flatnonzero(shared[place] != emitted)
        place[own] = len(shared) + np.arange(len(own))
        stamps = np.concatenate([shared, emitted[own]])
        before = np.ascontiguousarray(timeline.time_before(stamps).T)
        return cls(place, before, steps.begun_before(stamps))


@dataclass(frozen=True)
class _Evicted:
    """Evicted gaps of a block: their rows, evicted time, what ran meanwhile, and the skips it explains."""

    rows: Places
    evicted: Ticks  # (rows,)
    context: Ticks  # (labels, rows)
    explained: Places  # (rows,)


@dataclass(frozen=True)
class _Splitter:
    """All that is known of a log, in ticks, and the way from there to its gaps, a block at a time.

    A row of a block is a pair of neighbouring emissions. Where one request ends and the next begins the pair
    is no gap; such rows are worked out like the others, which is cheap, and dropped at the end.
    """

    clock: Clock
    timeline: Timeline
    emitted: Ticks
    stamps: _Stamps
    evictions: Evictions
    steps: _DecodeSteps
    rules: Rules

    @classmethod
    def of(cls, log: EventLog, clock: Clock, timeline: Timeline, rules: Rules) -> _Splitter:
        emitted, steps = clock.ticks(log.emissions["time_s"]), _DecodeSteps.of(log, clock)
        stamps = _Stamps.of(emitted, log.emissions["step"], timeline, steps)
        return cls(clock, timeline, emitted, stamps, Evictions.of(log, clock, emitted, rules), steps, rules)

    def collect(self, log: EventLog, baseline: Baseline, excess: Excess) -> Partition:
        request, step = log.emissions["request"], log.emissions["step"]
        is_gap = request[1:] == request[:-1]
        n = int(np.count_nonzero(is_gap))
        parts, skipped = np.empty((len(LABELS), n)), np.empty(n, np.int32)
        gaps: list[Places] = []
        context: list[Ticks] = []
        done = 0
        for first in range(0, len(is_gap), BLOCK):
            kept = np.flatnonzero(is_gap[first : first + BLOCK])
            into = slice(done, done + len(kept))
            evicted = self._split(first, kept, parts[:, into], skipped[into])
            gaps.append(done + np.searchsorted(kept, evicted.rows))
            context.append(evicted.context)
            done = into.stop
        return Partition(
            gap_ms=self.clock.ms(np.diff(self.emitted)[is_gap]),
            request=request[1:][is_gap],
            start_step=step[:-1][is_gap],
            end_step=step[1:][is_gap],
            parts=dict(zip(LABELS, parts)),
            evicted_gaps=np.concatenate([np.zeros(0, np.intp), *gaps]),
            evicted_context=self.clock.ms(np.hstack([np.zeros((len(LABELS), 0), np.int64), *context])),
            baseline=baseline,
            skipped_steps=skipped,
            emitted_while_evicted=self.evictions.contradicted[1:][is_gap],
            unjudged_steps=excess.unjudged,
            negative_baseline_steps=excess.negative,
        )

    def _split(self, first: int, kept: Places, parts: Floats, skipped: NDArray[np.int32]) -> _Evicted:
        """Fills one block of gaps, parts (labels, kept) and skipped (kept,)."""
        place = self.stamps.place[first : first + BLOCK + 1]
        before, begun = self.stamps.before.take(place, axis=1), self.stamps.begun[place]
        ticks = before[:, 1:] - before[:, :-1]  # (labels, rows)
        sat_out = begun[1:] - begun[:-1] - 1
        evicted = self._evicted(first, len(sat_out), begun)
        live = ticks[:, evicted.rows] - evicted.context
        live[PREEMPT] += evicted.evicted
        ticks[:, evicted.rows] = self.rules.live(live, evicted.context)
        sat_out[evicted.rows] -= evicted.explained
        parts[:] = self.clock.ms(ticks.take(kept, axis=1))
        skipped[:] = np.maximum(sat_out[kept], 0)
        return evicted

    def _evicted(self, first: int, rows: int, begun: Places) -> _Evicted:
        window, gap = self.evictions.touching(first, first + rows)
        start, end = self.rules.clip(
            self.evictions.start[window], self.evictions.end[window], self.emitted[gap], self.emitted[gap + 1]
        )
        ran = self.timeline.time_before(end) - self.timeline.time_before(start)  # (pairs, labels)
        row = gap - first
        explained = self._explained(window, gap, begun[row], begun[row + 1] - 1)
        head = np.flatnonzero(np.append(True, gap[1:] != gap[:-1])[: len(gap)])
        return _Evicted(
            row[head],
            np.add.reduceat(end - start, head),
            np.add.reduceat(ran, head, axis=0).T,
            np.add.reduceat(explained, head),
        )

    def _explained(self, window: Places, gap: Places, low: Places, high: Places) -> Places:
        """How many of the steps low <= step < high overlap each window and no earlier one of the same gap."""
        until = self.steps.begun_before(self.evictions.end[window])
        since = np.maximum(low, self.steps.over_by(self.evictions.start[window]))
        again = gap[1:] == gap[:-1]
        since[1:][again] = np.maximum(since[1:][again], until[:-1][again])
        explained: Places = np.maximum(np.minimum(until, high) - since, 0)
        return explained
