"""What Python's collector sees of the engine's per-token records and of its start-up heap."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from claims.experiments import engine_runs


@dataclass(frozen=True)
class Collections:
    """Collections of the youngest generation, and full ones, during a run."""

    youngest: int
    full: int


def tracked_objects_per_token(tokens: int) -> float:
    """Tracked objects that one token's record leaves, by the collector's own counter."""
    from implementations.itl.history import ObjectHistory

    history = ObjectHistory()
    with _collector_off():
        before = gc.get_count()[0]
        for token in range(tokens):
            history.record([0], [token], 0.0)
        return (gc.get_count()[0] - before) / tokens


def candidates_per_token() -> int:
    """Entries of one token's record for the likeliest tokens."""
    from implementations.itl.history import ObjectHistory

    history = ObjectHistory()
    history.record([0], [0], 0.0)
    return len(history.records[0].candidates)


def collections_of_burst(seed: int) -> tuple[Collections, Collections]:
    """Collections of one burst with an object a token, and with a flat array; the heap frozen in both."""
    return _counted(seed, compact_history=False), _counted(seed, compact_history=True)


def _counted(seed: int, *, compact_history: bool) -> Collections:
    log = engine_runs.burst_run(seed, compact_history=compact_history, gc_freeze=True, kv_blocks=1000)
    serving = [generation for start_s, _, generation in log.collections if start_s > log.step["start_s"][0]]
    return Collections(serving.count(0), serving.count(2))


def startup_collection_seconds(repeats: int) -> list[float]:
    """Seconds of a full collection with the start-up heap alive and not frozen."""
    from implementations.itl.collector import startup_heap

    heap = startup_heap()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        gc.collect()
        seconds.append(time.perf_counter() - began)
    del heap
    return seconds


@contextmanager
def _collector_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
