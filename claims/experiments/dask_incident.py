"""The incident on a real Dask cluster: code is pulled under two running workers, then one is restarted."""

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claims.experiments.script_cluster import ROOT, ScriptCluster, wait_until
from claims.experiments.training_scripts import AMP, OPTIONS, source

TOKEN = "a token of the tests"
_BEATS = 3
# Queues a run of some seconds when told to, and then stays, as a session does that somebody keeps open.
_SUBMITTER = """
import sys, time
from distributed import Client
from implementations.scheduling.submit import job_for, queue, workers
address, token = sys.argv[1:]
client = Client(address, timeout=60)
job = job_for({"section": "Unattended", "step_s": "0.3"}, [one for one in workers(client, token) if one.name == "old"])
sys.stdin.readline()
queue(client, job, token)
print(job.id, flush=True)
time.sleep(600)
"""


@dataclass
class Incident:
    """What was seen.

    Attributes:
        before: Last beat before the pull, by worker.
        after: Beats after it, by worker; `old` sends what it read at its start, `repaired` digests as well.
        restarted: First beat of the worker that was started after the pull.
        refused: Exit status and message of `submit … --amp 1` while only the workers of before are there.
        results: What is kept of the jobs, by what they were for.
        orphan_waits: Whether a job of the old worker's queue is still waiting after the restart.
        listing: What `workers` printed in the end.
        errors: What came of jobs that should not have run, by what was wrong with them.
        believed: Workers listed with a beat, by the token that was asked with.
        logs: Everything the processes said.
        processes: Process ids, by worker.
    """

    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, list[Any]] = field(default_factory=dict)
    restarted: Any = None
    refused: tuple[int, str] = (0, "")
    results: dict[str, Any] = field(default_factory=dict)
    orphan_waits: bool = False
    listing: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    believed: dict[str, int] = field(default_factory=dict)
    logs: str = ""
    processes: dict[str, int] = field(default_factory=dict)


def incident(folder):
    """Run it in an empty folder."""
    folder, seen = Path(folder), Incident()
    script = folder / "code" / "train.py"
    script.parent.mkdir()
    script.write_text(source())
    with ScriptCluster(folder, TOKEN) as cluster, cluster.client() as client:
        cluster.worker("old", script, "--read-once")
        cluster.worker("repaired", script)
        listed = cluster.await_workers(client, "old", "repaired")
        seen.before = {name: one.beat for name, one in listed.items()}
        submitter = _submitter(cluster)
        script.write_text(source((*OPTIONS, AMP)))
        cluster.worker("new", script)
        seen.after = _beats(cluster, client, "old", "repaired")
        _submit_stale(cluster, client, seen)
        _outlive(cluster, client, seen, submitter)
        _restart(cluster, client, seen)
        _without_token(cluster, client, seen)
        seen.listing = cluster.run("workers")[1]
        seen.logs = "".join(cluster.log(name) for name in ("scheduler", "old", "repaired", "new"))
    return seen


def _submitter(cluster):
    command = [sys.executable, "-c", _SUBMITTER, cluster.address, cluster.token]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _beats(cluster, client, *names):
    found = {}
    threads = [
        threading.Thread(target=lambda name=name: found.update({name: cluster.beats_of(client, name, _BEATS)}))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _submit_stale(cluster, client, seen):
    """Ask for the new option while only the workers of before the pull may answer."""
    from implementations.scheduling.job import pairs
    from implementations.scheduling.submit import NoWorker, job_for

    stale = [one for name, one in cluster.listed(client).items() if name != "new"]
    try:
        job_for(pairs(["--section", "Tower", "--T_max", "24", "--amp", "1"]), stale)
    except NoWorker as error:
        seen.refused = (2, str(error))


def _outlive(cluster, client, seen, submitter):
    """Kill the process that submitted a run while the run is under way."""
    submitter.stdin.write("go\n")
    submitter.stdin.flush()
    job = submitter.stdout.readline().strip()
    wait_until(lambda: client.processing() and any(job in keys for keys in client.processing().values()), "the run")
    submitter.kill()
    submitter.communicate()
    seen.results["unattended"] = _result(cluster, job)


def _restart(cluster, client, seen):
    """The old worker goes, the new one is there; a job of the old one's queue waits, until it is queued anew."""
    from implementations.scheduling.submit import job_for, queue

    old = cluster.listed(client)["old"]
    orphan = job_for({"section": "Orphan"}, [old])
    cluster.kill("old")
    cluster.kill("repaired")
    listed = cluster.await_workers(client, "new")
    seen.restarted = listed["new"].beat
    waiting = queue(client, orphan, cluster.token)
    code, out, _ = cluster.run("submit", "--section", "Tower", "--T_max", "24", "--amp", "1")
    seen.results["tower"] = _result(cluster, out.split()[0]) if code == 0 else None
    seen.orphan_waits = waiting.status == "pending" and _kept(cluster, orphan.id) is None
    again = job_for({"section": "Orphan"}, listed.values())
    queue(client, again, cluster.token)
    seen.results["requeued"] = _result(cluster, again.id)


def _without_token(cluster, client, seen):
    from implementations.scheduling.submit import job_for, queue, workers

    listed = list(cluster.listed(client).values())
    for wrong, token in (("none", ""), ("another", "another token")):
        job = job_for({"section": "Stranger"}, listed)
        error = queue(client, job, token).exception(timeout=60)
        seen.errors[wrong] = "" if _kept(cluster, job.id) else type(error).__name__
    for name, token in (("own", cluster.token), ("another", "another token")):
        seen.believed[name] = sum(one.beat is not None for one in workers(client, token))


def _result(cluster, job):
    wait_until(lambda: _kept(cluster, job) is not None, f"the result of {job}")
    return _kept(cluster, job)


def _kept(cluster, job):
    from implementations.scheduling.results import Results

    return Results(cluster.results).get(job)
