"""For each planted fault the smallest log, found by hypothesis, on which it differs from painting; stamps in ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from implementations.itl.painter import Scene


def _one_gap(
    length: int = 1,
    segments: Sequence[tuple[Any, ...]] = (),
    collections: Sequence[tuple[int, int, int]] = (),
    evictions: Sequence[tuple[int, int, int]] = (),
) -> Scene:
    return Scene([(0, 0, 0, "eager")], segments, collections, [(0, 0, None), (0, length, None)], evictions)


COUNTEREXAMPLES = {
    "evictions not united": (_one_gap(evictions=[(0, 0, 1), (0, 0, 1)]), (0, 0)),
    "readmission ignored": (_one_gap(evictions=[(0, 0, 0)]), (0, 0)),
    "eviction not clipped to the gap": (_one_gap(evictions=[(0, 0, 2)]), (0, 0)),
    "segments before collections": (_one_gap(segments=[(0, "tok", 0, 1)], collections=[(0, 1, 0)]), (0, 0)),
    "collections left in decode time": (
        _one_gap(2, segments=[(0, "decode", 0, 2)], collections=[(0, 1, 0)]),
        (0, 1),
    ),
    "excess not clipped": (_one_gap(segments=[(0, "decode", 0, 1)]), (0, -1)),
    "context added to parts": (_one_gap(evictions=[(0, 0, 1)]), (0, 0)),
    "residual forced to zero": (_one_gap(), (0, 0)),
}
