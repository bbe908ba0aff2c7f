"""Two clocks with one face: the processor's, and one that moves only when told.

Follows: discrete-event simulation; under the virtual clock an operation takes exactly what its cost model
says.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """What the engine asks of time. All readings are seconds since ``start``."""

    def start(self) -> None:
        """Begin a run: the reading becomes 0."""

    def now(self) -> float:
        """Seconds since the run began."""

    def cpu(self) -> float:
        """Seconds this thread has spent on a processor, from an arbitrary origin."""

    def sleep(self, seconds: float) -> None:
        """Let time pass without work."""

    def begin_step(self) -> None:
        """Called once at the top of every engine step."""


class RealClock:
    """``time.perf_counter`` for readings and ``time.thread_time`` for processor time."""

    def __init__(self) -> None:
        self._origin = time.perf_counter()

    def start(self) -> None:
        """Make the present moment 0."""
        self._origin = time.perf_counter()

    def now(self) -> float:
        """Seconds since ``start``."""
        return time.perf_counter() - self._origin

    def cpu(self) -> float:
        """Processor time of the calling thread, in seconds."""
        return time.thread_time()

    def sleep(self, seconds: float) -> None:
        """Sleep; a time already past is no error."""
        time.sleep(max(0.0, seconds))

    def begin_step(self) -> None:
        """A real step costs what it costs."""


class VirtualClock:
    """A clock that ``advance`` moves: runs are exact, repeatable and faster than what they describe.

    Args:
        step_s: seconds that every engine step costs beyond the operations it performs.
    """

    def __init__(self, step_s: float = 0.0) -> None:
        if not step_s >= 0:
            raise ValueError(f"step_s must not be negative, got {step_s}")
        self._step_s = step_s
        self._now_s = 0.0
        self._busy_s = 0.0

    def start(self) -> None:
        """Return to 0."""
        self._now_s = self._busy_s = 0.0

    def now(self) -> float:
        """Virtual seconds since ``start``."""
        return self._now_s

    def cpu(self) -> float:
        """Virtual seconds of work, which is all but sleep: nothing competes for the processor."""
        return self._busy_s

    def advance(self, seconds: float) -> None:
        """Let work take this long.

        Raises:
            ValueError: if ``seconds`` is negative or not a number.
        """
        if not seconds >= 0:
            raise ValueError(f"a clock only moves forward: {seconds} s")
        self._now_s += seconds
        self._busy_s += seconds

    def sleep(self, seconds: float) -> None:
        """Jump ahead; a time already past is no error."""
        self._now_s += max(0.0, seconds)

    def begin_step(self) -> None:
        """Charge the bookkeeping of one step."""
        self.advance(self._step_s)
