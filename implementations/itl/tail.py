"""What the slow gaps are made of: primary cause, tail decomposition, histogram by cause.

Follows: the decode-step-stall post. The primary cause of a gap is its largest cause, if that is at least
1 ms and at least a quarter of the gap; the tail is the gaps at or above a percentile, and a label's share of
it is in time.
Leaves out: intervals. The gaps of a run are not independent (one collection stalls a whole batch), so a run
is one observation and a spread takes several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.itl.partition import Partition
from implementations.itl.timeline import CAUSES, LABELS, Floats

CLEAN, MIXED = "clean", "mixed"
ANSWERS = (*CAUSES, CLEAN, MIXED)
# Parts are good to this much; thresholds and ties closer than that are met, or a label would hang on the
# origin of the clock.
RESOLUTION_MS = 1e-9


def primary_cause(
    gap_ms: ArrayLike,
    parts: Mapping[str, ArrayLike],
    *,
    mixed: bool = False,
    floor_ms: float = 1.0,
    fraction: float = 0.25,
) -> NDArray[np.str_]:
    """Names each gap's largest cause, or says that it has none worth naming.

    Ties go to the earlier of prefill, preempt, graph, gc, tok; floor and fraction themselves qualify.

    Args:
        gap_ms: length of the gaps, any shape.
        parts: ms per label in that shape; labels left out are zero and labels that are no cause are ignored.
        mixed: whether to answer `mixed` instead of `clean` where no cause qualifies but all five together
            take at least the floor and more than half of the gap. The post's rule does not.
        floor_ms: least ms of a primary cause.
        fraction: least fraction of the gap of a primary cause.

    Returns:
        One of `ANSWERS` for each gap, in the shape of `gap_ms`.
    """
    return np.array(ANSWERS)[_primary(np.asarray(gap_ms, np.float64), parts, mixed, floor_ms, fraction)]


def _primary(
    gap_ms: Floats, parts: Mapping[str, ArrayLike], mixed: bool, floor_ms: float, fraction: float
) -> NDArray[np.int64]:
    """Places in `ANSWERS`."""
    causes = [np.broadcast_to(np.asarray(parts.get(c, 0.0), np.float64), gap_ms.shape) for c in CAUSES]
    largest, total = np.maximum.reduce(causes), np.sum(causes, axis=0)
    answer = np.select([cause >= largest - RESOLUTION_MS for cause in causes], list(range(len(CAUSES))))
    named = (largest >= floor_ms - RESOLUTION_MS) & (largest >= fraction * gap_ms - RESOLUTION_MS)
    crowded = mixed & (total >= floor_ms - RESOLUTION_MS) & (total > 0.5 * gap_ms + RESOLUTION_MS)
    return np.where(named, answer, np.where(crowded, ANSWERS.index(MIXED), ANSWERS.index(CLEAN)))


@dataclass(frozen=True)
class TailDecomposition:
    """What the gaps at or above a percentile are made of.

    Args:
        q: the percentile.
        threshold_ms: its value; gaps of just that length belong to the tail.
        gaps: how many there are.
        total_ms: how long they are together.
        share: fraction of that time per label; all zero if the tail has no length.
        count: gaps per primary cause, `clean` and `mixed` included.
    """

    q: float
    threshold_ms: float
    gaps: int
    total_ms: float
    share: dict[str, float]
    count: dict[str, int]


def tail_decomposition(partition: Partition, q: float = 99.0, *, mixed: bool = False) -> TailDecomposition:
    """Decomposes the gaps at or above the q-th percentile; q = 0 takes them all.

    Raises:
        ValueError: a partition without gaps, or q outside 0 to 100.
    """
    threshold = gap_percentiles(partition, [q])[q]
    tail = partition.gap_ms >= threshold
    total = float(partition.gap_ms[tail].sum())
    in_tail = {label: partition.parts[label][tail] for label in LABELS}
    answers = _primary(partition.gap_ms[tail], in_tail, mixed, 1.0, 0.25)
    counts = np.bincount(answers, minlength=len(ANSWERS))
    return TailDecomposition(
        q=q,
        threshold_ms=threshold,
        gaps=int(np.count_nonzero(tail)),
        total_ms=total,
        share={label: float(part.sum()) / total if total > 0 else 0.0 for label, part in in_tail.items()},
        count=dict(zip(ANSWERS, counts.tolist())),
    )


def gap_percentiles(partition: Partition, q: Sequence[float] = (50, 90, 99, 99.9)) -> dict[float, float]:
    """Percentiles of the gap length in ms, interpolated linearly.

    Raises:
        ValueError: a partition without gaps, or a percentile outside 0 to 100.
    """
    if not len(partition):
        raise ValueError("no percentile of no gaps: the log has no request with two emissions")
    return dict(zip(q, np.percentile(partition.gap_ms, q).tolist()))


def cause_histogram(
    partition: Partition, edges_ms: Sequence[float], *, mixed: bool = False
) -> dict[str, NDArray[np.int64]]:
    """Counts gaps by length and primary cause.

    Args:
        partition: the gaps.
        edges_ms: ascending edges of the bins, each closed below and open above; the last may be infinite.
            Gaps outside all bins are not counted.
        mixed: as for `primary_cause`.

    Returns:
        Counts of shape (bins,) for each of `ANSWERS`.

    Raises:
        ValueError: fewer than two edges, or edges that do not ascend.
    """
    edges = np.asarray(edges_ms, np.float64)
    if len(edges) < 2 or not np.all(np.diff(edges) > 0):
        raise ValueError(f"edges {list(edges_ms)}: at least two, ascending")
    place = np.searchsorted(edges, partition.gap_ms, side="right") - 1
    inside = (place >= 0) & (place < len(edges) - 1)
    answers = _primary(partition.gap_ms, partition.parts, mixed, 1.0, 0.25)
    flat = np.bincount(answers[inside] * (len(edges) - 1) + place[inside], minlength=len(ANSWERS) * (len(edges) - 1))
    return dict(zip(ANSWERS, flat.reshape(len(ANSWERS), -1)))
