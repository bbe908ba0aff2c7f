"""Wrong ways to split a gap: two that the decode-step-stall post corrects, one that it keeps, and one planted
fault for each decision of the partition.

Follows: the post's correction note. The source of its first version is not printed; these are its two
mistakes as described, each made on top of an otherwise right partition.
Leaves out: everything right (`partition.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from implementations.itl.baseline import Baseline
from implementations.itl.events import DECODE, PREFILL, SWAP, TOK, EventLog
from implementations.itl.partition import Partition, fit_baseline, partition
from implementations.itl.rules import RULES, Rules
from implementations.itl.timeline import GC, LABELS, UNLABELLED, Flags, Floats, Places, Ticks

Parts = dict[str, Floats]
BaselineLike = Baseline | tuple[float, float] | None


def charge_evictions_twice(split: Partition) -> Parts:
    """Bills evicted time to preempt and again to whatever work the engine did meanwhile.

    Returns:
        ms per label, shape (n,) each; they exceed the gap by the work done while the request was evicted.
    """
    work = {label: part for label, part in split.context.items() if label != "residual"}
    return {label: part + work.get(label, 0.0) for label, part in split.parts.items()}


def graph_excess_with_collections_in_total(log: EventLog, baseline: BaselineLike = None) -> Partition:
    """Takes collections out of a step's share of the gap but not out of its total before comparing it.

    The baseline, if it is to be fitted, is fitted as it should be: the mistake is in the comparison alone.
    """
    yardstick = fit_baseline(log) if baseline is None else baseline
    return partition(log, yardstick, replace(RULES, decode_time=_collections_included))


def residual_as_remainder(gap_ms: Floats, parts: Mapping[str, Floats]) -> Parts:
    """Defines residual as what is left of the gap, so that the parts add up whatever the others say."""
    others = {label: parts[label] for label in LABELS if label != "residual"}
    return {**others, "residual": gap_ms - np.sum(list(others.values()), axis=0)}


def charge_segments_regardless(log: EventLog, baseline: BaselineLike = None) -> Parts:
    """Charges each kind of segment for all of its time, whatever else ran then; residual is the remainder.

    Returns:
        ms per label, shape (n,) each; they add up to the gap, with a negative residual where kinds overlap.
    """
    yardstick = fit_baseline(log) if baseline is None else baseline
    empty = partition(replace(log, segments=log.segments[:0]), yardstick)
    parts = dict(empty.parts)
    for kind in (TOK, SWAP, PREFILL, DECODE):
        alone = partition(replace(log, segments=log.segments[log.segments["kind"] == kind]), yardstick)
        for label in set(LABELS) - {"residual"}:
            parts[label] = parts[label] + (alone.parts[label] - empty.parts[label])
    return residual_as_remainder(empty.gap_ms, parts)


def _each_record(evicted: Ticks, readmitted: Ticks, _request: Places) -> tuple[Ticks, Ticks]:
    return evicted, readmitted


def _never(readmitted: Ticks, forever: int) -> Ticks:
    return np.full_like(readmitted, forever)


def _whole(evicted: Ticks, readmitted: Ticks, _start: Ticks, _end: Ticks) -> tuple[Ticks, Ticks]:
    return evicted, readmitted


def _segment_first(segment_label: NDArray[np.int64], in_collection: Flags) -> NDArray[np.int64]:
    return np.where((segment_label == UNLABELLED) & in_collection, GC, segment_label)


def _collections_included(wall: Ticks, _collected: Ticks) -> Ticks:
    return wall


def _unclipped(decode_ms: Floats, baseline_ms: Floats) -> Floats:
    return np.divide(decode_ms - baseline_ms, decode_ms)


def _context_added(parts: Ticks, context: Ticks) -> Ticks:
    return parts + context


def _nowhere(records: NDArray[np.int64]) -> Flags:
    return np.zeros(len(records), np.bool_)


PLANTED_FAULTS: dict[str, Rules] = {
    "evictions not united": replace(RULES, evicted_union=_each_record),
    "readmission ignored": replace(RULES, readmitted=_never),
    "eviction not clipped to the gap": replace(RULES, clip=_whole),
    "segments before collections": replace(RULES, owner=_segment_first),
    "collections left in decode time": replace(RULES, decode_time=_collections_included),
    "excess not clipped": replace(RULES, excess_share=_unclipped),
    "context added to parts": replace(RULES, live=_context_added),
    "residual forced to zero": replace(RULES, uncovered=_nowhere),
}
