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
from implementations.itl.evictions import EvictedGaps, Evictions
from implementations.itl.labelling import Excess, Segments, fit_captured, lay_out
from implementations.itl.rules import RULES, Rules
from implementations.itl.skips import DecodeSteps
from implementations.itl.timeline import (
    BLOCK,
    CAUSES,
    LABELS,
    PREEMPT,
    Clock,
    Flags,
    Floats,
    Places,
    Ticks,
    Timeline,
)

__all__ = ["CAUSES", "LABELS", "RULES", "Baseline", "Partition", "Rules", "fit_baseline", "partition"]


@dataclass(frozen=True, eq=False)
class Partition:
    """Every gap of a log, by request and time, split over `LABELS`.

    Args:
        log: the log.
        emission: place in the log's emissions of the token after each gap, shape (n,); the token before it
            is the emission before that.
        gap_ms: length of each gap, shape (n,).
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

    log: EventLog
    emission: Places
    gap_ms: Floats
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

    @property
    def request(self) -> NDArray[Any]:
        """Request of each gap, shape (n,)."""
        return self.log.emissions["request"][self.emission]

    @property
    def start_step(self) -> NDArray[np.int64]:
        """Step that emitted the token before each gap, shape (n,), -1 where not on record."""
        return self.log.emissions["step"][self.emission - 1]

    @property
    def end_step(self) -> NDArray[np.int64]:
        """Step that emitted the token after each gap, shape (n,), -1 where not on record."""
        return self.log.emissions["step"][self.emission]

    @cached_property
    def context(self) -> dict[str, Floats]:
        """What the engine did while the request was evicted, ms per label, shape (n,) each.

        It adds up to the evicted time of each gap and is no part of the gap.
        """
        dense = np.zeros((len(LABELS), len(self)))
        dense[:, self.evicted_gaps] = self.evicted_context
        return dict(zip(LABELS, dense))

    @property
    def unreconciled_ms(self) -> Floats:
        """Parts minus gap, shape (n,): zero to rounding unless an instant has no owner or two."""
        total: Floats = np.sum(list(self.parts.values()), axis=0)
        return total - self.gap_ms

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
    return _Splitter.of(log, clock, timeline, rules).collect(baseline, excess)


def fit_baseline(log: EventLog, rules: Rules = RULES) -> Baseline:
    """Fits decode time against captured size over the captured steps of a log that spent time decoding."""
    return fit_captured(log, Segments.of(log, Clock.of(log), rules))


@dataclass(frozen=True)
class _Stamps:
    """What lies before the emissions of each step, looked up once for all of them.

    The tokens of a step share a stamp, so a log has some thirty times as many emissions as stamps. Emissions
    with a stamp of their own are looked up one by one.
    """

    timeline: Timeline
    steps: DecodeSteps
    stamp: Ticks  # (steps + 1,): the last place is for emissions of no known step
    before: Ticks  # (labels, steps + 1): time of each label before it
    begun: Places  # (steps + 1,): decode steps begun before it

    @classmethod
    def of(cls, log: EventLog, emitted: Ticks, timeline: Timeline, steps: DecodeSteps) -> _Stamps:
        stamp = np.zeros(len(log.steps) + 1, np.int64)
        stamp[log.emissions["step"]] = emitted
        before = np.ascontiguousarray(timeline.time_before(stamp).T)
        return cls(timeline, steps, stamp, before, steps.begun_before(stamp))

    def at(self, emitted: Ticks, step: NDArray[np.int64]) -> tuple[Ticks, Places]:
        """Time of each label (labels, m) and decode steps begun (m,) before each of some emissions."""
        # "wrap" sends the step that is not on record, -1, to the last place, and spares a bounds check.
        before, begun = self.before.take(step, axis=1, mode="wrap"), self.begun.take(step, mode="wrap")
        own = np.flatnonzero(self.stamp.take(step, mode="wrap") != emitted)
        before[:, own] = self.timeline.time_before(emitted[own]).T
        begun[own] = self.steps.begun_before(emitted[own])
        return before, begun


@dataclass(frozen=True)
class _Splitter:
    """All that is known of a log, in ticks, and the way from there to its gaps, a block at a time.

    A row of a block is a pair of neighbouring emissions. Where one request ends and the next begins the pair
    is no gap; such rows are worked out like the others, which is cheap, and dropped at the end.
    """

    log: EventLog
    clock: Clock
    rules: Rules
    emitted: Ticks
    is_gap: Flags
    stamps: _Stamps
    contradicted: Flags
    evicted: EvictedGaps

    @classmethod
    def of(cls, log: EventLog, clock: Clock, timeline: Timeline, rules: Rules) -> _Splitter:
        request, emitted = log.emissions["request"], clock.ticks(log.emissions["time_s"])
        is_gap = np.asarray(request[1:] == request[:-1])
        steps = DecodeSteps.of(log, clock)
        stamps = _Stamps.of(log, emitted, timeline, steps)
        evictions = Evictions.of(log, clock, emitted, is_gap, rules)
        evicted = EvictedGaps.of(evictions, emitted, timeline, steps, rules)
        return cls(log, clock, rules, emitted, is_gap, stamps, evictions.contradicted, evicted)

    def collect(self, baseline: Baseline, excess: Excess) -> Partition:
        emission = np.flatnonzero(self.is_gap)
        emission += 1
        n = len(emission)
        parts, gap_ms, skipped = np.empty((len(LABELS), n)), np.empty(n), np.empty(n, np.int32)
        done = 0
        for first in range(0, len(self.is_gap), BLOCK):
            kept = np.flatnonzero(self.is_gap[first : first + BLOCK])
            into = slice(done, done + len(kept))
            self._split(first, kept, parts[:, into], gap_ms[into], skipped[into])
            done = into.stop
        return Partition(
            log=self.log,
            emission=emission,
            gap_ms=gap_ms,
            parts=dict(zip(LABELS, parts)),
            evicted_gaps=np.searchsorted(emission, self.evicted.gap + 1),
            evicted_context=self.clock.ms(self.evicted.context),
            baseline=baseline,
            skipped_steps=skipped,
            emitted_while_evicted=self.contradicted[emission],
            unjudged_steps=excess.unjudged,
            negative_baseline_steps=excess.negative,
        )

    def _split(self, first: int, kept: Places, parts: Floats, gap_ms: Floats, skipped: NDArray[np.int32]) -> None:
        """Fills one block of gaps: parts (labels, kept), gap_ms (kept,) and skipped (kept,)."""
        block = slice(first, first + BLOCK + 1)
        emitted = self.emitted[block]
        before, begun = self.stamps.at(emitted, self.log.emissions["step"][block])
        ticks = before[:, 1:] - before[:, :-1]  # (labels, rows)
        sat_out = begun[1:] - begun[:-1] - 1
        self._take_out_evicted(first, ticks, sat_out)
        self.clock.ms(ticks.take(kept, axis=1), out=parts)
        self.clock.ms(np.diff(emitted).take(kept), out=gap_ms)
        np.maximum(sat_out.take(kept), 0, out=skipped, casting="same_kind")

    def _take_out_evicted(self, first: int, ticks: Ticks, sat_out: Places) -> None:
        """Moves evicted time of a block from what ran to preempt, and drops the skips it explains."""
        some = slice(*np.searchsorted(self.evicted.gap, [first, first + len(sat_out)]))
        rows, context = self.evicted.gap[some] - first, self.evicted.context[:, some]
        live = ticks[:, rows] - context
        live[PREEMPT] += self.evicted.evicted[some]
        ticks[:, rows] = self.rules.live(live, context)
        sat_out[rows] -= self.evicted.explained[some]
