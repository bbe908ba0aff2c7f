"""The partition by brute force: every tick of a gap painted on its own. Slow and obvious.

Follows: the definition at the top of `partition.py`, read off one tick at a time.
Leaves out: speed, any arithmetic shared with it, and stamps that are not a whole number of ticks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Interval = tuple[int, int]
KIND_ORDER = ["tok", "swap", "prefill", "decode"]
PAINT = {"tok": "tok", "swap": "preempt", "prefill": "prefill", "decode": "forward"}


@dataclass(frozen=True)
class Scene:
    """A log as the tuples of `EventLog.from_events`, every stamp a whole number of ticks.

    cpu_s of a segment is in ticks too and need not be whole.
    """

    steps: Sequence[tuple[Any, ...]] = ()
    segments: Sequence[tuple[Any, ...]] = ()
    collections: Sequence[tuple[Any, ...]] = ()
    emissions: Sequence[tuple[Any, ...]] = ()
    evictions: Sequence[tuple[Any, ...]] = ()

    def in_seconds(self, tick_s: float, origin_ticks: int = 0) -> dict[str, list[tuple[Any, ...]]]:
        """The same log as arguments of `EventLog.from_events`."""

        def at(tick: int | None) -> float | None:
            return None if tick is None else (tick + origin_ticks) * tick_s

        return {
            "steps": [(at(a), at(b), n, graph) for a, b, n, graph in self.steps],
            "segments": [
                (s, kind, at(a), at(b), *(None if c is None else c * tick_s for c in cpu))
                for s, kind, a, b, *cpu in self.segments
            ],
            "collections": [(at(a), at(b), g) for a, b, g in self.collections],
            "emissions": [(r, at(t), s) for r, t, s in self.emissions],
            "evictions": [(r, at(a), at(b)) for r, a, b in self.evictions],
        }


@dataclass
class PaintedGap:
    """One gap in ticks, its parts and its context by label."""

    request: Any
    start: int
    end: int
    parts: dict[str, float] = field(default_factory=dict)
    context: dict[str, float] = field(default_factory=dict)


def paint(scene: Scene, baseline_ticks: tuple[float, float]) -> list[PaintedGap]:
    """Paints every gap of a scene, in order of request and time.

    Args:
        scene: the log.
        baseline_ticks: slope and intercept of what a captured step costs, in ticks.

    Returns:
        Each gap with its parts in ticks; labels without paint are missing.
    """
    gaps = []
    for request in sorted({r for r, _, _ in scene.emissions}):
        times = sorted(t for r, t, _ in scene.emissions if r == request)
        for start, end in pairwise(times):
            gap = PaintedGap(request, start, end)
            for tick in range(start, end):
                evicted = _is_evicted(scene, request, tick)
                pot = gap.context if evicted else gap.parts
                if evicted:
                    gap.parts["preempt"] = gap.parts.get("preempt", 0) + 1
                for label, share in _paint_of(scene, tick, baseline_ticks).items():
                    pot[label] = pot.get(label, 0) + share
            gaps.append(gap)
    return gaps


def _is_evicted(scene: Scene, request: Any, tick: int) -> bool:
    return any(r == request and a <= tick and (b is None or tick < b) for r, a, b in scene.evictions)


def _is_collected(scene: Scene, tick: int) -> bool:
    return any(a <= tick < b for a, b, _ in scene.collections)


def _paint_of(scene: Scene, tick: int, baseline_ticks: tuple[float, float]) -> dict[str, float]:
    if _is_collected(scene, tick):
        return {"gc": 1.0}
    segment = _segment_at(scene, tick, scene.segments)
    if segment is None:
        return {"residual": 1.0}
    away = _away(scene, segment)
    paint = PAINT[segment[1]]
    excess = _excess(scene, segment[0], baseline_ticks) if paint == "forward" else 0.0
    return {"offcpu": away, "graph": (1 - away) * excess, paint: (1 - away) * (1 - excess)}


def _segment_at(scene: Scene, tick: int, segments: Sequence[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    present = [s for s in segments if s[2] <= tick < s[3]]

    def claim(s: tuple[Any, ...]) -> tuple[Any, ...]:
        step = scene.steps[s[0]]
        graph = {None: -1, "eager": 0}.get(step[3], step[3])
        return (s[2], KIND_ORDER.index(s[1]), s[3], _cpu(s), step[:3], graph, s[0])

    return min(present, key=claim, default=None)


def _cpu(segment: tuple[Any, ...]) -> float:
    return math.inf if len(segment) < 5 or segment[4] is None else segment[4]


def _away(scene: Scene, segment: tuple[Any, ...]) -> float:
    """Share of a segment's collection-free ticks that its thread was off the processor."""
    wall = sum(not _is_collected(scene, tick) for tick in range(segment[2], segment[3]))
    return 0.0 if wall == 0 else min(max(1 - _cpu(segment) / wall, 0.0), 1.0)


def _excess(scene: Scene, step: int, baseline_ticks: tuple[float, float]) -> float:
    """Share of a step's decode ticks above the baseline."""
    _, _, n_decode, graph = scene.steps[step]
    if graph != "eager":
        return 0.0
    own = [s for s in scene.segments if s[0] == step and s[1] == "decode"]
    total = 0.0
    for tick in range(min(s[2] for s in own), max(s[3] for s in own)):
        segment = _segment_at(scene, tick, own)
        if segment is not None and not _is_collected(scene, tick):
            total += 1 - _away(scene, segment)
    expected = baseline_ticks[0] * n_decode + baseline_ticks[1]
    return 0.0 if total <= 0 else min(max((total - expected) / total, 0.0), 1.0)
