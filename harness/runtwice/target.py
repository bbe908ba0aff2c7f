"""What a bisection follows: the verdict, the figure or the effect that is not the same at its two ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runtwice.compare import Kind, Row, Standing, changes_between
from runtwice.culprits import Outcome
from runtwice.errors import BisectError
from runtwice.oracle import Observation
from runtwice.row import is_noisy
from runtwice.terminal import shown
from runtwice.verdict import Verdict

_IMPORT_FAULTS = ("ImportError", "ModuleNotFoundError")


@dataclass(frozen=True)
class Target:
    """Tells the outcome of a try from what the two ends showed.

    Attributes:
        kind: What differs between the ends.
        good: The row at the good end.
        bad: The row at the bad end.
        figures: Names of the figures that differ, where those are followed.
    """

    kind: Kind
    good: Row = field(repr=False)
    bad: Row = field(repr=False)
    figures: tuple[str, ...] = ()

    def outcome(self, seen: Observation) -> Outcome:
        """Which of the ends a try is like.

        As good is only what the good end showed. Everything else that was judged is bad; `undecided` only where the
        bad end was that too.
        """
        row = seen.row
        if row is None or (row["verdict"] == Verdict.NOT_RUN and Verdict.NOT_RUN not in self._verdicts):
            return Outcome.SKIPPED
        if does_not_import(row) and not (does_not_import(self.good) or does_not_import(self.bad)):
            return Outcome.SKIPPED
        if is_noisy(row):
            return Outcome.UNDECIDED
        if row["verdict"] == self.good["verdict"]:
            return Outcome.GOOD if self.kind is Kind.VERDICT else self._by_value(row)
        if row["verdict"] == Verdict.UNDECIDED and self.bad["verdict"] != Verdict.UNDECIDED:
            return Outcome.UNDECIDED
        if row["verdict"] == Verdict.ERROR and self.bad["verdict"] != Verdict.ERROR:
            return Outcome.SKIPPED
        return Outcome.BAD

    @property
    def _verdicts(self) -> tuple[str, str]:
        return self.good["verdict"], self.bad["verdict"]

    def _by_value(self, row: Row) -> Outcome:
        if self.kind is Kind.FIGURE:
            return Outcome.BAD if {*_moved(self.good, row)} & {*self.figures} else Outcome.GOOD
        like_good, like_bad = (_overlap(row, end) for end in (self.good, self.bad))
        if like_good and like_bad:
            return Outcome.UNDECIDED
        return Outcome.GOOD if like_good else Outcome.BAD

    def of(self, row: Row) -> str:
        """What is followed, as one row has it."""
        if self.kind is Kind.FIGURE:
            values: Mapping[str, Any] = {figure["name"]: figure["measured"] for figure in row["figures"]}
            return ", ".join(f"{name} {shown(values[name])}" for name in self.figures if name in values)
        if self.kind is Kind.VERDICT or row["statistic"] is None:
            return str(row["verdict"])
        return f"{self.kind.value} {shown(row['statistic']['value'])}"


def between(good: Row, bad: Row, figure: str = "") -> Target:
    """What differs between two ends: the verdict if that does, else the effect, else the figures.

    Args:
        good: The row at the good end.
        bad: The row at the bad end.
        figure: The one figure to follow; "" to choose.

    Raises:
        BisectError: nothing that could be followed differs.
    """
    found = changes_between(good, bad)
    moved = _moved(good, bad)
    if figure:
        if figure not in moved:
            raise BisectError(f"{good['id']}: figure {figure!r} is the same at both ends")
        return Target(Kind.FIGURE, good, bad, (figure,))
    for kind in (Kind.VERDICT, Kind.RATIO, Kind.EFFECT):
        if any(change.kind is kind for change in found):
            return Target(kind, good, bad)
    if moved:
        return Target(Kind.FIGURE, good, bad, moved)
    raise BisectError(
        f"{good['id']} is {good['verdict']} at both ends, with the same figures; there is nothing to find"
    )


def _moved(one: Row, other: Row) -> tuple[str, ...]:
    """Figures that moved by more than their printed precision hides."""
    found = changes_between(one, other)
    return tuple(
        change.name for change in found if change.kind is Kind.FIGURE and change.standing is not Standing.SLIGHT
    )


def does_not_import(row: Row) -> bool:
    """Whether the claim crashed at an import."""
    return row["verdict"] == Verdict.ERROR and any(fault in row["reason"] for fault in _IMPORT_FAULTS)


def _overlap(row: Row, end: Row) -> bool:
    bounds = []
    for one in (row, end):
        found = one["statistic"]
        if found is None:
            return False
        bounds.append(
            (
                -math.inf if found["low"] is None else found["low"],
                math.inf if found["high"] is None else found["high"],
            )
        )
    return max(low for low, _ in bounds) <= min(high for _, high in bounds)
