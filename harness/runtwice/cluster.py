"""The workers of a Dask cluster that the seeds of a sweep are sent to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from typing import Any, NoReturn

from runtwice.errors import ClusterError, EvidenceError
from runtwice.seed_task import SeedTask, run

# A scheduler that is there answers in far less; workers that are started again are back sooner.
CONNECT_S = 10
PATIENCE_S = 10


class Cluster:
    """A Dask scheduler and what is connected to it.

    A worker that is lost costs the seeds it had, which others take up. Where all are lost, or the scheduler is, the
    seeds that are left come back undone.

    Args:
        address: The scheduler's, `tcp://host:port`.

    Raises:
        ClusterError: Dask is not installed, nothing answers there, or there are no workers.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ClusterError("--cluster needs dask.distributed; install the extra `cluster`") from None
        self.address = address
        try:
            self._client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(f"--cluster {address}: {error}") from None
        if not self._workers():
            self.close()
            raise ClusterError(f"--cluster {address} has no workers; start one with `dask worker {address}`")

    def results(self, tasks: Sequence[SeedTask]) -> Iterator[tuple[SeedTask, dict[str, Any]]]:
        """What the workers found, as it comes: per task the value and the process; not those that were lost.

        Raises:
            EvidenceError: a seed ended every worker that took it.
            Exception: what the first failing task, in their order, failed with; those before it have come.
        """
        futures = [self._client.submit(run, task, pure=False) for task in tasks]
        try:
            yield from self._gathered(tasks, futures)
        finally:
            if self._client.status == "running":
                self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()

    def _gathered(self, tasks: Sequence[SeedTask], futures: list[Any]) -> Iterator[tuple[SeedTask, dict[str, Any]]]:
        done: Queue[int] = Queue()
        for i, future in enumerate(futures):
            future.add_done_callback(lambda _, i=i: done.put(i))
        pending, failed = set(range(len(tasks))), None
        while pending:
            try:
                i = done.get(timeout=PATIENCE_S)
            except Empty:
                if self._workers():
                    continue
                break
            if i not in pending:
                continue
            pending.remove(i)
            if futures[i].status == "finished":
                yield tasks[i], futures[i].result()
            elif futures[i].status == "error":
                failed = futures[i]
                # Those after it would not have been run in this process either.
                pending = {one for one in pending if one < i}
        if failed is not None:
            _fail(failed.exception())

    def _workers(self) -> int:
        return len(self._client.nthreads()) if self._client.status == "running" else 0


def _fail(error: BaseException) -> NoReturn:
    """Raise what a task failed with; where it ended its workers, say so."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        raise EvidenceError(f"{error}; run it without --cluster to see what it does") from None
    raise error
