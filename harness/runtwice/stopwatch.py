"""Times the arms of a session's claims, after one control in which an arm is timed against itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from runtwice import ceilings
from runtwice.timing import Arm, Control, TimingResult, a_a_control, compare


class Stopwatch:
    """Compares arms, one pair at a time, and says whether the machine was fit for it.

    Args:
        folder: Where the fresh processes start; the arms are imported from there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def control(self) -> Control:
        """The session's A/A control, run before its first timed claim."""
        return a_a_control(cwd=self._folder)

    @cached_property
    def ceilings(self) -> Mapping[str, float]:
        """What the machine can do at best, for whoever compares it with another."""
        return ceilings.measure()

    def compare(self, slow: Arm, fast: Arm, *, promised: float, margin: float | None) -> tuple[TimingResult, str]:
        """Time two arms in as many processes as can decide, and on until it is decided or the time is up.

        Args:
            slow: The arm that should take longer.
            fast: The other.
            promised: What slow / fast must exceed.
            margin: What counts as the same.

        Returns:
            The result, and why it is not to be trusted ("" where it is).

        Raises:
            EvidenceError: an arm cannot be timed.
            MachineBusy: another timing kept the machine.
        """
        control = self.control
        result = compare(slow, fast, promised=promised, margin=margin, patient=True, cwd=self._folder)
        return result, control.noise or result.noise or ""

    def record(self) -> Mapping[str, Any]:
        """The control as the ledger keeps it; empty where nothing was timed."""
        if "control" not in self.__dict__:
            return {}
        found = self.control
        estimate = {"log_ratio": found.estimate.value, "low": found.estimate.low, "high": found.estimate.high}
        spread = {"spread": found.spread, "processes": found.estimate.n, "seconds": found.seconds}
        return {
            "ceilings": self.ceilings,
            "a_a": {**estimate, **spread, "margin": found.margin, "state": found.state, "noise": found.noise},
        }
