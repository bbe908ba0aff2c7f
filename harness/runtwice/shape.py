"""What a document of JSON must look like, and the first place where one does not.

A shape is a function from a value and the name of its place to the fault found there, "" where there is none. Commands
read ledgers that anybody may have written, cut, merged or edited; what is checked here once no command has to doubt.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Mapping
from typing import Any

Shape = Callable[[Any, str], str]

_SHORT = 40
# As which a number that JSON cannot hold is written.
_NOT_FINITE = ("nan", "inf", "-inf")


def _one(accepts: Callable[[Any], bool], what: str) -> Shape:
    def check(value: Any, where: str) -> str:
        return "" if accepts(value) else f"`{where}` is {_short(value)}, not {what}"

    return check


def _short(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'table'}"
    text = json.dumps(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def is_number(value: Any) -> bool:
    """True of a finite number that a float can hold."""
    if type(value) is int:
        return -(2**1023) < value < 2**1023
    return type(value) is float and math.isfinite(value)


anything: Shape = _one(lambda value: True, "anything")  # noqa: ARG005 - a shape takes a value
text: Shape = _one(lambda value: isinstance(value, str), "a text")
truth: Shape = _one(lambda value: isinstance(value, bool), "true or false")
number: Shape = _one(is_number, "a finite number")
duration: Shape = _one(lambda value: is_number(value) and value >= 0, "a number from 0 up")
count: Shape = _one(lambda value: type(value) is int and 0 <= value < 2**63, "a count")
measure: Shape = _one(lambda value: is_number(value) or value in _NOT_FINITE, "a number")


def matching(accepts: Callable[[str], object], what: str) -> Shape:
    """A text that a function accepts."""
    return _one(lambda value: isinstance(value, str) and bool(accepts(value)), what)


def one_of(words: Container[str], what: str) -> Shape:
    """One of some words."""
    return matching(words.__contains__, what)


def maybe(shape: Shape) -> Shape:
    """Null, or what the shape says."""
    return lambda value, where: "" if value is None else shape(value, where)


def each_maybe(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """The same shapes, each of which may be null."""
    return {key: maybe(shape) for key, shape in shapes.items()}


def listing(of: Shape, length: int | None = None) -> Shape:
    """A list whose items all have one shape."""
    what = "a list" if length is None else f"a list of {length}"

    def check(value: Any, where: str) -> str:
        if not isinstance(value, list) or length not in (None, len(value)):
            return f"`{where}` is {_short(value)}, not {what}"
        return next((fault for i, item in enumerate(value) if (fault := of(item, f"{where}[{i}]"))), "")

    return check


def numbers(value: Any, where: str) -> str:
    """A list of finite numbers, with at least one; of thousands of such lists, most are passed at a glance."""
    if isinstance(value, list) and value and all(type(item) is float for item in value) and math.isfinite(sum(value)):
        return ""
    return listing(number)(value, where) or ("" if value else f"`{where}` is empty")


def mapping(of: Shape) -> Shape:
    """A table of any keys, whose values all have one shape."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, dict):
            return f"`{where}` is {_short(value)}, not a table"
        return next((fault for key, item in value.items() if (fault := of(item, f"{where}.{_key(key)}"))), "")

    return check


def table(needed: Mapping[str, Shape], known: Mapping[str, Shape] | None = None, *, closed: bool = False) -> Shape:
    """A table with the needed keys; of others the known ones have their shapes.

    Args:
        needed: Shapes of the keys that must be there.
        known: Shapes of those that may.
        closed: Whether there may be no others.
    """
    shapes = {**needed, **(known or {})}

    def check(value: Any, where: str) -> str:
        if not isinstance(value, dict):
            return f"`{where}` is {_short(value)}, not a table" if where else f"is {_short(value)}, not a table"
        if lacking := needed.keys() - value.keys():
            return f"`{where}` lacks {min(lacking)!r}" if where else f"lacks {min(lacking)!r}"
        if closed and (more := value.keys() - shapes.keys()):
            return f"`{where}` has {min(more)!r}, which is not for it"
        dot = f"{where}." if where else ""
        present = ((key, shape) for key, shape in shapes.items() if key in value)
        return next((fault for key, shape in present if (fault := shape(value[key], f"{dot}{key}"))), "")

    return check


def _key(key: str) -> str:
    return _short(key).strip('"')
