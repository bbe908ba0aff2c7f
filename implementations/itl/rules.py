"""The decisions of the partition, one small function each, so that a planted fault is one replaced function.

Follows: the order of claim at the top of `partition.py`.
Leaves out: the order among segments, which is that of the log's normal form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from implementations.itl.timeline import GC, Flags, Floats, Places, Ticks, first_come


def as_recorded(readmitted: Ticks, _forever: int) -> Ticks:
    """An eviction ends with the request's readmission."""
    return readmitted


def clip_to_gap(evicted: Ticks, readmitted: Ticks, start: Ticks, end: Ticks) -> tuple[Ticks, Ticks]:
    """Of an eviction only what lies inside the gap counts."""
    return np.maximum(evicted, start), np.minimum(readmitted, end)


def collection_first(segment_label: NDArray[np.int64], in_collection: Flags) -> NDArray[np.int64]:
    """A collection outranks the segment that it fell into."""
    return np.where(in_collection, GC, segment_label)


def collection_free(wall: Ticks, collected: Ticks) -> Ticks:
    """A step's decode time does not include the collections inside it."""
    return wall - collected


def clipped_excess(decode_ms: Floats, baseline_ms: Floats) -> Floats:
    """The share of a step's decode time above the baseline, never below none or above all of it."""
    return np.clip((decode_ms - baseline_ms) / decode_ms, 0.0, 1.0)


def without_context(parts: Ticks, _context: Ticks) -> Ticks:
    """What the engine did while the request was evicted is no part of the gap."""
    return parts


def nothing_recorded(records: NDArray[np.int64]) -> Flags:
    """An instant is residual if no segment and no collection covers it."""
    return np.equal(records, 0)


@dataclass(frozen=True)
class Rules:
    """The eight decisions; `dataclasses.replace(RULES, clip=...)` plants a fault in one.

    Args:
        evicted_union: disjoint evicted windows per request, of (start, end, request).
        readmitted: end of each eviction, of (recorded end, end of time).
        clip: evicted window inside a gap, of (evicted, readmitted, gap start, gap end).
        owner: label of an interval, of (its segment's label, whether in a collection).
        decode_time: time a decode segment took of its own, of (wall, collected).
        excess_share: share of a step's decode time that is graph excess, of (decode ms, baseline ms).
        live: parts of a gap that was evicted, of (parts, context).
        uncovered: whether an interval is residual, of (how many records cover it).
    """

    evicted_union: Callable[[Ticks, Ticks, Places], tuple[Ticks, Ticks]] = first_come
    readmitted: Callable[[Ticks, int], Ticks] = as_recorded
    clip: Callable[[Ticks, Ticks, Ticks, Ticks], tuple[Ticks, Ticks]] = clip_to_gap
    owner: Callable[[NDArray[np.int64], Flags], NDArray[np.int64]] = collection_first
    decode_time: Callable[[Ticks, Ticks], Ticks] = collection_free
    excess_share: Callable[[Floats, Floats], Floats] = clipped_excess
    live: Callable[[Ticks, Ticks], Ticks] = without_context
    uncovered: Callable[[NDArray[np.int64]], Flags] = nothing_recorded


RULES = Rules()
