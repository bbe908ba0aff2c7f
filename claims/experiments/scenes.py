"""Scenes, that is logs in whole ticks: their partition, their records in another order, and their ticks as sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from implementations.itl.events import EventLog
from implementations.itl.painter import Scene
from implementations.itl.partition import Partition, partition
from implementations.itl.rules import RULES, Rules

TICK_S = 1e-6
TICK_MS = 1e3 * TICK_S


def split(
    scene: Scene, baseline_ticks: tuple[float, float] = (0, 10), origin_ticks: int = 0, rules: Rules = RULES
) -> Partition:
    """The partition of a scene, its baseline in ticks, on a clock that starts at `origin_ticks`."""
    slope, intercept = baseline_ticks
    log = EventLog.from_events(**scene.in_seconds(TICK_S, origin_ticks))
    return partition(log, (slope * TICK_MS, intercept * TICK_MS), rules)


def permuted(scene: Scene, random: Random) -> Scene:
    """The same records in another order; of one request's tokens only the list says which came first, so it stays."""
    order = random.sample(range(len(scene.steps)), len(scene.steps))
    place = {step: i for i, step in enumerate(order)}
    tokens = {request: [one for one in scene.emissions if one[0] == request] for request, *_ in scene.emissions}
    turns = random.sample([request for request, *_ in scene.emissions], len(scene.emissions))
    return Scene(
        steps=[scene.steps[step] for step in order],
        segments=[(place[step], *rest) for step, *rest in _shuffled(scene.segments, random)],
        collections=_shuffled(scene.collections, random),
        emissions=[tokens[request].pop(0) for request in turns],
        evictions=_shuffled(scene.evictions, random),
    )


def _shuffled(records: Sequence[Any], random: Random) -> list[Any]:
    return random.sample(records, len(records))


# --- what a scene says, tick by tick, as sets ----------------------------------------------------------------------


def gap_ticks(scene: Scene) -> list[tuple[int, set[int]]]:
    """The request and the ticks of every gap, by request and time."""
    times: dict[int, list[int]] = {}
    for request, tick, _ in scene.emissions:
        times.setdefault(request, []).append(tick)
    return [(request, set(range(*gap))) for request in sorted(times) for gap in pairwise(sorted(times[request]))]


def evicted_ticks(scene: Scene, request: int) -> set[int]:
    """When a request is evicted; an open eviction lasts to the last token of all."""
    last = max(tick for _, tick, _ in scene.emissions)
    return covered((start, last if end is None else end) for who, start, end in scene.evictions if who == request)


def collected_ticks(scene: Scene) -> set[int]:
    """When a collection runs."""
    return covered((start, end) for start, end, _ in scene.collections)


def segment_ticks(scene: Scene, kind: str | None = None) -> set[int]:
    """When a segment of this kind, or of any, runs."""
    return covered(segment[2:4] for segment in scene.segments if kind in (None, segment[1]))


def covered(some: Iterable[tuple[int, int]]) -> set[int]:
    """The ticks that any of the windows covers."""
    return {tick for window in some for tick in range(*window)}
