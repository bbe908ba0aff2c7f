"""The two searches of a bisection, over outcomes alone: the smallest set of changes, and the first of a row.

Follows: Zeller and Hildebrandt 2002 (ddmin) for the set; halving for the row, around what could not be tried.
Leaves out: that a row may go bad more than once; one place where good turns to bad is found, not all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

_Item = TypeVar("_Item")


class Outcome(StrEnum):
    """What one try showed."""

    GOOD = "good"
    BAD = "bad"
    UNDECIDED = "undecided"
    SKIPPED = "skipped"


class Undecided(Exception):
    """A try that no repetition decided ends a search."""

    def __init__(self, what: object) -> None:
        super().__init__(str(what))
        self.what = what


@dataclass(frozen=True)
class Place:
    """Where a row turns.

    Attributes:
        last_good: Index of the last one known to be good.
        first_bad: Index of the first one known to be bad after it.
        skipped: Indices between them that could not be tried.
        undecided: Index of the one that ended the search; None where nothing did.
    """

    last_good: int
    first_bad: int
    skipped: tuple[int, ...] = ()
    undecided: int | None = None


def first_bad(length: int, outcome: Callable[[int, int], Outcome]) -> Place:
    """Find where a row, good at its start and bad at its end, turns.

    Args:
        length: Of the row, at least 2.
        outcome: Of one index; its second argument is how many tries are still to come after it, at most.

    Returns:
        Two neighbours, or what lies between them was skipped or undecided.
    """
    if length < 2:
        raise ValueError(f"a row of {length} has no two ends")
    low, high = 0, length - 1
    skipped: set[int] = set()
    while left := [index for index in range(low + 1, high) if index not in skipped]:
        middle = (low + high) / 2
        index = min(left, key=lambda one: abs(one - middle))
        found = outcome(index, tries_left(len(left)) - 1)
        if found is Outcome.GOOD:
            low = index
        elif found is Outcome.BAD:
            high = index
        elif found is Outcome.SKIPPED:
            skipped.add(index)
        else:
            return Place(low, high, _inside(skipped, low, high), index)
    return Place(low, high, _inside(skipped, low, high))


def tries_left(between: int) -> int:
    """How many tries halving takes at most for so many between the ends, were none skipped."""
    return math.ceil(math.log2(between + 1))


def _inside(skipped: set[int], low: int, high: int) -> tuple[int, ...]:
    return tuple(sorted(index for index in skipped if low < index < high))


def smallest(changes: Sequence[_Item], outcome: Callable[[frozenset[_Item]], Outcome]) -> list[_Item]:
    """The smallest set of changes that is bad by itself: none of it can be left out.

    Args:
        changes: All of them, which together are bad; the likeliest first.
        outcome: Of a subset.

    Raises:
        Undecided: a subset that could not be decided.
    """
    known: dict[frozenset[_Item], Outcome] = {}

    def is_bad(subset: Sequence[_Item]) -> bool:
        key = frozenset(subset)
        if key not in known:
            known[key] = outcome(key)
        if known[key] is Outcome.UNDECIDED:
            raise Undecided(key)
        return known[key] is Outcome.BAD

    rest, parts = list(changes), 2
    while len(rest) >= 2:
        pieces = _split(rest, parts)
        fewer = next((piece for piece in pieces if is_bad(piece)), None)
        if fewer is not None:
            rest, parts = fewer, 2
            continue
        without = ([item for item in rest if item not in piece] for piece in pieces)
        fewer = next((others for others in without if is_bad(others)), None)
        if fewer is not None:
            rest, parts = fewer, max(parts - 1, 2)
        elif parts < len(rest):
            parts = min(2 * parts, len(rest))
        else:
            break
    return rest


def _split(items: list[_Item], parts: int) -> list[list[_Item]]:
    bounds = [round(i * len(items) / parts) for i in range(parts + 1)]
    return [items[a:b] for a, b in pairwise(bounds) if b > a]
