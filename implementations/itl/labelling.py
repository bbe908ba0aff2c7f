"""From a log's segments and collections to labelled time: who owns each interval, and in which shares.

Follows: steps 2 to 4 of the rule at the top of `partition.py`, which are the same for every request.
Leaves out: evictions, which differ from request to request (`evictions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from implementations.itl.baseline import Baseline, fit_line
from implementations.itl.events import DECODE, EAGER, EventLog
from implementations.itl.rules import Rules
from implementations.itl.timeline import (
    FORWARD,
    PREEMPT,
    PREFILL,
    RESIDUAL,
    TOK,
    UNLABELLED,
    Clock,
    Floats,
    Places,
    Ticks,
    Timeline,
    covering,
    depth,
    distinct,
    first_come,
    nonempty,
    time_before,
)

KIND_LABEL = np.array([TOK, PREEMPT, PREFILL, FORWARD])  # in the order of KINDS


@dataclass(frozen=True)
class Segments:
    """Segments and collections in ticks, and what each segment and each step did of its own.

    Args:
        step: step of each segment, shape (n,).
        kind: its kind, shape (n,).
        start: its start, shape (n,), ascending.
        end: its end, shape (n,).
        gc_start: start of each collection as recorded, shape (m,), ascending.
        gc_end: its end, shape (m,).
        gc_union: starts and ends of the collections' union, disjoint.
        offcpu: share of each segment's collection-free time off the processor, shape (n,).
        decode_ms: collection-free time on the processor of each step's decode segments, shape (steps,).
    """

    step: NDArray[np.int64]
    kind: NDArray[np.int8]
    start: Ticks
    end: Ticks
    gc_start: Ticks
    gc_end: Ticks
    gc_union: tuple[Ticks, Ticks]
    offcpu: Floats
    decode_ms: Floats

    @classmethod
    def of(cls, log: EventLog, clock: Clock, rules: Rules) -> Segments:
        """Reads them off a log."""
        segments, collections = log.segments, log.collections
        step, kind = np.ascontiguousarray(segments["step"]), np.ascontiguousarray(segments["kind"])
        start, end = clock.ticks(segments["start_s"]), clock.ticks(segments["end_s"])
        gc_start, gc_end = clock.ticks(collections["start_s"]), clock.ticks(collections["end_s"])
        gc_union = nonempty(*first_come(gc_start, gc_end))
        ran = np.ldexp(segments["cpu_s"], clock.exponent)
        offcpu = _offcpu_share(ran, end - start - _collected(gc_union, start, end))
        decode = np.flatnonzero(kind == DECODE)
        decode = decode[np.argsort(step[decode], kind="stable")]
        own_start, own_end = first_come(start[decode], end[decode], step[decode])
        spent = rules.decode_time(own_end - own_start, _collected(gc_union, own_start, own_end))
        on_cpu = clock.ms(spent) * (1.0 - offcpu[decode])
        decode_ms = np.bincount(step[decode], on_cpu, len(log.steps)).astype(np.float64)
        return cls(step, kind, start, end, gc_start, gc_end, gc_union, offcpu, decode_ms)


def _collected(union: tuple[Ticks, Ticks], start: Ticks, end: Ticks) -> Ticks:
    return time_before(*union, end) - time_before(*union, start)


def _offcpu_share(ran: Floats, wall: Ticks) -> Floats:
    """The share of a segment off the processor; none where its time was not measured or all collected."""
    known = ~np.isnan(ran) & (wall > 0)
    share = np.zeros(len(ran))
    share[known] = np.clip(1.0 - ran[known] / wall[known], 0.0, 1.0)
    return share


def fit_captured(log: EventLog, segments: Segments) -> Baseline:
    """Fits the baseline to the captured steps that spent time decoding."""
    usable = (log.steps["captured"] > EAGER) & (segments.decode_ms > 0)
    return fit_line(log.steps["captured"][usable], segments.decode_ms[usable])


@dataclass(frozen=True)
class Excess:
    """Share of each step's decode time above the baseline, and the steps where it could not be told.

    Args:
        share: shape (steps,), 0 for steps with a captured graph.
        unjudged: steps without one for which the baseline says nothing.
        negative: steps without one for which the baseline is below zero.
    """

    share: Floats
    unjudged: Places
    negative: Places

    @classmethod
    def of(cls, log: EventLog, decode_ms: Floats, baseline: Baseline, rules: Rules) -> Excess:
        """Compares every step that ran without a captured graph to the baseline at its batch size."""
        eager = (log.steps["captured"] == EAGER) & (decode_ms > 0)
        expected = baseline.at(log.steps["n_decode"])
        judged = eager & ~np.isnan(expected)
        share = np.zeros(len(eager))
        share[judged] = rules.excess_share(decode_ms[judged], expected[judged])
        return cls(share, np.flatnonzero(eager & ~judged), np.flatnonzero(judged & (expected < 0)))


def lay_out(clock: Clock, segments: Segments, excess: Floats, rules: Rules) -> Timeline:
    """Cuts the log at every stamp and gives each interval its label and shares.

    Args:
        clock: the log's clock.
        segments: its segments and collections.
        excess: share of graph excess of each step, shape (steps,).
        rules: the decisions.
    """
    start = np.concatenate([segments.start, segments.gc_start])
    end = np.concatenate([segments.end, segments.gc_end])
    cuts = distinct(np.concatenate([start, end, clock.milestones()]))
    owner = _owner(segments, cuts)
    owned = np.flatnonzero(owner >= 0)
    owner_label = np.full(len(cuts), UNLABELLED)
    owner_label[owned] = KIND_LABEL[segments.kind[owner[owned]]]
    label = rules.owner(owner_label, covering(*segments.gc_union, cuts) >= 0)
    # Residual is what no record covers, found without the owners: an instant that lost its owner on the way
    # stays unlabelled, and the parts no longer add up to the gap.
    label = np.where(rules.uncovered(depth(start, end, cuts)), RESIDUAL, label)
    offcpu, graph = np.zeros(len(cuts)), np.zeros(len(cuts))
    worked = owned[label[owned] == owner_label[owned]]
    offcpu[worked] = segments.offcpu[owner[worked]]
    decoding = worked[label[worked] == FORWARD]
    graph[decoding] = excess[segments.step[owner[decoding]]]
    return Timeline.laid_out(cuts, label, offcpu, graph)


def _owner(segments: Segments, cuts: Ticks) -> Places:
    """The segment that owns the interval beginning at each cut, or -1."""
    start, end = first_come(segments.start, segments.end)
    kept = np.flatnonzero(end > start)
    place = covering(start[kept], end[kept], cuts)
    return np.append(kept, -1)[place]  # a place of -1 finds the -1 at the end
