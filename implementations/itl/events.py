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

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from implementations.itl.event_order import normal_form
from implementations.itl.event_tables import (
    DECODE,
    EAGER,
    KINDS,
    NO_GRAPH,
    PREFILL,
    SWAP,
    TABLES,
    TOK,
    UNKNOWN,
    Field,
    Naming,
    Row,
    Table,
    record_name,
    table_dtype,
)

__all__ = [
    "DECODE",
    "EAGER",
    "KINDS",
    "NO_GRAPH",
    "PREFILL",
    "SCHEMA",
    "SWAP",
    "TOK",
    "UNKNOWN",
    "EventLog",
    "table_dtype",
]

SCHEMA = 1


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
        tables = normal_form({f.name: getattr(self, f.name) for f in fields(self)}, record_name)
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
                # Imported late: that module makes logs, so it needs this one first.
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
    return EventLog(**normal_form(arrays, name))


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
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as saved:
            schema = int(saved["schema"])
            if schema != SCHEMA:
                raise ValueError(f"schema {schema}, this version reads {SCHEMA}")
            return {table: saved[table] for table in TABLES}
    except (KeyError, TypeError, ValueError, EOFError, zlib.error, zipfile.BadZipFile) as fault:
        raise ValueError(f"{path}: not a readable event log: {fault}") from fault
