"""Where two values differ by more than is allowed, in words.

Numbers and arrays are compared as arrays, lists and tables item by item, everything else by equality. What no tolerance
can bridge stays a difference: an infinity equals only itself, and whole numbers are compared as whole numbers where
nothing is allowed (as floats, 2**60 and 2**60 + 1 are one). A NaN, or two empty values, compare as nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtwice.errors import EvidenceError


def difference(actual: Any, expected: Any, abs_: float = 0.0, rel: float = 0.0) -> str:
    """The difference that matters most, or "" where there is none.

    Args:
        actual: A number, array, text, or (nested) list or table of them.
        expected: The same shape.
        abs_: How far two numbers may lie apart.
        rel: The same, as a fraction of the expected number; the larger of both counts.

    Raises:
        EvidenceError: a NaN on either side, or nothing on both.
    """
    if _is_empty(actual) and _is_empty(expected):
        raise EvidenceError("nothing was compared: both sides are empty; compare a count, if none is the answer")
    return _between(actual, expected, abs_, rel)


def short(value: Any, limit: int = 60) -> str:
    """`value` for a sentence: six digits of a plain float, and no more than `limit` characters."""
    text = f"{value:.6g}" if type(value) is float or isinstance(value, np.floating) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_empty(item) for item in value.values())
    if isinstance(value, np.ndarray):
        return value.size == 0
    return isinstance(value, list | tuple) and all(_is_empty(item) for item in value)


def _between(actual: Any, expected: Any, abs_: float, rel: float) -> str:
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return _between_tables(actual, expected, abs_, rel)
    left, right = _as_numbers(actual), _as_numbers(expected)
    if left is not None and right is not None:
        return _between_arrays(left, right, abs_, rel)
    if isinstance(actual, list | tuple | np.ndarray) and isinstance(expected, list | tuple | np.ndarray):
        return _between_lists(list(actual), list(expected), abs_, rel)
    return "" if _is_same(actual, expected, abs_, rel) else f"{short(actual)} is not {short(expected)}"


def _as_numbers(value: Any) -> NDArray[Any] | None:
    """`value` as a numeric array, or None where it is something else (a text, a ragged list, huge integers)."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        return None
    return array if array.dtype.kind in "biufc" else None


def _between_tables(actual: Mapping[Any, Any], expected: Mapping[Any, Any], abs_: float, rel: float) -> str:
    if set(actual) != set(expected):
        return f"keys {sorted(map(str, set(actual) ^ set(expected)))} on one side only"
    found = ((key, _between(actual[key], expected[key], abs_, rel)) for key in expected)
    return next((f"{key}: {text}" for key, text in found if text), "")


def _between_lists(actual: Sequence[Any], expected: Sequence[Any], abs_: float, rel: float) -> str:
    if len(actual) != len(expected):
        return f"{len(actual)} items are not {len(expected)}"
    found = (_between(one, other, abs_, rel) for one, other in zip(actual, expected))
    return next((f"item {index}: {text}" for index, text in enumerate(found) if text), "")


def _between_arrays(left: NDArray[Any], right: NDArray[Any], abs_: float, rel: float) -> str:
    if left.shape != right.shape:
        return f"shape {left.shape} is not {right.shape}"
    if np.isnan(left).any() or np.isnan(right).any():
        raise EvidenceError("a NaN among the values to be compared")
    with np.errstate(invalid="ignore", over="ignore"):  # the difference of equal infinities is not used
        apart = np.abs(np.subtract(left, right, dtype=np.result_type(left, right, float)))
        bounds = np.maximum(abs_, rel * np.abs(right))
    allowed = np.where(np.isfinite(left) & np.isfinite(right), bounds, 0.0)
    beyond = (left != right) & ((allowed == 0) | (apart > allowed))
    if not beyond.any():
        return ""
    where = np.unravel_index(int(np.argmax(np.where(beyond, apart, -1))), beyond.shape)
    at = f" at {tuple(int(i) for i in where)} ({int(beyond.sum())} of {beyond.size} differ)" if beyond.ndim else ""
    return f"{left[where]!s} is not {right[where]!s}{at}"


def _is_same(actual: Any, expected: Any, abs_: float, rel: float) -> bool:
    if isinstance(actual, Real) and isinstance(expected, Real) and (abs_ or rel):
        return abs(float(actual) - float(expected)) <= max(abs_, rel * abs(float(expected)))
    return bool(np.all(actual == expected))
