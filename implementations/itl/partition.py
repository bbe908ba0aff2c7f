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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.itl.baseline import Baseline, fit_line
from implementations.itl.events import DECODE, EAGER, EventLog
from implementations.itl.timeline import (
    FORWARD,
    GC,
    LABELS,
    PREEMPT,
    PREFILL,
    RESIDUAL,
    TOK,
    UNLABELLED,
    Clock,
    Floats,
    Ticks,
    Timeline,
    covering,
    depth,
    first_come,
    time_before,
)

KIND_LABEL = np.array([TOK, PREEMPT, PREFILL, FORWARD])  # in the order of KINDS
BLOCK = 1 << 14  # emissions handled at a time; keeps the temporaries in cache and off the memory bill

Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rules:
    """The decisions of the partition, one small function each, so that a planted fault is a replaced one."""

    evicted_union: Callable[[Ticks, Ticks, Places], tuple[Ticks, Ticks]] = first_come
    readmitted: Callable[[Ticks, int], Ticks] = lambda end, _forever: end
    clip: Callable[[Ticks, Ticks, Ticks, Ticks], tuple[Ticks, Ticks]] = lambda evicted, readmitted, start, end: (
        np.maximum(evicted, start),
        np.minimum(readmitted, end),
    )
    owner: Callable[[NDArray[np.int64], Flags], NDArray[np.int64]] = lambda segment, in_collection: np.where(
        in_collection, GC, segment
    )
    decode_time: Callable[[Ticks, Ticks], Ticks] = lambda wall, collected: wall - collected
    excess_share: Callable[[Floats, Floats], Floats] = lambda decode_ms, baseline_ms: np.clip(
        (decode_ms - baseline_ms) / decode_ms, 0.0, 1.0
    )
    live: Callable[[Ticks, Ticks], Ticks] = lambda parts, _context: parts
    uncovered: Callable[[NDArray[np.int64]], Flags] = lambda records: records == 0


RULES = Rules()


@dataclass(frozen=True, eq=False)
class Partition:
    """Every gap of a log, by request and time, split over `LABELS`.

    Args:
        gap_ms: length of each gap, shape (n,).
        request: id of its request, shape (n,).
        start_step: step that emitted the token before the gap, shape (n,), -1 where not on record.
        end_step: step that emitted the token after it, shape (n,).
        parts: ms per label, shape (n,) each; they add up to the gap and none is negative.
        context: what the engine did while the request was evicted, ms per label, shape (n,) each; it adds
            up to the evicted time and is no part of the gap.
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
    context: dict[str, Floats]
    baseline: Baseline
    skipped_steps: NDArray[np.int32]
    emitted_while_evicted: Flags
    unjudged_steps: Places
    negative_baseline_steps: Places

    def __len__(self) -> int:
        return len(self.gap_ms)

    @property
    def graph_identifiable(self) -> bool:
        """Whether the graph excess of every step could be told."""
        return not len(self.unjudged_steps)

    @property
    def baseline_usable(self) -> bool:
        """Whether the baseline made sense wherever it was read: identifiable, not falling, not negative."""
        return self.graph_identifiable and not self.baseline.falling and not len(self.negative_baseline_steps)


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
    segments = _Segments.of(log, clock, rules)
    yardstick = _as_baseline(baseline, segments, log)
    excess = _Excess.of(log, segments.decode_ms, yardstick, rules)
    timeline = _lay_out(clock, segments, excess.share, rules)
    emitted = clock.ticks(log.emissions["time_s"])
    evictions = _Evictions.of(log, clock, emitted, rules)
    return _collect(log, clock, timeline, emitted, evictions, yardstick, excess, rules)


def fit_baseline(log: EventLog, rules: Rules = RULES) -> Baseline:
    """Fits the baseline to the captured steps of a log that spent time decoding."""
    return _fitted(_Segments.of(log, Clock.of(log), rules), log)


def _as_baseline(baseline: Baseline | tuple[float, float] | None, segments: _Segments, log: EventLog) -> Baseline:
    if baseline is None:
        return _fitted(segments, log)
    return baseline if isinstance(baseline, Baseline) else Baseline(*baseline)


def _fitted(segments: _Segments, log: EventLog) -> Baseline:
    usable = (log.steps["captured"] > EAGER) & (segments.decode_ms > 0)
    return fit_line(log.steps["captured"][usable], segments.decode_ms[usable])


@dataclass(frozen=True)
class _Segments:
    """Segments and collections in ticks, with what each segment and each step did of its own."""

    step: NDArray[np.int64]
    kind: NDArray[np.int8]
    start: Ticks
    end: Ticks
    gc_start: Ticks  # as recorded
    gc_end: Ticks
    gc_alone: tuple[Ticks, Ticks]  # their union, disjoint
    offcpu: Floats
    decode_ms: Floats  # per step

    @classmethod
    def of(cls, log: EventLog, clock: Clock, rules: Rules) -> _Segments:
        segments, collections = log.segments, log.collections
        start, end = clock.ticks(segments["start_s"]), clock.ticks(segments["end_s"])
        gc_start, gc_end = clock.ticks(collections["start_s"]), clock.ticks(collections["end_s"])
        union = _nonempty(*first_come(gc_start, gc_end))
        ran = np.ldexp(segments["cpu_s"], clock.exponent)
        offcpu = _offcpu_share(ran, end - start - _collected(union, start, end))
        step, kind = segments["step"], segments["kind"]
        decode = np.flatnonzero(kind == DECODE)
        decode = decode[np.argsort(step[decode], kind="stable")]
        own_start, own_end = first_come(start[decode], end[decode], step[decode])
        spent = rules.decode_time(own_end - own_start, _collected(union, own_start, own_end))
        on_cpu = clock.ms(spent) * (1.0 - offcpu[decode])
        decode_ms = np.bincount(step[decode], on_cpu, len(log.steps)).astype(np.float64)
        return cls(step, kind, start, end, gc_start, gc_end, union, offcpu, decode_ms)


def _nonempty(start: Ticks, end: Ticks) -> tuple[Ticks, Ticks]:
    kept = end > start
    return start[kept], end[kept]


def _collected(union: tuple[Ticks, Ticks], start: Ticks, end: Ticks) -> Ticks:
    return time_before(*union, end) - time_before(*union, start)


def _offcpu_share(ran: Floats, wall: Ticks) -> Floats:
    """The share of a segment off the processor; none where its time was not measured or all collected."""
    known = ~np.isnan(ran) & (wall > 0)
    share = np.zeros(len(ran))
    share[known] = np.clip(1.0 - ran[known] / wall[known], 0.0, 1.0)
    return share


@dataclass(frozen=True)
class _Excess:
    """Share of each step's decode time above the baseline, and where there is no telling."""

    share: Floats
    unjudged: Places
    negative: Places

    @classmethod
    def of(cls, log: EventLog, decode_ms: Floats, baseline: Baseline, rules: Rules) -> _Excess:
        eager = (log.steps["captured"] == EAGER) & (decode_ms > 0)
        expected = baseline.at(log.steps["n_decode"])
        judged = eager & ~np.isnan(expected)
        share = np.zeros(len(eager))
        share[judged] = rules.excess_share(decode_ms[judged], expected[judged])
        return cls(share, np.flatnonzero(eager & ~judged), np.flatnonzero(judged & (expected < 0)))


def _lay_out(clock: Clock, segments: _Segments, excess: Floats, rules: Rules) -> Timeline:
    """Cuts the log at every stamp and names the owner of each interval."""
    start = np.concatenate([segments.start, segments.gc_start])
    end = np.concatenate([segments.end, segments.gc_end])
    cuts = np.unique(np.concatenate([start, end, clock.milestones()]))
    owner = _owner(segments, cuts)
    owner_label = (
        np.where(owner >= 0, KIND_LABEL[segments.kind[owner]], UNLABELLED)
        if len(segments.kind)
        else np.full(len(cuts), UNLABELLED)
    )
    label = rules.owner(owner_label, covering(*segments.gc_alone, cuts) >= 0)
    # Residual is what no record covers, found without the owners: an instant that lost its owner on the way
    # stays unlabelled, and the parts no longer add up to the gap.
    label = np.where(rules.uncovered(depth(start, end, cuts)), RESIDUAL, label)
    worked = (owner >= 0) & (label == owner_label)
    offcpu, graph = np.zeros(len(cuts)), np.zeros(len(cuts))
    offcpu[worked] = segments.offcpu[owner[worked]]
    decoding = worked & (label == FORWARD)
    graph[decoding] = excess[segments.step[owner[decoding]]]
    return Timeline.laid_out(cuts, label, offcpu, graph)


def _owner(segments: _Segments, cuts: Ticks) -> Places:
    """The segment that owns the interval beginning at each cut, or -1."""
    start, end = first_come(segments.start, segments.end)
    kept = np.flatnonzero(end > start)
    place = covering(start[kept], end[kept], cuts)
    return np.where(place >= 0, kept[place], -1) if len(kept) else place


@dataclass(frozen=True)
class _Evictions:
    """Evicted windows of all requests, disjoint within each, with the gaps that each one touches."""

    start: Ticks
    end: Ticks
    first: Places  # first and last gap touched; a gap goes by the place of the emission before it
    last: Places
    reach: Places  # furthest gap touched by this window or an earlier one
    contradicted: Flags  # per emission: strictly inside a recorded eviction

    @classmethod
    def of(cls, log: EventLog, clock: Clock, emitted: Ticks, rules: Rules) -> _Evictions:
        run_start, run_end, evicted, run = _runs(log)
        forever = clock.span + 1
        opened = clock.ticks(evicted["evicted_s"])
        closed = np.full(len(evicted), forever)
        shut = ~np.isnan(evicted["readmitted_s"])
        closed[shut] = clock.ticks(evicted["readmitted_s"][shut])
        inside = _mark(
            len(emitted),
            _search(emitted, opened, run_start[run], run_end[run], right=True),
            _search(emitted, closed, run_start[run], run_end[run], right=False),
        )
        start, end = rules.evicted_union(opened, rules.readmitted(closed, forever), run)
        kept = end > start
        start, end, run = start[kept], end[kept], run[kept]
        first = _search(emitted, start, run_start[run], run_end[run], right=True) - 1
        last = _search(emitted, end, run_start[run], run_end[run], right=False) - 1
        first, last = np.maximum(first, run_start[run]), np.minimum(last, run_end[run] - 2)
        reach = np.maximum.accumulate(last) if len(last) else last
        return cls(start, end, first, last, reach, inside)

    def touching(self, gap0: int, gap1: int) -> tuple[Places, Places]:
        """Pairs (window, gap) that touch, for gap0 <= gap < gap1."""
        window = np.arange(np.searchsorted(self.reach, gap0), np.searchsorted(self.first, gap1), dtype=np.intp)
        low, high = np.maximum(self.first[window], gap0), np.minimum(self.last[window], gap1 - 1)
        count = np.maximum(high - low + 1, 0)
        window, low = np.repeat(window, count), np.repeat(low, count)
        gap = low + np.arange(len(low)) - np.repeat(np.cumsum(count) - count, count)
        order = np.argsort(gap, kind="stable")
        return window[order], gap[order]


def _runs(log: EventLog) -> tuple[Places, Places, NDArray[np.void], Places]:
    """Where each request's emissions start and end, and the evictions of those requests with their run."""
    request = log.emissions["request"]
    bounds = np.flatnonzero(request[1:] != request[:-1]) + 1
    run_start = np.concatenate([[0], bounds]) if len(request) else bounds
    run_end = np.concatenate([bounds, [len(request)]]) if len(request) else bounds
    known = request[run_start]
    run = np.searchsorted(known, log.evictions["request"])
    emits = run < len(known)
    emits[emits] = known[run[emits]] == log.evictions["request"][emits]
    return run_start, run_end, log.evictions[emits], run[emits]


def _search(values: Ticks, needle: Ticks, low: Places, high: Places, *, right: bool) -> Places:
    """np.searchsorted inside a range of its own for each needle, all halved together."""
    low, high = low.copy(), high.copy()
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_]) // 2
        beyond = values[middle] <= needle[open_] if right else values[middle] < needle[open_]
        low[open_[beyond]] = middle[beyond] + 1
        high[open_[~beyond]] = middle[~beyond]
    return low


def _mark(n: int, low: Places, high: Places) -> Flags:
    """Flags every place that lies in one of the ranges low <= place < high."""
    change = np.zeros(n + 1, np.int32)
    some = high > low
    np.add.at(change, low[some], 1)
    np.add.at(change, high[some], -1)
    return np.greater(np.cumsum(change[:-1], dtype=np.int32), 0)


@dataclass(frozen=True)
class _DecodeSteps:
    """Windows of the steps that decoded, disjoint and ascending."""

    start: Ticks
    end: Ticks

    @classmethod
    def of(cls, log: EventLog, clock: Clock) -> _DecodeSteps:
        steps = log.steps[log.steps["n_decode"] > 0]
        return cls(*_nonempty(*first_come(clock.ticks(steps["start_s"]), clock.ticks(steps["end_s"]))))

    def begun_before(self, at: Ticks) -> Places:
        return np.searchsorted(self.start, at, side="left")

    def over_by(self, at: Ticks) -> Places:
        return np.searchsorted(self.end, at, side="right")


@dataclass(frozen=True)
class _Block:
    """Some consecutive emissions' gaps, in ticks; rows that cross from one request to the next are junk."""

    parts: Ticks  # (gaps, labels)
    context: Ticks  # (gaps, labels)
    skipped: Places


def _blocks(
    timeline: Timeline, emitted: Ticks, evictions: _Evictions, steps: _DecodeSteps, rules: Rules
) -> Iterator[tuple[slice, _Block]]:
    for first in range(0, max(len(emitted) - 1, 0), BLOCK):
        gaps = slice(first, min(first + BLOCK, len(emitted) - 1))
        at = emitted[gaps.start : gaps.stop + 1]
        before, begun = timeline.time_before(at), steps.begun_before(at)
        block = _Block(
            before[1:] - before[:-1],
            np.zeros((len(at) - 1, len(LABELS)), np.int64),
            begun[1:] - begun[:-1] - 1,
        )
        _take_out_evicted(block, gaps, begun, timeline, emitted, evictions, steps, rules)
        yield gaps, block


def _take_out_evicted(
    block: _Block,
    gaps: slice,
    begun: Places,
    timeline: Timeline,
    emitted: Ticks,
    evictions: _Evictions,
    steps: _DecodeSteps,
    rules: Rules,
) -> None:
    """Moves evicted time of a block from what ran to preempt, and what ran to context."""
    window, gap = evictions.touching(gaps.start, gaps.stop)
    if not len(gap):
        return
    start, end = rules.clip(evictions.start[window], evictions.end[window], emitted[gap], emitted[gap + 1])
    ran = timeline.time_before(end) - timeline.time_before(start)  # (pairs, labels)
    firsts = np.flatnonzero(np.concatenate([[True], gap[1:] != gap[:-1]]))
    rows = gap[firsts] - gaps.start
    block.context[rows] = np.add.reduceat(ran, firsts, axis=0)
    block.parts[rows] -= block.context[rows]
    block.parts[rows, PREEMPT] += np.add.reduceat(end - start, firsts)
    explained = _explained(evictions, steps, window, gap, begun[gap - gaps.start], begun[gap - gaps.start + 1] - 1)
    block.skipped[rows] -= np.add.reduceat(explained, firsts)
    block.parts[rows] = rules.live(block.parts[rows], block.context[rows])


def _explained(
    evictions: _Evictions, steps: _DecodeSteps, window: Places, gap: Places, low: Places, high: Places
) -> Places:
    """Skipped steps, low <= step < high, that overlap each window and no earlier one of the same gap."""
    until = steps.begun_before(evictions.end[window])
    since = np.maximum(low, steps.over_by(evictions.start[window]))
    again = gap[1:] == gap[:-1]
    since[1:][again] = np.maximum(since[1:][again], until[:-1][again])
    return np.maximum(np.minimum(until, high) - since, 0)


def _collect(
    log: EventLog,
    clock: Clock,
    timeline: Timeline,
    emitted: Ticks,
    evictions: _Evictions,
    baseline: Baseline,
    excess: _Excess,
    rules: Rules,
) -> Partition:
    """Runs over the blocks and gathers their gaps in ms."""
    request, step = log.emissions["request"], log.emissions["step"]
    same = request[1:] == request[:-1]
    n = int(np.count_nonzero(same))
    parts, context = np.empty((len(LABELS), n)), np.zeros((len(LABELS), n))
    skipped = np.empty(n, np.int32)
    done = 0
    for gaps, block in _blocks(timeline, emitted, evictions, _DecodeSteps.of(log, clock), rules):
        kept = same[gaps]
        into = slice(done, done + int(np.count_nonzero(kept)))
        parts[:, into] = clock.ms(block.parts[kept]).T
        context[:, into] = clock.ms(block.context[kept]).T
        skipped[into] = np.maximum(block.skipped[kept], 0)
        done = into.stop
    return Partition(
        gap_ms=clock.ms(np.diff(emitted)[same]),
        request=request[1:][same],
        start_step=step[:-1][same],
        end_step=step[1:][same],
        parts=dict(zip(LABELS, parts)),
        context=dict(zip(LABELS, context)),
        baseline=baseline,
        skipped_steps=skipped,
        emitted_while_evicted=evictions.contradicted[1:][same],
        unjudged_steps=excess.unjudged,
        negative_baseline_steps=excess.negative,
    )
