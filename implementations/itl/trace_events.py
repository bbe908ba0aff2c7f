"""A partitioned log as trace events, which chrome://tracing and Perfetto open.

Follows: the Trace Event Format, JSON object form: complete events (`ph` X, with `ts` and `dur` in microseconds) on
tracks (`pid`, `tid`), and metadata events (`ph` M) that name them. Process 1 is the engine: its steps, its segments
by kind, its collections. Process 2 holds a track a request with its gaps, each named by its primary cause, and a
second one with the request's evictions if it has any.
Leaves out: flow events and counters. Events of one track never overlap: what would goes to a further track.

Written one event at a time, stamps in whole nanoseconds since the log's first record.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from implementations.itl.event_tables import KINDS, Table
from implementations.itl.events import EAGER, NO_GRAPH
from implementations.itl.gap_file import Gaps
from implementations.itl.spill import Spill
from implementations.itl.stream import Streamed, windows
from implementations.itl.tail import primary_cause
from implementations.itl.timeline import LABELS

ENGINE, REQUESTS = 1, 2
TRACKS = ("steps", *KINDS, "collections")
# Track numbers of the engine: the place in TRACKS, and so much more for each further track of the same name.
FURTHER = 100

Between = tuple[float, float]


def write_trace(
    path: Path,
    spill: Spill,
    streamed: Streamed,
    between: Between | None = None,
) -> int:
    """Writes the trace of a log; the file appears when it is complete.

    Args:
        path: where to.
        spill: the log on disk.
        streamed: its partition.
        between: only what touches this time, in the log's own seconds.

    Returns:
        How many events it has, metadata not counted.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            writer = _Writer(file, streamed.clock.origin_s, between)
            writer.begin(spill.source)
            for window in windows(spill):
                _write_engine(writer, window.log.steps, window.log.segments, window.log.collections)
            _write_requests(writer, streamed, spill.requests)
            writer.end()
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return writer.events


@dataclass
class _Writer:
    """Writes events one by one, and names each track when it is first used."""

    file: IO[str]
    origin_s: float
    between: Between | None
    events: int = 0
    named: set[tuple[int, int]] = field(default_factory=set)
    lanes: dict[str, list[int]] = field(default_factory=dict)
    separator: str = "\n"

    def begin(self, source: str) -> None:
        header = {"displayTimeUnit": "ms", "otherData": {"log": source, "origin_s": self.origin_s}}
        self.file.write(json.dumps(header)[:-1] + ', "traceEvents": [')
        for pid, name in ((ENGINE, "engine"), (REQUESTS, "requests")):
            self._write({"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": name}})
            self._write({"ph": "M", "pid": pid, "tid": 0, "name": "process_sort_index", "args": {"sort_index": pid}})

    def end(self) -> None:
        self.file.write("\n]}\n")

    def nanoseconds(self, stamps_s: NDArray[np.float64]) -> list[int]:
        """Whole nanoseconds since the log's first record; order is kept, so what nests goes on nesting."""
        found: list[int] = np.rint((stamps_s - self.origin_s) * 1e9).astype(np.int64).tolist()
        return found

    def wanted(self, start_s: NDArray[np.float64], end_s: NDArray[np.float64]) -> NDArray[np.bool_]:
        low, high = self.between or (-np.inf, np.inf)
        return np.asarray((end_s >= low) & (start_s <= high))

    def lane(self, track: str, start: int, end: int) -> int:
        """The first track of this name that is free at `start`, counted from 0."""
        ends = self.lanes.setdefault(track, [])
        lane = next((place for place, until in enumerate(ends) if until <= start), len(ends))
        ends[lane : lane + 1] = [end]
        return lane

    def complete(self, pid: int, tid: int, name: str, start: int, end: int, args: dict[str, Any]) -> None:
        """One complete event, from one nanosecond to another."""
        event = {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": start / 1000, "dur": (end - start) / 1000}
        self._write({**event, "args": args})
        self.events += 1

    def name_track(self, pid: int, tid: int, name: str) -> None:
        """Names a track, once."""
        if (pid, tid) not in self.named:
            self.named.add((pid, tid))
            self._write({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}})
            sort = {"sort_index": tid}
            self._write({"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": sort})

    def _write(self, event: dict[str, Any]) -> None:
        self.file.write(self.separator + json.dumps(event))
        self.separator = ",\n"


def _write_engine(writer: _Writer, steps: Table, segments: Table, collections: Table) -> None:
    rows = (
        *((row, "steps", _step_name(row), _step_args(row)) for row in steps),
        *((row, KINDS[row["kind"]], KINDS[row["kind"]], _segment_args(row)) for row in segments),
        *((row, "collections", f"gen {row['generation']}", {}) for row in collections),
    )
    for row, track, name, args in rows:
        _write_record(writer, row, track, name, args)


def _write_record(writer: _Writer, row: np.void, track: str, name: str, args: dict[str, Any]) -> None:
    stamps = np.array([row["start_s"], row["end_s"]])
    if not writer.wanted(stamps[0], stamps[1]):
        return
    start, end = writer.nanoseconds(stamps)
    lane = writer.lane(track, start, end)
    tid = 1 + TRACKS.index(track) + FURTHER * lane
    writer.name_track(ENGINE, tid, track if lane == 0 else f"{track} ({lane + 1})")
    writer.complete(ENGINE, tid, name, start, end, args)


def _step_name(row: np.void) -> str:
    return {NO_GRAPH: "step", EAGER: "step, eager"}.get(int(row["captured"]), f"step, graph {row['captured']}")


def _step_args(row: np.void) -> dict[str, Any]:
    return {"n_decode": int(row["n_decode"])}


def _segment_args(row: np.void) -> dict[str, Any]:
    return {} if np.isnan(row["cpu_s"]) else {"cpu_ms": round(1e3 * float(row["cpu_s"]), 6)}


def _write_requests(writer: _Writer, streamed: Streamed, requests: Sequence[int | str]) -> None:
    for block in streamed.gaps.blocks():
        for request, cause, start, end, parts in _gap_events(writer, block):
            tid = 2 * request + 1
            writer.name_track(REQUESTS, tid, f"request {requests[request]}")
            writer.complete(REQUESTS, tid, cause, start, end, parts)
    evictions, clock = streamed.evictions, streamed.clock
    for place, request in enumerate(evictions.request.tolist()):
        # An eviction without an end lasts as long as the log.
        window_s = clock.origin_s + np.minimum([evictions.start[place], evictions.end[place]], clock.span) * (
            2.0**-clock.exponent
        )
        if writer.wanted(window_s[0], window_s[1]):
            start, end = writer.nanoseconds(window_s)
            writer.name_track(REQUESTS, 2 * request + 2, f"request {requests[request]}, evicted")
            writer.complete(REQUESTS, 2 * request + 2, "evicted", start, end, {})


def _gap_events(writer: _Writer, block: Gaps) -> Iterator[tuple[int, str, int, int, dict[str, float]]]:
    block = block[writer.wanted(block["start_s"], block["end_s"])]
    parts = block["parts_ms"]
    causes = primary_cause(block["gap_ms"], {label: parts[:, place] for place, label in enumerate(LABELS)})
    starts, ends = writer.nanoseconds(block["start_s"]), writer.nanoseconds(block["end_s"])
    for row, request in enumerate(block["request"].tolist()):
        shown = {f"{label}_ms": round(ms, 6) for label, ms in zip(LABELS, parts[row].tolist()) if ms}
        yield request, str(causes[row]), starts[row], ends[row], shown
