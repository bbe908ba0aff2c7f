"""The six tables of the raw log: their columns, and what a plain value of each becomes in an array.

Follows: the records that the decode-step-stall post's engine writes.
Leaves out: what one record says about another (`event_order.py`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
