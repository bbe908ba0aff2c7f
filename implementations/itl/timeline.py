"""Labelled time: which label owns each instant of a log, and how much of each label lies before any instant.

Follows: the measure of a set of intervals. A log is cut once at every stamp into disjoint intervals with one
label each; C_label(t), the time of that label before t, is then piecewise linear, and the time of a label in
any window [x, y] is C_label(y) - C_label(x).
Leaves out: what the labels mean. `partition.py` decides which record owns an interval.

Time is counted in whole ticks of a power of two of a second, chosen so that the log spans just under 2**61 of
them (an hour resolves 2e-15 s, finer than the stamps). Sums of integers lose nothing: windows add up exactly,
and C_label never falls, so that no window can hold a negative time, however long the log.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from implementations.itl.events import EventLog

CAUSES = ("prefill", "preempt", "graph", "gc", "tok")
LABELS = (*CAUSES, "forward", "offcpu", "residual")
PREFILL, PREEMPT, GRAPH, GC, TOK, FORWARD, OFFCPU, RESIDUAL = range(len(LABELS))
UNLABELLED = -1

SPAN_BITS, FINEST_EXPONENT = 61, 1000  # the latter so that 2.0**exponent is finite for any span
# A share of an interval is taken in float64, which is exact enough to keep C_label from falling while the
# interval has well under 2**53 ticks. Longer ones are cut; the whole span needs at most 2**11 such cuts.
LONGEST_INTERVAL = 1 << 50

BLOCK = 1 << 15  # rows handled at a time; keeps temporaries in cache and off the memory bill

Ticks = NDArray[np.int64]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Clock:
    """Turns stamps in seconds into ticks since the first record, and ticks into milliseconds."""

    origin_s: float
    exponent: int
    span: int

    @classmethod
    def of(cls, log: EventLog) -> Clock:
        """The clock of a log: zero at its first record, as fine as 61 bits allow."""
        stamps = [
            log.steps["start_s"],
            log.steps["end_s"],
            log.segments["start_s"],
            log.segments["end_s"],
            log.collections["start_s"],
            log.collections["end_s"],
            log.emissions["time_s"],
            log.evictions["evicted_s"],
            log.evictions["readmitted_s"][~np.isnan(log.evictions["readmitted_s"])],
        ]
        first = min((float(s.min()) for s in stamps if s.size), default=0.0)
        last = max((float(s.max()) for s in stamps if s.size), default=0.0)
        return cls.spanning(first, last)

    @classmethod
    def spanning(cls, first_s: float, last_s: float) -> Clock:
        """The clock of a log whose records lie between two stamps."""
        exponent = min(SPAN_BITS - int(np.frexp(last_s - first_s)[1]), FINEST_EXPONENT)
        return cls(first_s, exponent, round((last_s - first_s) * 2.0**exponent))

    def milestones(self) -> Ticks:
        """Zero, the end of the log, and enough cuts between for no interval to be too long for a share."""
        return np.append(np.arange(0, self.span, LONGEST_INTERVAL), self.span)

    def ticks(self, time_s: Floats) -> Ticks:
        """Ticks since the first record; rebased in seconds, where nearby stamps subtract exactly."""
        rebased = np.subtract(time_s, self.origin_s)
        rebased *= 2.0**self.exponent
        return np.rint(rebased, out=rebased).astype(np.int64)

    def ms(self, ticks: Ticks, out: Floats | None = None) -> Floats:
        """Milliseconds; one rounding, since 1000 times a power of two is exact."""
        return np.multiply(ticks, 1000.0 * 2.0**-self.exponent, out=out)


def first_come(start: Ticks, end: Ticks, group: Places | None = None) -> tuple[Ticks, Ticks]:
    """Leaves every instant to the first record that covers it, within each group.

    Records sorted by start can only be cut short from the left: whatever earlier records cover beyond a
    record's start is one interval, up to the furthest end so far. So each keeps one interval, or nothing.

    Args:
        start: starts, shape (n,), ascending within a group.
        end: ends, shape (n,).
        group: group of each record, shape (n,), ascending; one group if None.

    Returns:
        Start and end of what each record keeps, shape (n,) each; disjoint within a group, perhaps empty.
    """
    if len(start) < 2:
        return start, end
    if group is None:
        reach = np.maximum.accumulate(end)[:-1]
        same = np.ones(len(reach), np.bool_)
    else:
        # Ends are ranked so that a running maximum over (group, rank) restarts with every group.
        by_end = np.argsort(end, kind="stable")
        rank = np.empty(len(end), np.int64)
        rank[by_end] = np.arange(len(end))
        reach = end[by_end[np.maximum.accumulate(group * len(end) + rank)[:-1] % len(end)]]
        same = group[1:] == group[:-1]
    begin = start.copy()
    begin[1:] = np.where(same, np.maximum(start[1:], reach), start[1:])
    return begin, np.maximum(begin, end)


def nonempty(start: Ticks, end: Ticks) -> tuple[Ticks, Ticks]:
    """Drops empty intervals."""
    kept = end > start
    return start[kept], end[kept]


def time_before(start: Ticks, end: Ticks, at: Ticks) -> Ticks:
    """How much of some disjoint ascending intervals lies before each instant.

    Args:
        start: starts, shape (n,).
        end: ends, shape (n,).
        at: instants, shape (m,).

    Returns:
        Ticks before each instant, shape (m,).
    """
    if not len(start):
        return np.zeros(len(at), np.int64)
    begun = np.searchsorted(start, at, side="right")
    total = np.concatenate([[0], np.cumsum(end - start)])
    still_ahead = np.maximum(end[np.maximum(begun, 1) - 1] - at, 0)
    return total[begun] - np.where(begun > 0, still_ahead, 0)


def covering(start: Ticks, end: Ticks, at: Ticks) -> Places:
    """Which of some disjoint ascending intervals, taken half open, holds each instant; -1 where none does."""
    if not len(start):
        return np.full(len(at), -1)
    place = np.searchsorted(start, at, side="right") - 1
    return np.where((place >= 0) & (at < end[place]), place, -1)


def depth(start: Ticks, end: Ticks, cuts: Ticks) -> NDArray[np.int64]:
    """How many records cover the interval that begins at each cut; every start and end must be a cut."""
    steps = np.zeros(len(cuts), np.int64)
    np.add.at(steps, np.searchsorted(cuts, start), 1)
    np.add.at(steps, np.searchsorted(cuts, end), -1)
    return np.cumsum(steps)


def distinct(ticks: Ticks) -> Ticks:
    """Sorts and drops repeats; np.unique of NumPy 2.3 hashes, several times slower on stamps near order."""
    ascending = np.sort(ticks)
    kept: Ticks = ascending[np.append(True, ascending[1:] != ascending[:-1])]
    return kept


@dataclass(frozen=True)
class Timeline:
    """Disjoint labelled intervals from one cut to the next, and the cumulative time of each label.

    Args:
        cuts: where each interval begins, shape (k,), ascending and unique.
        label: place in `LABELS` of each interval, shape (k,); `UNLABELLED` time is charged to nobody.
        offcpu: share of each interval off the processor, shape (k,).
        graph: share of the rest that is graph excess, shape (k,).
    """

    cuts: Ticks
    label: NDArray[np.int64]
    offcpu: Floats
    graph: Floats
    before: Ticks  # (k, labels): time of each label before each cut

    @classmethod
    def laid_out(cls, cuts: Ticks, label: NDArray[np.int64], offcpu: Floats, graph: Floats) -> Timeline:
        """Sums the labels up along the cuts; the last interval has no end and is summed up by nobody."""
        before = np.zeros((len(cuts), len(LABELS)), np.int64)
        for first in range(0, len(cuts) - 1, BLOCK):
            rows = slice(first, min(first + BLOCK, len(cuts) - 1))
            length = np.diff(cuts[rows.start : rows.stop + 1])
            charged = _charged(length, label[rows], offcpu[rows], graph[rows])
            charged[0] += before[first]
            np.cumsum(charged, axis=0, out=before[first + 1 : rows.stop + 1])
        return cls(cuts, label, offcpu, graph, before)

    def time_before(self, at: Ticks) -> Ticks:
        """Ticks of each label before each instant, none of which lies before the first cut.

        Args:
            at: instants, shape (m,).

        Returns:
            C_label at each instant, shape (m, labels).
        """
        place = np.searchsorted(self.cuts, at, side="right") - 1
        total = self.before[place]
        total += _charged(at - self.cuts[place], self.label[place], self.offcpu[place], self.graph[place])
        return total


def _charged(length: Ticks, label: NDArray[np.int64], offcpu: Floats, graph: Floats) -> Ticks:
    """Splits lengths (m,) over labels (m, labels), so that each share grows with the length.

    The floor of a share of x grows with x and so does what it leaves; taking the second share of what the
    first left, rather than both of x, is what keeps the last remainder from ever stepping back.
    """
    charged = np.zeros((len(length), len(LABELS)), np.int64)
    owned = label != UNLABELLED
    left = np.where(owned, length, 0)
    for column, share in ((OFFCPU, offcpu), (GRAPH, graph)):
        some = np.flatnonzero(share)
        part = np.floor(left[some] * share[some]).astype(np.int64)
        charged[some, column] = part
        left[some] -= part
    charged[np.arange(len(length)), np.where(owned, label, 0)] += left
    return charged
