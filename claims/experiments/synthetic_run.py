"""A run of an engine that never ran: durations drawn from a seed, laid out as the log an engine would leave.

A run can be laid out again without one of its causes: the same steps, each shorter by what that cause took.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from implementations.itl.events import EventLog

LARGEST_CAPTURED = 32
BASELINE_MS = (0.25, 2.0)  # what a captured step costs: slope (a sequence) and intercept
REQUESTS = range(8)


@dataclass(frozen=True)
class PlannedStep:
    """What one step does, in ms; the pause falls into the middle of `pause_in`."""

    tok: float
    swap: float
    prefill: float
    decode: float
    pause: float
    pause_in: str
    size: int
    evicted: frozenset[int]


@dataclass
class _Records:
    now_ms: float = 0.0
    steps: list = field(default_factory=list)
    segments: list = field(default_factory=list)
    collections: list = field(default_factory=list)
    emissions: list = field(default_factory=list)
    evictions: list = field(default_factory=list)


def planned_steps(seed: int, n_steps: int = 1000, evictions: bool = True) -> list[PlannedStep]:
    """Draws the steps of a run; about one in fifty evicts a request for a few steps."""
    rng = np.random.default_rng(seed)
    back_at = {}
    plan = []
    for i in range(n_steps):
        if evictions and rng.random() < 0.02:
            back_at[int(rng.choice(REQUESTS))] = i + int(rng.integers(2, 30))
        plan.append(_planned(rng, frozenset(r for r, back in back_at.items() if i < back)))
    return plan


def _planned(rng: np.random.Generator, evicted: frozenset[int]) -> PlannedStep:
    size = int(rng.integers(1, 44))
    slowdown = 2.5 if size > LARGEST_CAPTURED else 1.0
    return PlannedStep(
        tok=float(rng.exponential(2)) if rng.random() < 0.2 else 0.0,
        swap=float(rng.exponential(0.2)),
        prefill=float(rng.exponential(15)) if rng.random() < 0.3 else 0.0,
        decode=slowdown * (BASELINE_MS[1] + BASELINE_MS[0] * size),
        pause=float(rng.uniform(5, 60)) if rng.random() < 0.1 else 0.0,
        pause_in=str(rng.choice(["tok", "prefill", "decode"])),
        size=size,
        evicted=evicted,
    )


def laid_out(plan: list[PlannedStep], without: Collection[str] = ()) -> EventLog:
    """The log of a run.

    Args:
        plan: its steps.
        without: causes to leave out: `tok`, `preempt` (the swapping), `prefill`, `gc`.
    """
    records = _Records()
    out_since: dict[int, float] = {}
    for i, planned in enumerate(plan):
        begun = records.now_ms
        for request in sorted(planned.evicted - set(out_since)):
            out_since[request] = begun
        for request in sorted(set(out_since) - planned.evicted):
            records.evictions.append((request, out_since.pop(request) / 1e3, begun / 1e3))
        for kind, cause in (("tok", "tok"), ("swap", "preempt"), ("prefill", "prefill"), ("decode", "forward")):
            _add_segment(records, i, kind, planned, without, 0.0 if cause in without else getattr(planned, kind))
        emitting = [request for request in REQUESTS if request not in planned.evicted]
        records.emissions += [(request, records.now_ms / 1e3, i) for request in emitting]
        captured = "eager" if planned.size > LARGEST_CAPTURED else planned.size
        records.now_ms += 0.05  # bookkeeping that no segment covers
        records.steps.append((begun / 1e3, records.now_ms / 1e3, planned.size, captured))
    records.evictions += [(request, since / 1e3, None) for request, since in out_since.items()]
    return EventLog.from_events(
        records.steps, records.segments, records.collections, records.emissions, records.evictions
    )


def _add_segment(
    records: _Records, step: int, kind: str, planned: PlannedStep, without: Collection[str], length_ms: float
) -> None:
    pause_ms = planned.pause if planned.pause_in == kind and "gc" not in without else 0.0
    start_ms = records.now_ms
    records.now_ms += length_ms + pause_ms
    records.segments.append((step, kind, start_ms / 1e3, records.now_ms / 1e3))
    if pause_ms:
        pause_at_ms = start_ms + length_ms / 2
        records.collections.append((pause_at_ms / 1e3, (pause_at_ms + pause_ms) / 1e3, 2))
