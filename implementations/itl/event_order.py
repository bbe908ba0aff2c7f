"""The normal form of the raw log, and the records that no log can mean.

Follows: the definition at the top of `events.py`.
Leaves out: overlaps and repeats, which are kept for the partition to judge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.itl.event_tables import KINDS, TABLES, UNKNOWN, Naming, Table


def normal_form(tables: dict[str, Table], name: Naming) -> dict[str, Table]:
    """Checks the tables, sorts them, and numbers the steps in their new order.

    Args:
        tables: all six, as structured arrays.
        name: how a record is called in a refusal.

    Returns:
        New arrays; those given stay as they are.

    Raises:
        ValueError: a table without its columns, or a record that cannot be meant.
    """
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
    if its stamps fall along the list and also along the ends of the steps that emitted, where those are on
    record.
    """
    request, time_s, step = emissions["request"], emissions["time_s"], emissions["step"]
    listed = np.lexsort([request])
    backwards = listed[1:][_falls(request[listed], time_s[listed])]
    if len(backwards):
        stepless = np.isin(request, request[step == UNKNOWN])
        ended = np.zeros(len(emissions))
        ended[~stepless] = steps["end_s"][step[~stepless]]
        stepped = np.lexsort([ended, request])
        also_backwards = stepped[1:][_falls(request[stepped], time_s[stepped])]
        for place in backwards[np.isin(request[backwards], request[also_backwards])][:1]:
            raise ValueError(
                f"{name('emissions', int(place))}: request {request[place]} emits at"
                f" {time_s[place]} s, before its predecessor"
            )
    return np.lexsort([step, time_s, request])


def _falls(request: NDArray[Any], time_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each record but the first is earlier than the one before it of the same request."""
    falls: NDArray[np.bool_] = (request[1:] == request[:-1]) & (time_s[1:] < time_s[:-1])
    return falls
