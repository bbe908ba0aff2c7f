"""The raw log as JSON lines, the form for other people's engines: one JSON object a line, stamps in seconds.

The first line is `{"format": "runtwice-events", "schema": 1}`. Every other line is one record, in any order;
blank lines are passed over. What may be left out or null is in brackets.

    record        fields
    "step"        start_s, end_s, n_decode, captured: padded size of the captured graph, "eager", or null
    "segment"     step, kind: "tok", "swap", "prefill" or "decode", start_s, end_s, [cpu_s]
    "collection"  start_s, end_s, generation
    "emission"    request: an integer or a string, time_s, [step]
    "eviction"    request, evicted_s, [readmitted_s]
    "request"     request, arrival_s, [prompt_tokens], [max_new_tokens], [first_token_s]

A step has no number of its own: segments and emissions name it by its place among the step lines, from 0, so
a writer may put a segment down before the step that is still running.

Follows: JSON Lines (one value a line, UTF-8).
Leaves out: NaN and infinity, which JSON does not have.

Schema history: 1 — the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from implementations.itl.event_tables import TABLES, Row
from implementations.itl.events import SCHEMA, EventLog, log_from_rows, plain_rows

FORMAT = "runtwice-events"
TABLE_OF = {table.removesuffix("s"): table for table in TABLES}
NAMES = {table: tuple(column.name for column in columns) for table, columns in TABLES.items()}
MAY_BE_TEXT = ("request", "kind", "captured")
MAY_BE_MISSING = {"cpu_s", "step", "readmitted_s", "prompt_tokens", "max_new_tokens", "first_token_s"}


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def write_log(log: EventLog, path: str | Path) -> None:
    """Writes a log, steps first; reading it back gives the same log to the bit."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(header_line())
        for table, array in log.tables():
            file.writelines(record_line(table, row) for row in plain_rows(table, array))


def header_line() -> str:
    """The first line of a file."""
    return json.dumps({"format": FORMAT, "schema": SCHEMA}) + "\n"


def record_line(table: str, row: Row) -> str:
    """The line of one record, given as the plain values of its table's columns."""
    values = {column.name: value for column, value in zip(TABLES[table], row)}
    known = {name: value for name, value in values.items() if value is not None or name not in MAY_BE_MISSING}
    return json.dumps({"record": table.removesuffix("s"), **known}, allow_nan=False) + "\n"


def read_log(path: str | Path) -> EventLog:
    """Reads a log.

    Raises:
        ValueError: a line that is no record, or a record that cannot be meant; the message says file, line
            and fault.
    """
    rows: dict[str, list[Row]] = {table: [] for table in TABLES}
    lines: dict[str, list[int]] = {table: [] for table in TABLES}
    with open(path, "rb") as file:
        for number, table, row in read_records(file, str(path)):
            rows[table].append(row)
            lines[table].append(number)

    def name(table: str, place: int) -> str:
        return f"{path}:{lines[table][place]}: {table.removesuffix('s')}"

    return log_from_rows(rows, name)


def read_records(file: Iterable[bytes], source: str) -> Iterator[tuple[int, str, Row]]:
    """Reads the records of an open file one line at a time.

    Args:
        file: the lines, as bytes.
        source: what to call the file in a refusal.

    Yields:
        Line number from 1, table, and the plain values of its columns.

    Raises:
        ValueError: as `read_log`, for faults that show in the line by itself.
    """
    headed = False
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        place = f"{source}:{number}"
        value = _object(line, place)
        if headed:
            yield number, *_record(value, place)
        else:
            _check_header(value, place)
            headed = True
    if not headed:
        raise ValueError(f"{source}:1: empty, expected the header {header_line().strip()}")


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(line.decode("utf-8"))
    except ValueError as fault:  # json's and unicode's own errors are ValueErrors too
        raise ValueError(f"{place}: not a line of JSON: {fault}") from fault
    if not isinstance(value, dict):
        raise ValueError(f"{place}: {value!r} is not a JSON object")
    return value


def _check_header(value: dict[str, Any], place: str) -> None:
    if value.get("format") != FORMAT:
        raise ValueError(f"{place}: not the header {header_line().strip()}")
    if value.get("schema") != SCHEMA:
        raise ValueError(f"{place}: schema {value.get('schema')!r}, this version reads {SCHEMA}")


def _record(value: dict[str, Any], place: str) -> tuple[str, Row]:
    kind = value.pop("record", None)
    if not isinstance(kind, str) or kind not in TABLE_OF:
        raise ValueError(f"{place}: record {kind!r} is none of {', '.join(TABLE_OF)}")
    table = TABLE_OF[kind]
    names = NAMES[table]
    if value.keys() != set(names):
        _check_names(value, kind, names, place)
    return table, tuple([_checked(value.get(name), name, place, kind) for name in names])


def _check_names(value: dict[str, Any], kind: str, names: tuple[str, ...], place: str) -> None:
    missing = [n for n in names if n not in value and not _may_be_missing(kind, n)]
    strange = [n for n in value if n not in names]
    for fault, found in (("lacks", missing), ("has no field", strange)):
        if found:
            raise ValueError(f"{place}: {kind} {fault} {', '.join(found)}")


def _may_be_missing(kind: str, name: str) -> bool:
    return name in MAY_BE_MISSING and (kind, name) != ("segment", "step")


def _checked(value: Any, name: str, place: str, kind: str) -> Any:
    """Refuses what JSON lets through and a number would swallow: true, "0.5", [1]."""
    # By type, not isinstance: true is an int too.
    if type(value) in (float, int, type(None)) or (type(value) is str and name in MAY_BE_TEXT):
        return value
    wanted = "a number or a string" if name in MAY_BE_TEXT else "a number"
    raise ValueError(f"{place}: {kind}: {name} {value!r} is not {wanted}")
