"""Logs small enough to work out on paper: one engine, stamps in milliseconds, and the split of their gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from implementations.itl.events import EventLog
from implementations.itl.painter import PaintedGap, Scene, paint
from implementations.itl.partition import Partition, partition
from implementations.itl.rules import RULES, Rules

Window = tuple[float, float]
# An eviction without readmission ends in "open", None or NaN.
Eviction = tuple[float, float | str | None]


@dataclass(frozen=True)
class Step:
    """One engine step.

    Args:
        start: ms.
        end: ms.
        segments: kind, start and end of each, ms.
        captured: padded size of its graph, "eager", or None where it did not decode.
        n_decode: sequences decoded.
    """

    start: float
    end: float
    segments: Sequence[tuple[str, float, float]]
    captured: int | str | None = 16
    n_decode: int = 1


PREFILL_THEN_DECODE = (
    Step(0, 30, [("prefill", 0, 30)], captured=None, n_decode=0),
    Step(30, 40, [("decode", 30, 40)]),
)


@dataclass(frozen=True)
class Gap:
    """One gap: its length, its parts and its context, in ms by label."""

    length_ms: float
    parts: dict[str, float]
    context: dict[str, float]
    skipped_steps: int
    emitted_while_evicted: bool

    def amounts(self) -> dict[str, float]:
        """Every amount by the name that claims use for it: `tok_ms`, `context_tok_ms`, `sum_ms`, `gap_ms`."""
        return {
            **{f"{label}_ms": ms for label, ms in self.parts.items()},
            **{f"context_{label}_ms": ms for label, ms in self.context.items()},
            "sum_ms": sum(self.parts.values()),
            "gap_ms": self.length_ms,
        }


@dataclass(frozen=True)
class SmallLog:
    """A log by hand; by default other requests' prefill for 30 ms, then a decode of 10 ms, in one gap of 40.

    Args:
        steps: in any order.
        collections: start and end of each, ms.
        evictions: of the first request, ms.
        emitted: when each request's tokens came, ms.
        emitted_by: places of the steps that emitted them, or None where not on record.
        requests: all of them emit at the same times.
        baseline: slope (ms a sequence) and intercept (ms); None fits the log's own captured steps.
    """

    steps: Sequence[Step] = PREFILL_THEN_DECODE
    collections: Sequence[Window] = ()
    evictions: Sequence[Eviction] = ()
    emitted: Sequence[float] = (0, 40)
    emitted_by: Sequence[int] | None = None
    requests: Sequence[int] = (0,)
    baseline: tuple[float, float] | None = (0.0, 10.0)

    def scene(self) -> Scene:
        """The log in ticks of a millisecond, as the painter takes it."""
        steps = self.emitted_by or [None] * len(self.emitted)
        return Scene(
            steps=[(step.start, step.end, step.n_decode, step.captured) for step in self.steps],
            segments=[(i, *segment) for i, step in enumerate(self.steps) for segment in step.segments],
            collections=[(start, end, 2) for start, end in self.collections],
            emissions=[(request, t, step) for request in self.requests for t, step in zip(self.emitted, steps)],
            evictions=[(self.requests[0], start, _end(end)) for start, end in self.evictions],
        )

    def log(self) -> EventLog:
        """The log as an engine would have written it, in seconds."""
        return EventLog.from_events(**self.scene().in_seconds(1e-3))

    def partition(self, rules: Rules = RULES) -> Partition:
        """The partition of all gaps."""
        return partition(self.log(), self.baseline, rules)

    def gaps(self, rules: Rules = RULES) -> list[Gap]:
        """The gaps, by request and time."""
        return gaps_of(self.partition(rules))

    def painted(self) -> list[PaintedGap]:
        """The gaps as the painter splits them, in ms; it needs a baseline and whole milliseconds."""
        if self.baseline is None:
            raise ValueError("the painter fits no baseline; give one")
        return paint(self.scene(), self.baseline)


def gaps_of(split: Partition) -> list[Gap]:
    """The gaps of a partition one by one."""
    return [
        Gap(
            float(split.gap_ms[i]),
            {label: float(part[i]) for label, part in split.parts.items()},
            {label: float(part[i]) for label, part in split.context.items()},
            int(split.skipped_steps[i]),
            bool(split.emitted_while_evicted[i]),
        )
        for i in range(len(split))
    ]


def _end(end: float | str | None) -> float | None:
    return None if end == "open" else end
