"""Between the event loop, where clients are, and the engine's thread: a slot for every request that is open.

A step's tokens are handed over when those of the step before have been, so that a small model does not run ahead of the
loop and every token leaves in a chunk of its own. A loop that is late for longer than `patience_s` is not waited for:
its tokens gather in the slots.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from implementations.itl.config import EngineConfig
from implementations.itl.engine import Model
from implementations.serving.engine import LiveEngine, Outcome
from implementations.serving.slot import Slot


class Desk:
    """Hands requests to the engine, and what it brings forth to their slots.

    Args:
        config: of the engine.
        model: of the engine.
        patience_s: how long a step may wait for the event loop.
    """

    def __init__(self, config: EngineConfig, model: Model, patience_s: float = 0.02) -> None:
        self._patience_s = patience_s
        self._caught_up = threading.Event()
        self._caught_up.set()
        self.engine = LiveEngine(config, model, self._deliver)
        self._slots: dict[int, Slot] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def open_requests(self) -> int:
        """Requests whose client is still being answered."""
        return len(self._slots)

    def start(self) -> None:
        """Start the engine; outcomes go to the event loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self.engine.start()

    @contextmanager
    def request(self, prompt: Sequence[int], max_new: int) -> Iterator[Slot]:
        """A request, for as long as its client stays.

        Args:
            prompt: token ids.
            max_new: tokens to emit.

        Raises:
            ValueError: the engine cannot take it.
        """
        number, slot = self.engine.number(), Slot()
        self._slots[number] = slot
        try:
            self.engine.submit(number, prompt, max_new)
            yield slot
        finally:
            del self._slots[number]
            if not slot.ended:
                self.engine.abort(number)

    def _deliver(self, outcomes: list[Outcome]) -> None:
        """Called on the engine's thread: one hand-over a step, whatever the number of clients."""
        if self._loop is None:
            raise RuntimeError("the desk has not been started")
        self._caught_up.wait(self._patience_s)
        self._caught_up.clear()
        with suppress(RuntimeError):  # the loop is closed, and nobody is left to tell
            self._loop.call_soon_threadsafe(self._dispatch, outcomes)

    def _dispatch(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            slot = self._slots.get(outcome.number)
            if slot is not None:  # else its client left while the step ran
                slot.put(outcome)
        self._caught_up.set()
