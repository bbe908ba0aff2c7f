"""Processes of this machine that the seeds of a sweep are sent to, so that a long run uses more than one core.

Each is a new interpreter, started with the first sweep, and lives as long as the run: what an experiment keeps in
memory serves the seeds that come after. While a claim that needs the machine to itself runs, they wait without work.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from runtwice.errors import EvidenceError
from runtwice.seed_task import SeedTask, run

ATTEMPTS = 2  # a seed may be lost with a process that died of another


class LocalWorkers:
    """So many processes. Where one dies, what was under way is tried once more in new ones.

    Args:
        count: How many, at least 1.
    """

    address = "this machine"

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def results(self, tasks: Sequence[SeedTask]) -> Iterator[tuple[SeedTask, dict[str, Any]]]:
        """What the processes found, as it comes: per task the value and the process.

        Raises:
            EvidenceError: a process died, and so did one that tried again.
            Exception: what the first failing task, in their order, failed with; those before it have come.
        """
        left = dict(enumerate(tasks))
        for _ in range(ATTEMPTS):
            try:
                for place, found in self._tried(dict(left)):
                    yield left.pop(place), found
                return
            except BrokenProcessPool:
                self.close()
        seeds = ", ".join(str(task.seed) for task in left.values())
        raise EvidenceError(
            f"a process died twice with seeds of {tasks[0].function} that were left: {seeds}; "
            "run it without --workers to see what it does"
        )

    def close(self) -> None:
        """End the processes, whatever they are at."""
        if self._lifeline is not None:
            self._lifeline.close()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool = self._lifeline = None

    def _tried(self, tasks: dict[int, SeedTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        pool = self._started()
        futures = {pool.submit(run, task): place for place, task in tasks.items()}
        pending, failed = set(tasks), None
        try:
            for future in as_completed(futures):
                place = futures[future]
                if place not in pending:
                    continue
                pending.remove(place)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    raise error
                if error is None:
                    yield place, future.result()
                else:
                    failed = error
                    # Those after it would not have been run in this process either.
                    pending = {one for one in pending if one < place}
                if not pending:
                    break
        finally:
            running = [future for future in futures if not (future.done() or future.cancel())]
            if running:
                self.close()  # nothing may go on beside what is measured next
        if failed is not None:
            raise failed

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = get_context("spawn")
            watched, self._lifeline = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self._count, context, _follow, (watched,))
        return self._pool


def _follow(watched: Connection) -> None:
    """End this process once the one that started it has closed its end of the pipe, or is gone."""

    def wait() -> None:
        watched.poll(None)
        os._exit(0)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the run, which then ends its workers
    threading.Thread(target=wait, daemon=True).start()
