"""Queueing jobs from anywhere: which workers there are, which of them offers what a job asks for, and the job itself.

Follows: Dask's `fire_and_forget`, by which a task outlives the client that submitted it.
Leaves out: priorities; taking a job back. A job whose queue has lost its last worker waits for one that serves it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from distributed import Client, Future, fire_and_forget

from implementations.scheduling.heartbeat import Beat
from implementations.scheduling.identity import Value
from implementations.scheduling.job import Job, typed
from implementations.scheduling.script_worker import METRIC, queue_of, run_job
from implementations.scheduling.worker_token import WrongToken, signed, verified


class NoWorker(ValueError):
    """No worker can take the job; the message says why each of them cannot."""


@dataclass(frozen=True)
class Listed:
    """A worker as the scheduler knows it.

    Attributes:
        name: Its name.
        address: Where it listens.
        beat: The last one; None where it sends none, or one that cannot be read or is not signed with the token.
        fault: Why there is no beat.
    """

    name: str
    address: str
    beat: Beat | None
    fault: str = ""


def workers(client: Client, token: str = "") -> list[Listed]:
    """The workers of a scheduler and their last beats, by name.

    Args:
        client: Connected to the scheduler.
        token: Beats that are not signed with it are not believed; "" believes all.
    """

    def known(dask_scheduler: Any) -> list[tuple[str, str, Any]]:
        states = dask_scheduler.workers.values()
        return [(str(one.name), one.address, one.metrics.get(METRIC)) for one in states]

    # Asked of the scheduler itself: the client's own copy of what it knows is replaced by an empty one now and then.
    found = client.run_on_scheduler(known)
    listed = [_listed(name, address, record, token) for name, address, record in found]
    return sorted(listed, key=lambda one: (one.name, one.address))


def _listed(name: str, address: str, record: Mapping[str, Any] | None, token: str) -> Listed:
    if record is None:
        return Listed(name, address, None, "no training script")
    try:
        return Listed(name, address, Beat.from_record(verified(token, record) if token else record))
    except (WrongToken, ValueError) as error:
        return Listed(name, address, None, str(error))


def job_for(options: Mapping[str, str], listed: Iterable[Listed]) -> Job:
    """The job for the first worker that offers all these options in code that is not out of date.

    Args:
        options: Texts by name, as `job.pairs` gives them.
        listed: The workers.

    Raises:
        NoWorker: there is none; the job is not queued with an option dropped.
    """
    refusals = []
    for worker in listed:
        try:
            beat = _usable(worker)
            values: dict[str, Value] = typed(options, beat.parameters or ())
        except ValueError as error:
            refusals.append(f"{worker.name}: {error}")
            continue
        return Job(f"job-{uuid.uuid4().hex[:12]}", queue_of(beat), values)
    raise NoWorker("; ".join(refusals) or "the scheduler has no workers")


def _usable(worker: Listed) -> Beat:
    beat = worker.beat
    if beat is None or beat.parameters is None:
        raise ValueError(worker.fault or "its heartbeat lists no options")
    if beat.code is not None and beat.code.stale:
        raise ValueError("the code on its disk is not the code it runs; restart it")
    return beat


def queue(client: Client, job: Job, token: str = "") -> Future[Any]:
    """Hand a job to the scheduler, which keeps it when the client is gone.

    Args:
        client: Connected to the scheduler.
        job: The job.
        token: Signs it; "" where the cluster has none.

    Returns:
        The future of its outcome, for who wants to wait.
    """
    record = job.to_record()
    future = client.submit(
        run_job, signed(token, record) if token else record, key=job.id, resources={job.queue: 1}, pure=False
    )
    fire_and_forget(future)
    return future
