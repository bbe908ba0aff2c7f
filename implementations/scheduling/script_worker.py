"""A Dask worker for one training script: it advertises the script's options and runs jobs of them.

Follows: Dask's own means. A worker plugin holds the script; its beat is a custom metric of the worker's heartbeat; the
queue of a worker is a resource of which it has one, so that a job waits for a worker of its queue, runs alone there,
and goes to another one of the same queue where its worker is lost.
Leaves out: several scripts in one worker; moving to another queue without a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from distributed import Worker, WorkerPlugin, get_worker

from implementations.scheduling.heartbeat import FULL, Beat, Contents, Pulse, Running
from implementations.scheduling.identity import identity
from implementations.scheduling.job import Job
from implementations.scheduling.results import Results
from implementations.scheduling.worker_token import signed, verified

METRIC = "training_script"
NAME = "training-script"


def queue_of(beat: Beat) -> str:
    """The queue of the workers that beat like this: same options and, where the beat has it, same code.

    Raises:
        ValueError: the beat carries no options.
    """
    if beat.parameters is None:
        raise ValueError("a beat without options belongs to no queue")
    return identity(beat.parameters, code=beat.code.loaded if beat.code else "")


class ScriptPlugin(WorkerPlugin):
    """Makes a Dask worker one of a training script.

    Args:
        script: The script's file.
        results: Where results go.
        contents: What the beats carry.
        token: Signs the beats, and must have signed the jobs; "" where the cluster has none.
    """

    name = NAME

    def __init__(self, script: Path, results: Path, contents: Contents = FULL, token: str = "") -> None:
        self.pulse = Pulse(script, contents)
        self.results = Results(results)
        self._token = token

    @property
    def queue(self) -> str:
        """The queue this worker serves."""
        return queue_of(self.pulse.beat())

    def setup(self, worker: Worker) -> None:
        """Hang the beat on the worker's heartbeat."""
        worker.metrics[METRIC] = lambda _: self.beat()

    def beat(self) -> dict[str, Any]:
        """What travels with Dask's heartbeat."""
        record = self.pulse.beat().to_record()
        return signed(self._token, record) if self._token else record

    def run(self, record: Mapping[str, Any]) -> Any:
        """Run a job and keep its result; one that has a result already is not run again.

        Returns:
            What is kept: job, options, digest of the code, process, and `result` or `error`.

        Raises:
            WrongToken: the job is not signed with this cluster's token.
        """
        job = Job.from_record(verified(self._token, record) if self._token else record)
        kept = self.results.get(job.id)
        if kept is not None:
            return kept
        outcome = self._outcome(job)
        try:
            return self.results.put(job.id, outcome)
        except (TypeError, ValueError) as error:  # the script returned what JSON does not have
            del outcome["result"]
            return self.results.put(job.id, {**outcome, "error": f"the result cannot be kept: {error}"})

    def _outcome(self, job: Job) -> dict[str, Any]:
        about = {
            "job": job.id,
            "options": dict(job.options),
            "code": self.pulse.loaded.digest,
            "worker": asdict(self.pulse.instance),
        }
        self.pulse.running = Running(job.id)
        try:
            return {**about, "result": self.pulse.loaded.run(job.options, self.pulse.report)}
        except (
            Exception,
            SystemExit,
        ) as error:  # a run that fails is an outcome too; nobody may be there to see the traceback
            return {**about, "error": f"{type(error).__name__}: {error}"}
        finally:
            self.pulse.running = None


def run_job(record: dict[str, Any]) -> Any:
    """Runs a job on the worker that Dask chose; this is the function the scheduler is given."""
    plugin = cast(ScriptPlugin, get_worker().plugins[NAME])
    return plugin.run(record)


async def serve(scheduler: str, plugin: ScriptPlugin, name: str | None = None, host: str | None = None) -> None:
    """Work for a scheduler until it ends.

    Args:
        scheduler: Its address, `tcp://host:port`.
        plugin: The script.
        name: How the worker is listed.
        host: The address to listen at; one that the scheduler can reach, by default.
    """
    worker = Worker(
        scheduler,
        nthreads=1,
        name=name,
        host=host,
        plugins=(plugin,),
        resources={plugin.queue: 1},
        dashboard=False,
    )
    async with worker:
        await worker.finished()
