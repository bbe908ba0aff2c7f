"""Decode steps that a live request sat out.

Follows: the decode-step-stall post's check that no gap jumps over a step without an eviction on record; here
by the stamps of steps and evictions instead of step numbers.
Leaves out: why. A scheduler that rotates through its batch skips requests on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from implementations.itl.events import EventLog
from implementations.itl.timeline import Clock, Places, Ticks, first_come, nonempty


@dataclass(frozen=True)
class DecodeSteps:
    """Windows of the steps that decoded, disjoint and ascending, shape (n,) each."""

    start: Ticks
    end: Ticks

    @classmethod
    def of(cls, log: EventLog, clock: Clock) -> DecodeSteps:
        """Reads them off a log; of steps that overlap the later one begins where the earlier one ends."""
        steps = log.steps[log.steps["n_decode"] > 0]
        return cls(*nonempty(*first_come(clock.ticks(steps["start_s"]), clock.ticks(steps["end_s"]))))

    def begun_before(self, at: Ticks) -> Places:
        """How many began before each instant."""
        return np.searchsorted(self.start, at, side="left")

    def explained(self, evicted: Ticks, readmitted: Ticks, gap: Places, start: Ticks, end: Ticks) -> Places:
        """How many of the steps that a gap sat out an eviction overlaps, and no earlier eviction of that gap.

        Args:
            evicted: start of each eviction, shape (n,), ascending within a gap.
            readmitted: its end, shape (n,), before the next one's start within a gap.
            gap: which gap it touches, shape (n,), ascending.
            start: start of that gap, shape (n,).
            end: end of that gap, shape (n,).
        """
        until = self.begun_before(readmitted)
        since = np.maximum(self.begun_before(start), np.searchsorted(self.end, evicted, side="right"))
        again = gap[1:] == gap[:-1]
        since[1:][again] = np.maximum(since[1:][again], until[:-1][again])
        # The last step begun inside the gap is the one that ended it with a token.
        found: Places = np.maximum(np.minimum(until, self.begun_before(end) - 1) - since, 0)
        return found
