"""Random logs for properties of the partition, in whole ticks, as hypothesis strategies.

`scenes` has records that overlap, nest, repeat, stay open and stick out of their steps; `tidy_scenes` has what a
faultless engine would write: nothing overlaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import strategies as st

from implementations.itl.events import EventLog
from implementations.itl.painter import Scene
from implementations.itl.partition import Partition, partition
from implementations.itl.rules import RULES, Rules

TICK_S = 1e-6
TICK_MS = 1e3 * TICK_S
END = 24  # ticks; few, so that records collide
KINDS = ("tok", "swap", "prefill", "decode")
BASELINES = st.tuples(st.integers(-2, 4), st.integers(-8, 12))  # slope and intercept, in ticks


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


@st.composite
def windows(draw):
    """A window of whole ticks, perhaps empty."""
    start, end = sorted((draw(st.integers(0, END)), draw(st.integers(0, END))))
    return start, end


@st.composite
def scenes(draw, kinds=KINDS, off_processor=False):
    """Anything that can be written down.

    Args:
        draw: hypothesis's.
        kinds: the kinds of segment that occur.
        off_processor: whether segments may say for how many ticks their thread ran.
    """
    captured = st.sampled_from(["eager", "eager", 4, 16, None])
    steps = draw(st.lists(st.tuples(windows(), st.integers(0, 6), captured), min_size=1, max_size=5))
    ran = st.none() | st.integers(0, END) if off_processor else st.none()
    owner = st.integers(0, len(steps) - 1)
    segments = draw(st.lists(st.tuples(owner, st.sampled_from(kinds), windows(), ran), max_size=6))
    return Scene(
        steps=[(*window, n, graph) for window, n, graph in steps],
        segments=[(step, kind, *window, cpu) for step, kind, window, cpu in segments],
        collections=[(*window, 0) for window in draw(st.lists(windows(), max_size=4))],
        emissions=draw(emissions()),
        evictions=[
            (request, start, None if lasting else end)
            for request, (start, end), lasting in draw(
                st.lists(st.tuples(st.integers(0, 1), windows(), st.booleans()), max_size=4)
            )
        ],
    )


@st.composite
def tidy_scenes(draw, kinds=KINDS):
    """Steps in a row with one or two segments each; no two collections and no two evictions overlap."""
    steps, segments = [], []
    for i, (start, end) in enumerate(pairwise(draw(_cuts(2, 6)))):
        middle = draw(st.integers(start, end))
        graph = draw(st.sampled_from(["eager", 16]))
        steps.append((start, end, draw(st.integers(1, 6)), graph))
        first, second = draw(st.sampled_from(kinds)), draw(st.sampled_from(kinds))
        segments += [(i, first, start, draw(st.integers(start, middle))), (i, second, middle, end)]
    return Scene(
        steps=steps,
        segments=segments,
        collections=[(*window, 0) for window in _every_other(draw(_cuts(0, 6)))],
        emissions=draw(emissions()),
        evictions=[(0, *window) for window in _every_other(draw(_cuts(0, 6)))],
    )


@st.composite
def emissions(draw):
    """At least one gap of request 0, and perhaps some of request 1."""
    times = draw(st.lists(st.integers(0, END), min_size=2, max_size=5))
    others = draw(st.lists(st.integers(0, END), max_size=3))
    return [(0, t, None) for t in sorted(times)] + [(1, t, None) for t in sorted(others)]


def _cuts(fewest: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, END), min_size=fewest, max_size=most, unique=True).map(sorted)


def _every_other(cuts: list[int]) -> list[tuple[int, int]]:
    return list(zip(cuts[::2], cuts[1::2]))


# --- what a scene says, tick by tick, as sets ----------------------------------------------------------------------


def gap_ticks(scene: Scene) -> list[tuple[int, set[int]]]:
    """The request and the ticks of every gap, by request and time."""
    times: dict[int, list[int]] = {}
    for request, tick, _ in scene.emissions:
        times.setdefault(request, []).append(tick)
    return [(request, set(range(*gap))) for request in sorted(times) for gap in pairwise(sorted(times[request]))]


def evicted_ticks(scene: Scene, request: int) -> set[int]:
    """When a request is evicted; an open eviction lasts to the end of the scene."""
    return covered((start, END if end is None else end) for who, start, end in scene.evictions if who == request)


def collected_ticks(scene: Scene) -> set[int]:
    """When a collection runs."""
    return covered((start, end) for start, end, _ in scene.collections)


def segment_ticks(scene: Scene, kind: str | None = None) -> set[int]:
    """When a segment of this kind, or of any, runs."""
    return covered(segment[2:4] for segment in scene.segments if kind in (None, segment[1]))


def covered(some: Iterable[tuple[int, int]]) -> set[int]:
    """The ticks that any of the windows covers."""
    return {tick for window in some for tick in range(*window)}
