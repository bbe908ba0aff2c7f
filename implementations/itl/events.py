"""The raw log of a serving engine: six tables of stamps in seconds, validated and put into one order.

Follows: the raw log of the decode-step-stall post (steps, their segments, collector pauses, emissions,
evictions, requests), from which every figure of that post is recomputed.
Leaves out: anything derived. Gaps, labels and baselines live in `partition.py`.

A log has one normal form whatever order its records came in:

* steps by start, then end; segments and emissions name a step by its place in that order;
* segments by start, then kind (`KINDS`), then end, then step: the order in which they claim an instant;
* collections by start; emissions, evictions and requests by request, then time.

Overlapping, nested and repeated records stay in the log as they were given: what they mean for a gap is the
partition's business. What cannot be meant is refused with the record's name and its fault.
"""

from __future__ import annotations

import math
import operator
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SCHEMA = 1
KINDS = ("tok", "swap", "prefill", "decode")
TOK, SWAP, PREFILL, DECODE = range(len(KINDS))
EAGER, NO_GRAPH, UNKNOWN = 0, -1, -1

Table = NDArray[np.void]
Row = Sequence[Any]
Naming = Callable[[str, int], str]


def _seconds(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a time in seconds")
    return number


def _open_end(value: Any) -> float:
    return math.nan if value is None or math.isnan(float(value)) else _seconds(value)


def _maybe_seconds(value: Any) -> float:
    return math.nan if value is None else _seconds(value)


def _whole(value: Any) -> int:
    number = operator.index(value)
    if abs(number) >= 1 << 63:
        raise ValueError(f"{number} does not fit 64 bits")
    return number


def _count(value: Any) -> int:
    number = _whole(value)
    if number < 0:
        raise ValueError(f"{number} is not a count")
    return number


def _maybe_count(value: Any) -> int:
    return UNKNOWN if value is None else _count(value)


def _maybe_index(value: Any) -> int:
    return UNKNOWN if value is None else _whole(value)


def _captured(value: Any) -> int:
    if value is None:
        return NO_GRAPH
    if isinstance(value, str):
        if value != "eager":
            raise ValueError(f"{value!r} is neither a captured size, 'eager' nor None")
        return EAGER
    size = _whole(value)
    if size < 1:
        raise ValueError(f"captured size {size} is below 1")
    return size


def _kind(value: Any) -> int:
    if value not in KINDS:
        raise ValueError(f"unknown kind {value!r}, expected one of {', '.join(KINDS)}")
    return KINDS.index(value)


def _request(value: Any) -> int | str:
    return value if isinstance(value, str) else _whole(value)


def _plain(value: Any) -> Any:
    return value.item()


def _none_if_nan(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _none_if_unknown(value: Any) -> int | None:
    return None if value == UNKNOWN else int(value)


class Field(NamedTuple):
    """One column: how a plain value enters the array and how it leaves it again."""

    name: str
    dtype: str
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any] = _plain
    optional: bool = False


TABLES: dict[str, tuple[Field, ...]] = {
    "steps": (
        Field("start_s", "f8", _seconds),
        Field("end_s", "f8", _seconds),
        Field("n_decode", "i8", _count),
        Field("captured", "i8", _captured, lambda v: {NO_GRAPH: None, EAGER: "eager"}.get(int(v), int(v))),
    ),
    "segments": (
        Field("step", "i8", _whole),
        Field("kind", "i1", _kind, lambda v: KINDS[v]),
        Field("start_s", "f8", _seconds),
        Field("end_s", "f8", _seconds),
        Field("cpu_s", "f8", _maybe_seconds, _none_if_nan, optional=True),
    ),
    "collections": (
        Field("start_s", "f8", _seconds),
        Field("end_s", "f8", _seconds),
        Field("generation", "i8", _count),
    ),
    "emissions": (
        Field("request", "request", _request),
        Field("time_s", "f8", _seconds),
        Field("step", "i8", _maybe_index, _none_if_unknown),
    ),
    "evictions": (
        Field("request", "request", _request),
        Field("evicted_s", "f8", _seconds),
        Field("readmitted_s", "f8", _open_end, _none_if_nan),
    ),
    "requests": (
        Field("request", "request", _request),
        Field("arrival_s", "f8", _seconds),
        Field("prompt_tokens", "i8", _maybe_count, _none_if_unknown, optional=True),
        Field("max_new_tokens", "i8", _maybe_count, _none_if_unknown, optional=True),
        Field("first_token_s", "f8", _maybe_seconds, _none_if_nan, optional=True),
    ),
}


def record_name(table: str, place: int) -> str:
    """Names a record by its table and its place in the list it was given in, from 0."""
    return f"{table.removesuffix('s')} {place}"


def table_dtype(table: str, request: str = "i8") -> np.dtype[np.void]:
    """The structured dtype of a table, for request ids of the given dtype."""
    return np.dtype([(f.name, request if f.dtype == "request" else f.dtype) for f in TABLES[table]])


@dataclass(frozen=True, eq=False)
class EventLog:
    """A validated log in normal form; every table is a read-only structured array, stamps in seconds.

    Args:
        steps: `start_s, end_s, n_decode, captured`; captured is the padded size, `EAGER` or `NO_GRAPH`.
        segments: `step, kind, start_s, end_s, cpu_s`; kind is a place in `KINDS`, cpu_s the processor time
            of the thread inside the segment but outside collections, NaN where not measured.
        collections: `start_s, end_s, generation`.
        emissions: `request, time_s, step`; a step that is not on record is `UNKNOWN`.
        evictions: `request, evicted_s, readmitted_s`; NaN where the request was never readmitted.
        requests: `request, arrival_s, prompt_tokens, max_new_tokens, first_token_s`, or no rows.

    Raises:
        ValueError: a record ends before it starts, a stamp is missing or infinite, a segment names a step
            that does not exist, or a request's emissions run backwards in time.
    """

    steps: Table
    segments: Table
    collections: Table
    emissions: Table
    evictions: Table
    requests: Table

    def __post_init__(self) -> None:
        tables = _normal_form({f.name: getattr(self, f.name) for f in fields(self)}, record_name)
        for name, table in tables.items():
            table.setflags(write=False)
            object.__setattr__(self, name, table)

    def __eq__(self, other: object) -> bool:
        """Equal to the bit, NaN included."""
        if not isinstance(other, EventLog):
            return NotImplemented
        return all(
            mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()
            for (_, mine), (_, theirs) in zip(self.tables(), other.tables())
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_events(
        cls,
        steps: Iterable[Row],
        segments: Iterable[Row],
        collections: Iterable[Row],
        emissions: Iterable[Row],
        evictions: Iterable[Row],
        requests: Iterable[Row] = (),
    ) -> EventLog:
        """Builds a log from plain tuples in seconds, in any order.

        Args:
            steps: `(start, end, n_decode, captured size | "eager" | None)`.
            segments: `(step index, kind, start, end[, cpu_s])`.
            collections: `(start, end, generation)`.
            emissions: `(request, time, step index)`; ids are all integers or all strings. The step says
                which of two emissions of a request came first, and within a step the list does.
            evictions: `(request, evicted, readmitted | None)`.
            requests: `(request, arrival[, prompt tokens, max new tokens, first token time])`.

        Raises:
            ValueError: a record that cannot be meant; the message names it by table and place.
        """
        rows = dict(zip(TABLES, (steps, segments, collections, emissions, evictions, requests)))
        return log_from_rows(rows)

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yields each table with its name."""
        return ((name, getattr(self, name)) for name in TABLES)

    def to_events(self) -> dict[str, list[tuple[Any, ...]]]:
        """Gives the tables back as the plain tuples that `from_events` takes, in normal order."""
        return {name: list(plain_rows(name, table)) for name, table in self.tables()}

    def save(self, path: str | Path) -> None:
        """Writes the log, by the ending of its name: `.npz` (compressed arrays) or `.jsonl` (JSON lines)."""
        match _ending(path):
            case ".npz":
                arrays: dict[str, Any] = {"schema": np.array(SCHEMA), **dict(self.tables())}
                np.savez_compressed(path, **arrays)
            case _:
                from implementations.itl.event_lines import write_log

                write_log(self, path)

    @classmethod
    def load(cls, path: str | Path) -> EventLog:
        """Reads what `save` wrote, to the bit.

        Raises:
            ValueError: not such a file, a schema of a later version, or a record that cannot be meant; a
                JSON-lines message names file, line and fault.
        """
        match _ending(path):
            case ".npz":
                return cls(**_arrays(path))
            case _:
                from implementations.itl.event_lines import read_log

                return read_log(path)


def log_from_rows(rows: Mapping[str, Iterable[Row]], name: Naming = record_name) -> EventLog:
    """Builds a log from rows of each table; `name` says how a record is called in a refusal."""
    encoded = {table: list(_encode(table, rows.get(table, ()), name)) for table in TABLES}
    request = _request_dtype(encoded)
    arrays = {table: np.array(found, table_dtype(table, request)) for table, found in encoded.items()}
    # The constructor names records by place; going through the normal form first keeps the caller's names.
    return EventLog(**_normal_form(arrays, name))


def plain_rows(table: str, array: Table) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a table as plain Python values; what is not known is None."""
    decoders = [(field.name, field.decode) for field in TABLES[table]]
    return (tuple(decode(row[name]) for name, decode in decoders) for row in array)


def _encode(table: str, rows: Iterable[Row], name: Naming) -> Iterator[tuple[Any, ...]]:
    columns = TABLES[table]
    needed = sum(not column.optional for column in columns)
    for place, row in enumerate(rows):
        if not needed <= len(row) <= len(columns):
            wanted = ", ".join(column.name for column in columns)
            raise ValueError(f"{name(table, place)}: {len(row)} values {tuple(row)!r}, expected {wanted}")
        padded = (*row, *(None,) * (len(columns) - len(row)))
        yield tuple(_encoded(column, value, name, table, place) for column, value in zip(columns, padded))


def _encoded(column: Field, value: Any, name: Naming, table: str, place: int) -> Any:
    try:
        return column.encode(value)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{name(table, place)}: {column.name}: {fault}") from fault


def _request_dtype(encoded: dict[str, list[tuple[Any, ...]]]) -> str:
    ids = [row[0] for table in ("emissions", "evictions", "requests") for row in encoded[table]]
    strings = [value for value in ids if isinstance(value, str)]
    if strings and len(strings) < len(ids):
        raise ValueError(f"request ids are all integers or all strings, got both, {strings[0]!r} among them")
    return f"U{max(map(len, strings))}" if strings else "i8"


def _ending(path: str | Path) -> str:
    ending = Path(path).suffix
    if ending not in (".npz", ".jsonl"):
        raise ValueError(f"{path}: a log is saved as .npz or .jsonl, not {ending or 'without an ending'!r}")
    return ending


def _arrays(path: str | Path) -> dict[str, Table]:
    try:
        with np.load(path, allow_pickle=False) as saved:
            schema = int(saved["schema"])
            if schema != SCHEMA:
                raise ValueError(f"schema {schema}, this version reads {SCHEMA}")
            return {table: saved[table] for table in TABLES}
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as fault:
        raise ValueError(f"{path}: not a readable event log: {fault}") from fault


def _normal_form(tables: dict[str, Table], name: Naming) -> dict[str, Table]:
    for table, array in tables.items():
        _check_fields(table, array)
    _check_stamps(tables, name)
    steps, rank = _sorted_steps(tables["steps"])
    segments = _with_ranked_steps(tables["segments"], rank)
    segments = segments[_order(segments, "start_s", "kind", "end_s", "cpu_s", "step")]
    emissions = _with_ranked_steps(tables["emissions"], rank)
    emissions = emissions[_emission_order(emissions, steps, name)]
    return {
        "steps": steps,
        "segments": segments,
        "collections": _sorted(tables["collections"], "start_s", "end_s", "generation"),
        "emissions": emissions,
        "evictions": _sorted(tables["evictions"], "request", "evicted_s", "readmitted_s"),
        "requests": _sorted(tables["requests"], "request", "arrival_s"),
    }


def _check_fields(table: str, array: Table) -> None:
    names = tuple(field.name for field in TABLES[table])
    if array.dtype.names != names or array.ndim != 1:
        raise ValueError(f"{table}: a one-dimensional array with the fields {', '.join(names)} is needed")


def _check_stamps(tables: dict[str, Table], name: Naming) -> None:
    windows = {
        "steps": ("start_s", "end_s"),
        "segments": ("start_s", "end_s"),
        "collections": ("start_s", "end_s"),
        "evictions": ("evicted_s", "readmitted_s"),
    }
    for table, (first, last) in windows.items():
        _check_window(table, tables[table], first, last, name)
    for table, column in (("emissions", "time_s"), ("requests", "arrival_s")):
        _refuse_first(~np.isfinite(tables[table][column]), table, name, f"{column} is not a finite time")
    segments, n_steps = tables["segments"], len(tables["steps"])
    unknown = (segments["step"] < 0) | (segments["step"] >= n_steps)
    _refuse_first(unknown, "segments", name, f"names an unknown step, the log has {n_steps}")
    _refuse_first(segments["cpu_s"] < 0, "segments", name, "cpu_s is negative")
    kinds = (segments["kind"] < 0) | (segments["kind"] >= len(KINDS))
    _refuse_first(kinds, "segments", name, f"unknown kind, expected a place in {KINDS}")


def _check_window(table: str, array: Table, first: str, last: str, name: Naming) -> None:
    start, end = array[first], array[last]
    endless = np.isinf(end) if table == "evictions" else ~np.isfinite(end)
    _refuse_first(~np.isfinite(start) | endless, table, name, "a stamp is missing or infinite")
    for place in np.flatnonzero(end < start)[:1]:
        raise ValueError(f"{name(table, int(place))}: {last} {end[place]} is before {first} {start[place]}")


def _refuse_first(bad: NDArray[np.bool_], table: str, name: Naming, fault: str) -> None:
    for place in np.flatnonzero(bad)[:1]:
        raise ValueError(f"{name(table, int(place))}: {fault}")


def _order(array: Table, *columns: str) -> NDArray[np.intp]:
    return np.lexsort([array[column] for column in reversed(columns)])


def _sorted(array: Table, *columns: str) -> Table:
    return array[_order(array, *columns)]


def _sorted_steps(steps: Table) -> tuple[Table, NDArray[np.int64]]:
    """Sorts the steps; the second array says where each given step went."""
    order = _order(steps, "start_s", "end_s", "n_decode", "captured")
    rank = np.empty(len(steps), np.int64)
    rank[order] = np.arange(len(steps))
    return steps[order], rank


def _with_ranked_steps(array: Table, rank: NDArray[np.int64]) -> Table:
    """Copies a table with its steps renumbered; a number outside the log becomes `UNKNOWN`."""
    renumbered = array.copy()
    known = (array["step"] >= 0) & (array["step"] < len(rank))
    renumbered["step"] = UNKNOWN
    renumbered["step"][known] = rank[array["step"][known]]
    return renumbered


def _emission_order(emissions: Table, steps: Table, name: Naming) -> NDArray[np.intp]:
    """Order by request and time, after checking that no request's emissions run backwards.

    Records may come in any order, so a later place in the list alone proves nothing. A request is refused
    if its stamps fall both along the list and along the ends of the steps that emitted.
    """
    request, time_s = emissions["request"], emissions["time_s"]
    listed = np.lexsort([request])
    backwards = _falls(request[listed], time_s[listed])
    if backwards.any():
        emitted = np.full(len(emissions), -np.inf)
        known = emissions["step"] >= 0
        emitted[known] = steps["end_s"][emissions["step"][known]]
        stepped = np.lexsort([emitted, request])
        fallen = _falls(request[stepped], time_s[stepped])
        suspects = stepped[1:][fallen]
        for place in suspects[np.isin(request[suspects], request[listed[1:][backwards]])][:1]:
            raise ValueError(
                f"{name('emissions', int(place))}: request {request[place]} emits at"
                f" {time_s[place]} s, before its predecessor"
            )
    return np.lexsort([emissions["step"], time_s, request])


def _falls(request: NDArray[Any], time_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each record but the first is earlier than the one before it of the same request."""
    falls: NDArray[np.bool_] = (request[1:] == request[:-1]) & (time_s[1:] < time_s[:-1])
    return falls
