"""A log on disk: its records read once, checked, and kept in files in order of time.

Follows: `event_lines.py` for what a line says and `event_order.py` for what no log can mean; a log that
`EventLog.load` refuses is refused here, by file and line.
Leaves out: the log as arrays in memory (`events.py`), and the stamps of arrivals and first tokens, which no gap
needs.

In memory stay one entry a request and one an eviction, both limited; everything else is on disk, in any order of
the lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.itl.event_lines import read_records
from implementations.itl.event_tables import TABLES, UNKNOWN, Row, Table, table_dtype
from implementations.itl.events import EventLog
from implementations.itl.runs import Rows, Runs

RUN_ROWS = 1 << 15

Name = Callable[[int], str]

EMISSION = np.dtype([("request", "i8"), ("time_s", "f8"), ("step", "i8"), ("place", "i8")])
# A step with everything that belongs to it, or a collection (its place is UNKNOWN).
EXTENT = np.dtype(
    [("begin_s", "f8"), ("until_s", "f8"), ("records", "i8"), ("place", "i8"), *table_dtype("steps").descr]
)
WINDOWS = {
    "steps": ("start_s", "end_s"),
    "segments": ("start_s", "end_s"),
    "collections": ("start_s", "end_s"),
    "evictions": ("evicted_s", "readmitted_s"),
}


@dataclass(frozen=True)
class Limits:
    """What a log may ask of memory before it is refused.

    Args:
        requests: different requests, some 250 bytes each.
        evictions: eviction records, some 250 bytes each.
        records: steps, segments and collections between two quiet instants (`stream.py`), some 600 bytes each.
    """

    requests: int = 4_000_000
    evictions: int = 2_000_000
    records: int = 1_000_000

    def check(self, source: str, what: str, found: int) -> None:
        """Refuses more of something than is allowed.

        Raises:
            ValueError: there are too many.
        """
        most = getattr(self, what)
        if found > most:
            raise ValueError(f"{source}: more than {most} {what}, which would not be read in bounded memory")


@dataclass
class _Emitter:
    """What is known of the emissions of every request while the lines go by, one place a request."""

    latest_s: NDArray[np.float64] = field(default_factory=lambda: np.full(1024, -np.inf))

    def falls(self, request: NDArray[np.int64], time_s: NDArray[np.float64]) -> NDArray[np.intp]:
        """Places of the emissions that are earlier than the one listed before them of the same request."""
        top = int(request.max()) + 1
        if top > len(self.latest_s):
            grown = np.full(2 * top, -np.inf)
            grown[: len(self.latest_s)] = self.latest_s
            self.latest_s = grown
        order = np.argsort(request, kind="stable")
        who, when = request[order], time_s[order]
        head = np.append(True, who[1:] != who[:-1])
        before = np.where(head, self.latest_s[who], np.append(-np.inf, when[:-1]))
        tail = np.append(head[1:], True)
        self.latest_s[who[tail]] = when[tail]
        return order[when < before]


class Spill:
    """The tables of one log in files of a folder; close it, or use it in a with-block.

    Args:
        source: what to call the log in a refusal.
        folder: an empty folder for the files; about as much is written there as the log is long.
        limits: what it may ask of memory.
    """

    def __init__(self, source: str, folder: Path, limits: Limits | None = None) -> None:
        self.source, self.folder, self.limits = source, folder, limits or Limits()
        self.codes: dict[int | str, int] = {}
        self.first_s, self.last_s = math.inf, -math.inf
        self._stack = ExitStack()
        self.segments = self._runs("segments", table_dtype("segments"), "start_s")
        self.extents = self._runs("extents", EXTENT, "begin_s")
        self.emissions = self._runs("emissions", EMISSION, "time_s")
        self._evictions: list[Table] = []
        self._n_evictions = 0
        self._steps = self._stack.enter_context((folder / "steps").open("w+b"))
        self.n_steps = 0
        self._top_step = (UNKNOWN, "")
        self._emitter = _Emitter()
        self._suspects: dict[int, tuple[str, float]] = {}

    def __enter__(self) -> Spill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files; the folder is the caller's."""
        self._stack.close()

    @property
    def requests(self) -> list[int | str]:
        """Ids of the requests, by the number that stands for each on disk."""
        return list(self.codes)

    @property
    def evictions(self) -> Table:
        """All eviction records; requests by number."""
        return np.concatenate([np.empty(0, table_dtype("evictions")), *self._evictions])

    def add(self, table: str, rows: Table, name: Name) -> None:
        """Adds records of a table; request ids are numbers in the order of their first record.

        Args:
            table: its name.
            rows: records as encoded by `event_tables.py`, requests by number, shape (n,).
            name: what to call the one at a place in a refusal.

        Raises:
            ValueError: a record that cannot be meant.
        """
        if not len(rows):
            return
        self._check(table, rows, name)
        match table:
            case "steps":
                rows.tofile(self._steps)
                self.n_steps += len(rows)
            case "segments":
                top = int(np.argmax(rows["step"]))
                self._top_step = max(self._top_step, (int(rows["step"][top]), name(top)))
                self.segments.append(rows)
            case "collections":
                self.extents.append(_extents(rows))
            case "emissions":
                self._add_emissions(rows, name)
            case "evictions":
                self._n_evictions += len(rows)
                self.limits.check(self.source, "evictions", self._n_evictions)
                self._evictions.append(rows)

    def finish(self) -> Spill:
        """Ties segments to their steps, once all records are in.

        Raises:
            ValueError: a segment names a step that is not there, or emissions of a request run backwards.
        """
        if self._top_step[0] >= self.n_steps:
            raise ValueError(f"{self._top_step[1]}: names an unknown step, the log has {self.n_steps}")
        steps = self._mapped_steps()
        begin_s, until_s, records = self._hulls(steps)
        for first in range(0, self.n_steps, RUN_ROWS):
            some = slice(first, first + RUN_ROWS)
            extents = _extents(steps[some])
            extents["place"] += first
            extents["begin_s"], extents["until_s"] = begin_s[some], until_s[some]
            extents["records"] = records[some]
            self.extents.append(extents)
        self._refuse_backwards(steps)
        return self

    def _runs(self, name: str, dtype: Any, key: str) -> Runs:
        runs = Runs(self.folder / name, dtype, key)
        self._stack.callback(runs.close)
        return runs

    def _check(self, table: str, rows: Table, name: Name) -> None:
        if table in WINDOWS:
            first, last = WINDOWS[table]
            for place in np.flatnonzero(rows[last] < rows[first])[:1]:
                raise ValueError(
                    f"{name(int(place))}: {last} {rows[last][place]} is before {first} {rows[first][place]}"
                )
            self._stretch(rows[first])
            self._stretch(rows[last])
        if table == "emissions":
            self._stretch(rows["time_s"])
        if table == "segments":
            for place in np.flatnonzero(rows["cpu_s"] < 0)[:1]:
                raise ValueError(f"{name(int(place))}: cpu_s is negative")
            for place in np.flatnonzero(rows["step"] < 0)[:1]:
                raise ValueError(f"{name(int(place))}: names an unknown step, steps are numbered from 0")

    def _stretch(self, stamps_s: NDArray[np.float64]) -> None:
        known = stamps_s[~np.isnan(stamps_s)]
        if len(known):
            self.first_s, self.last_s = min(self.first_s, float(known.min())), max(self.last_s, float(known.max()))

    def _add_emissions(self, rows: Table, name: Name) -> None:
        for place in self._emitter.falls(rows["request"], rows["time_s"]):
            listed_first = (name(int(place)), float(rows["time_s"][place]))
            self._suspects.setdefault(int(rows["request"][place]), listed_first)
        listed = np.empty(len(rows), EMISSION)
        for column in ("request", "time_s", "step"):
            listed[column] = rows[column]
        listed["place"] = len(self.emissions) + np.arange(len(rows))
        self.emissions.append(listed)

    def _mapped_steps(self) -> Rows:
        self._steps.flush()
        if not self.n_steps:
            return np.empty(0, table_dtype("steps"))
        return np.memmap(self.folder / "steps", table_dtype("steps"), "r", shape=(self.n_steps,))

    def _hulls(self, steps: Rows) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """From when to when each step and its segments last, and how many records that are, shape (steps,) each."""
        if not self.n_steps:
            return np.empty(0), np.empty(0), np.empty(0, np.int64)
        begin_s, until_s, records = (
            np.memmap(self.folder / name, dtype, "w+", shape=(self.n_steps,))
            for name, dtype in (("begin", np.float64), ("until", np.float64), ("records", np.int64))
        )
        begin_s[:], until_s[:], records[:] = steps["start_s"], steps["end_s"], 1
        for segments in self.segments.buckets(RUN_ROWS):
            np.minimum.at(begin_s, segments["step"], segments["start_s"])
            np.maximum.at(until_s, segments["step"], segments["end_s"])
            np.add.at(records, segments["step"], 1)
        return begin_s, until_s, records

    def _refuse_backwards(self, steps: Rows) -> None:
        """Refuses requests whose emissions fall along the lines and also along the ends of their steps.

        Lines may come in any order, so falling along them proves nothing if every emission names its step. In
        order of time a later emission must then not have an earlier key of (end of step, line).
        """
        keys: dict[int, tuple[float, tuple[float, int], tuple[float, int]]] = {}
        nothing = (-math.inf, -1)
        for request, time_s, step, place in self._suspicious():
            if not 0 <= step < self.n_steps:
                raise self._backwards(request)
            key = (float(steps["end_s"][step]), place)
            when, top, before = keys.get(request, (-math.inf, nothing, nothing))
            if time_s > when:
                when, top, before = time_s, nothing, max(top, before)
            if key < before:
                raise self._backwards(request)
            keys[request] = (when, max(top, key), before)

    def _backwards(self, request: int) -> ValueError:
        name, time_s = self._suspects[request]
        return ValueError(f"{name}: request {self.requests[request]} emits at {time_s} s, before its predecessor")

    def _suspicious(self) -> Iterator[tuple[int, float, int, int]]:
        if not self._suspects:
            return
        suspects = np.array(sorted(self._suspects))
        for rows in self.emissions.buckets(RUN_ROWS):
            yield from rows[np.isin(rows["request"], suspects)].tolist()


def spill_lines(path: Path, folder: Path, limits: Limits | None = None) -> Spill:
    """Reads a JSON-lines log into files of a folder.

    Raises:
        ValueError: a line that is no record, or a record that cannot be meant; the message says file, line and fault.
        OSError: the file cannot be read.
    """
    spill = Spill(str(path), folder, limits)
    try:
        with path.open("rb") as file:
            _read(spill, read_records(file, str(path)))
        return spill.finish()
    except BaseException:
        spill.close()
        raise


def spill_log(log: EventLog, source: str, folder: Path, limits: Limits | None = None) -> Spill:
    """Writes a log that is in memory into files of a folder."""
    spill = Spill(source, folder, limits)
    for table, array in log.tables():
        for first in range(0, len(array), RUN_ROWS):
            rows = array[first : first + RUN_ROWS]
            spill.add(table, _numbered(spill, table, rows), _by_place(f"{source}: {table.removesuffix('s')}", first))
    return spill.finish()


def _by_place(what: str, first: int) -> Name:
    return lambda place: f"{what} {first + place}"


def _numbered(spill: Spill, table: str, rows: Table) -> Table:
    """Replaces request ids by their numbers."""
    numbered = np.empty(len(rows), table_dtype(table))
    for column in numbered.dtype.names or ():
        is_id = column == "request"
        numbered[column] = [_code(spill, r) for r in rows[column].tolist()] if is_id else rows[column]
    return numbered


def _code(spill: Spill, request: int | str) -> int:
    codes = spill.codes
    code = codes.get(request)
    if code is None:
        if codes and isinstance(request, str) != isinstance(next(iter(codes)), str):
            raise ValueError(f"request ids are all integers or all strings, got both, {request!r} among them")
        code = codes[request] = len(codes)
        spill.limits.check(spill.source, "requests", len(codes))
    return code


def _read(spill: Spill, records: Iterable[tuple[int, str, Row]]) -> None:
    """Encodes records and hands them on, a block of each table at a time."""
    encoders = {table: [column.encode for column in columns] for table, columns in TABLES.items()}
    pending: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
    lines: dict[str, list[int]] = {table: [] for table in TABLES}

    def flush(table: str) -> None:
        def name(place: int) -> str:
            return f"{spill.source}:{lines[table][place]}: {table.removesuffix('s')}"

        spill.add(table, np.array(pending[table], table_dtype(table)), name)
        pending[table].clear()
        lines[table].clear()

    for line, table, row in records:
        try:
            values = [encode(value) for encode, value in zip(encoders[table], row)]
            if table in ("emissions", "evictions", "requests"):
                values[0] = _code(spill, values[0])
        except (TypeError, ValueError) as fault:
            raise ValueError(f"{spill.source}:{line}: {_fault(table, row, fault)}") from fault
        pending[table].append(tuple(values))
        lines[table].append(line)
        if len(pending[table]) == RUN_ROWS:
            flush(table)
    for table in TABLES:
        flush(table)


def _fault(table: str, row: Row, fault: Exception) -> str:
    """Names the column that could not be encoded."""
    for column, value in zip(TABLES[table], row):
        try:
            column.encode(value)
        except (TypeError, ValueError):
            return f"{table.removesuffix('s')}: {column.name}: {fault}"
    return f"{table.removesuffix('s')}: {fault}"


def _extents(rows: Table) -> Rows:
    """Steps or collections as extents; a step's place counts from 0, a collection has none."""
    extents = np.zeros(len(rows), EXTENT)
    for column in ("start_s", "end_s"):
        extents[column] = rows[column]
    extents["begin_s"], extents["until_s"], extents["records"] = rows["start_s"], rows["end_s"], 1
    if "generation" in (rows.dtype.names or ()):
        extents["place"], extents["n_decode"] = UNKNOWN, rows["generation"]
    else:
        extents["place"] = np.arange(len(rows))
        extents["n_decode"], extents["captured"] = rows["n_decode"], rows["captured"]
    return extents
