"""The partition of a log that is larger than memory: the same gaps, to the tick, from one quiet instant to the next.

Follows: `partition.py`. The time of a label inside a gap is C(end) - C(start), with C the time of that label since
the log began (`timeline.py`), so a gap may be as long as it likes: of its first token one row of sums is kept.

The log is cut where nothing is under way. An instant is *quiet* if no collection and no step lies across it, where a
step lasts from the first to the last stamp of it and of its segments. What comes later cannot then change what lies
before: not who owns an interval, not a segment's time off the processor, not a step's graph excess. Between any two
steps of a single loop there is such an instant. Where steps overlap without end there is none, and a log with more
than `Limits.records` records between two of them is refused. The order of lines does not matter: they are sorted on
disk first (`spill.py`), so no line comes too late.

Leaves out: planted faults (`rules.py`), and which step emitted a token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from implementations.itl.baseline import Baseline, LineFit
from implementations.itl.event_tables import UNKNOWN, table_dtype
from implementations.itl.events import EAGER, EventLog
from implementations.itl.evicted_sums import READING, EvictedSums, Readings
from implementations.itl.gap_file import GAP, GapFile, Gaps
from implementations.itl.labelling import Excess, Segments, lay_out
from implementations.itl.rules import RULES
from implementations.itl.runs import Rows
from implementations.itl.skips import DecodeSteps
from implementations.itl.spill import EXTENT, Spill
from implementations.itl.timeline import BLOCK, LABELS, Clock, Places, Ticks, Timeline

WINDOW_RECORDS = 1 << 15


@dataclass(frozen=True)
class Window:
    """The engine between two quiet instants: a log of its steps, segments and collections alone.

    Args:
        begin_s: the first instant, -inf for the first window.
        until_s: the second, inf for the last; it belongs to the next window.
        log: no emissions, evictions or requests.
    """

    begin_s: float
    until_s: float
    log: EventLog


@dataclass
class Streamed:
    """What a streamed partition found; the gaps themselves are on disk.

    Args:
        gaps: the gaps, in the order of their last tokens (of several at one instant, by request).
        baseline: the one that graph excess was taken over.
        evictions: evicted windows of each request, disjoint.
        emitting: how many requests emit.
        records: steps, segments and collections read, by table.
        overlapping: how many of each begin before an earlier one has ended.
        unjudged_steps: steps without a captured graph whose excess the baseline cannot tell.
        negative_baseline_steps: steps for which the baseline was below zero and taken as zero.
    """

    gaps: GapFile
    clock: Clock
    baseline: Baseline
    evictions: EvictedSums
    emitting: int = 0
    records: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("steps", "segments", "collections"), 0))
    overlapping: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("steps", "segments", "collections"), 0))
    unjudged_steps: int = 0
    negative_baseline_steps: int = 0


def windows(spill: Spill, records: int = WINDOW_RECORDS) -> Iterator[Window]:
    """Cuts a log at quiet instants, into windows of about `records` records.

    Raises:
        ValueError: more than `Limits.records` records without a quiet instant among them.
    """
    begin_s = -math.inf
    for extents, until_s in _between_quiet_instants(spill, records):
        yield Window(begin_s, until_s, _engine_log(spill, extents, begin_s, until_s))
        begin_s = until_s


def stream_partition(
    spill: Spill,
    gaps: GapFile,
    baseline: Baseline | tuple[float, float] | None = None,
    *,
    window_records: int = WINDOW_RECORDS,
    block_emissions: int = BLOCK,
) -> Streamed:
    """Splits every gap of a log on disk over `LABELS`.

    Args:
        spill: the log.
        gaps: where the gaps go.
        baseline: as for `partition`; fitted in a pass of its own if None.
        window_records: about how many steps, segments and collections are worked on at a time.
        block_emissions: about how many emissions are.

    Raises:
        ValueError: a baseline that is not finite, or no quiet instant for too long.
    """
    clock = clock_of(spill)
    if baseline is None:
        baseline = fit_streamed(spill, clock, window_records)
    elif not isinstance(baseline, Baseline):
        baseline = Baseline(*baseline)
    found = Streamed(gaps, clock, baseline, EvictedSums(spill.evictions, len(spill.codes), clock))
    _Splitter(spill, found, block_emissions).run(window_records)
    return found


def clock_of(spill: Spill) -> Clock:
    """The clock that the whole log in memory would have."""
    if spill.first_s > spill.last_s:
        return Clock.spanning(0.0, 0.0)
    return Clock.spanning(spill.first_s, spill.last_s)


def fit_streamed(spill: Spill, clock: Clock, window_records: int = WINDOW_RECORDS) -> Baseline:
    """Fits decode time against captured size, as `fit_baseline` does in memory."""
    fit = LineFit()
    for window in windows(spill, window_records):
        decode_ms = Segments.of(window.log, clock, RULES).decode_ms
        captured = window.log.steps["captured"]
        usable = (captured > EAGER) & (decode_ms > 0)
        fit.add(captured[usable], decode_ms[usable])
    return fit.line()


def _between_quiet_instants(spill: Spill, records: int) -> Iterator[tuple[Rows, float]]:
    """Extents in order of their begin, and the quiet instant after them."""
    held = np.empty(0, EXTENT)
    for bucket in spill.extents.buckets(records):
        held = np.concatenate([held, bucket])
        done = 0
        for cut in _cuts(spill, held, records).tolist():
            yield held[done:cut], float(held["begin_s"][cut])
            done = cut
        held = held[done:]
    yield held, math.inf


def _cuts(spill: Spill, extents: Rows, records: int) -> Places:
    """Places before which to cut: the first quiet one after every so many records."""
    reach = np.maximum.accumulate(extents["until_s"])
    quiet = np.flatnonzero(reach[:-1] <= extents["begin_s"][1:]) + 1
    so_far = np.cumsum(extents["records"])
    at_quiet = so_far[quiet - 1]
    stretches = np.diff(np.concatenate([[0], at_quiet, so_far[-1:]]))
    if len(stretches) and stretches.max() > spill.limits.records:
        after = extents["begin_s"][np.append(0, quiet)[int(np.argmax(stretches))]]
        raise ValueError(
            f"{spill.source}: from {after:.9g} s on, more than {spill.limits.records} records without an instant at"
            " which no step, segment or collection is under way; a log is cut at such instants"
        )
    cuts: Places = quiet[np.diff(np.append(0, at_quiet // records)) > 0]
    return cuts


def _engine_log(spill: Spill, extents: Rows, begin_s: float, until_s: float) -> EventLog:
    is_step = extents["place"] != UNKNOWN
    steps, pauses = extents[is_step], extents[~is_step]
    collections = np.empty(len(pauses), table_dtype("collections"))
    for column in ("start_s", "end_s"):
        collections[column] = pauses[column]
    collections["generation"] = pauses["n_decode"]
    return EventLog(
        steps=_columns("steps", steps),
        segments=_with_local_steps(spill.segments.between(begin_s, until_s), steps["place"]),
        collections=collections,
        **{name: np.empty(0, table_dtype(name)) for name in ("emissions", "evictions", "requests")},
    )


def _columns(table: str, rows: Rows) -> Rows:
    array = np.empty(len(rows), table_dtype(table))
    for column in array.dtype.names or ():
        array[column] = rows[column]
    return array


def _with_local_steps(segments: Rows, places: NDArray[np.int64]) -> Rows:
    """Renumbers the steps of segments by their place in `places`.

    A segment whose step is not there has no length and lies where two windows meet: it belongs to neither.
    """
    if not len(places):
        return segments[:0]
    order = np.argsort(places)
    found = np.minimum(np.searchsorted(places, segments["step"], sorter=order), len(places) - 1)
    local = segments.copy()
    local["step"] = order[found]
    known: Rows = local[places[local["step"]] == segments["step"]]
    return known


@dataclass(frozen=True)
class _Stretch:
    """Sums since the log began, for instants of one window; ticks count from the log's first record."""

    timeline: Timeline
    steps: DecodeSteps
    spent_before: Ticks  # (labels,): what to add to the window's own sums
    steps_before: int

    @classmethod
    def first(cls, timeline: Timeline, steps: DecodeSteps) -> _Stretch:
        return cls(timeline, steps, np.zeros(len(LABELS), np.int64), 0)

    def next(self, timeline: Timeline, steps: DecodeSteps, at: int) -> _Stretch:
        """The sums of the window that begins at an instant, this one's end."""
        instant = np.array([at])
        spent_before = self.spent(instant)[0] - timeline.time_before(instant)[0]
        return _Stretch(timeline, steps, spent_before, self.steps_before + len(self.steps.start))

    def spent(self, at: Ticks) -> Ticks:
        return self.timeline.time_before(at) + self.spent_before

    def begun(self, at: Ticks) -> Places:
        return self.steps_before + np.searchsorted(self.steps.start, at, side="left")

    def ended(self, at: Ticks) -> Places:
        return self.steps_before + np.searchsorted(self.steps.end, at, side="right")


class _Splitter:
    """Goes through the windows of a log and writes down the gaps that end in each."""

    def __init__(self, spill: Spill, found: Streamed, block_emissions: int) -> None:
        self.spill, self.found = spill, found
        self.bounds_s = np.array(spill.emissions.splitters(block_emissions))
        self.latest = np.zeros(len(spill.codes), READING)
        self.latest["at"] = -1

    def run(self, window_records: int) -> None:
        stretch: _Stretch | None = None
        for window in windows(self.spill, window_records):
            begin, until = self._instants(window)
            timeline, steps = self._lay_out(window), DecodeSteps.of(window.log, self.found.clock)
            stretch = stretch.next(timeline, steps, begin) if stretch else _Stretch.first(timeline, steps)
            self.found.evictions.read(stretch, begin, until)
            for emissions in self._emissions(window):
                self._split(emissions, stretch)
        self.found.emitting = int(np.count_nonzero(self.latest["at"] >= 0))

    def _instants(self, window: Window) -> tuple[int, int]:
        clock = self.found.clock
        ends = np.clip([window.begin_s, window.until_s], clock.origin_s, max(self.spill.last_s, clock.origin_s))
        begin, until = clock.ticks(ends).tolist()
        return begin, until

    def _lay_out(self, window: Window) -> Timeline:
        found, log = self.found, window.log
        segments = Segments.of(log, found.clock, RULES)
        excess = Excess.of(log, segments.decode_ms, found.baseline, RULES)
        found.unjudged_steps += len(excess.unjudged)
        found.negative_baseline_steps += len(excess.negative)
        for name in found.records:
            table = getattr(log, name)
            found.records[name] += len(table)
            reach = np.maximum.accumulate(table["end_s"])
            found.overlapping[name] += int(np.count_nonzero(table["start_s"][1:] < reach[:-1]))
        return lay_out(found.clock, segments, excess.share, RULES)

    def _emissions(self, window: Window) -> Iterator[Rows]:
        inside = (self.bounds_s > window.begin_s) & (self.bounds_s < window.until_s)
        bounds = [window.begin_s, *self.bounds_s[inside].tolist(), window.until_s]
        return (self.spill.emissions.between(low, high) for low, high in pairwise(bounds))

    def _split(self, emissions: Rows, stretch: _Stretch) -> None:
        """Writes down the gaps that end with some emissions."""
        emissions = emissions[np.lexsort((emissions["time_s"], emissions["request"]))]
        request, after = emissions["request"], self._readings(emissions, stretch)
        before = self._readings_before(request, after)
        is_gap = np.flatnonzero(before["at"] >= 0)
        gaps = self._gaps(request[is_gap], before[is_gap], after[is_gap])
        self.found.gaps.append(gaps[np.argsort(gaps["end_s"], kind="stable")])

    def _readings(self, emissions: Rows, stretch: _Stretch) -> Readings:
        at = self.found.clock.ticks(emissions["time_s"])
        readings = np.empty(len(at), READING)
        readings["at"], readings["time_s"] = at, emissions["time_s"]
        readings["spent"], readings["begun"] = stretch.spent(at), stretch.begun(at)
        return readings

    def _readings_before(self, request: Places, readings: Readings) -> Readings:
        """The reading at each request's emission before; its place is -1 where there is none."""
        before = np.empty_like(readings)
        before[1:] = readings[:-1]
        changes = request[1:] != request[:-1]
        head, tail = np.append(True, changes)[: len(request)], np.append(changes, True)[: len(request)]
        before[head] = self.latest[request[head]]
        self.latest[request[tail]] = readings[tail]
        return before

    def _gaps(self, request: Places, before: Readings, after: Readings) -> Gaps:
        clock, evictions = self.found.clock, self.found.evictions
        parts, sat_out = after["spent"] - before["spent"], after["begun"] - before["begun"] - 1
        evictions.take_out(request, before, after, parts, sat_out)
        gaps = np.empty(len(request), GAP)
        gaps["request"], gaps["start_s"], gaps["end_s"] = request, before["time_s"], after["time_s"]
        gaps["gap_ms"], gaps["parts_ms"] = clock.ms(after["at"] - before["at"]), clock.ms(parts)
        gaps["skipped_steps"] = np.maximum(sat_out, 0)
        gaps["emitted_while_evicted"] = evictions.contradicted(request, after["at"])
        return gaps
