"""Real processes on the loopback address: what a scheduler is told, and what becomes of jobs."""

import subprocess
import time

import pytest

pytest.importorskip("distributed")

from claims.experiments.script_cluster import ROOT, wait_until
from claims.experiments.training_scripts import AMP, OPTIONS
from implementations.scheduling.results import Results
from implementations.scheduling.submit import job_for, queue


def test_code_that_changes_under_a_running_worker_is_stale_at_its_next_beat(started, cluster, client):
    """The copy of the start is repeated beat after beat; digests tell; `submit` refuses the new option."""
    desk, before = started("old", options=["--read-once"])
    _, before = started("repaired")
    desk.now_s = time.time()
    desk.pull((*OPTIONS, AMP))
    cached, repaired = (cluster.beats_of(client, name, 2) for name in ("old", "repaired"))
    assert {beat.identity for beat in cached} == {before["old"].beat.identity}
    assert [len(beat.parameters) for beat in cached] == [13, 13]
    assert [beat.code.stale for beat in repaired] == [True, True]
    code, out, error = cluster.run("submit", "--section", "Tower", "--T_max", "24", "--amp", "1")
    assert (code, out) == (2, "")
    assert "old: no option --amp; the 13 there are:" in error
    assert "repaired: the code on its disk is not the code it runs; restart it" in error
    lines = {line.split()[0]: line for line in cluster.run("workers")[1].splitlines()}
    assert "not reported" in lines["old"]
    assert "stale:" in lines["repaired"]


def test_an_added_option_needs_a_restart_and_then_runs(started, cluster, client):
    """The restarted worker has another identity, and a run with the option does what it says."""
    desk, before = started("old")
    desk.pull((*OPTIONS, AMP))
    cluster.kill("old")
    cluster.await_workers(client)
    cluster.worker("old", desk.script)
    after = cluster.await_workers(client, "old")
    assert after["old"].beat.identity != before["old"].beat.identity
    code, out, _ = cluster.run("submit", "--section", "Tower", "--T_max", "24", "--amp", "1")
    assert code == 0
    job = out.split()[0]
    wait_until(lambda: Results(cluster.results).get(job), "the result")
    assert Results(cluster.results).get(job)["result"]["settings"]["amp"] == 1


def test_a_job_whose_worker_is_killed_is_run_by_another_once(started, cluster, client):
    """Equal workers are told apart by their processes; the job has one result, and it is from the one that lived."""
    _, listed = started("one", "two")
    assert len({one.beat.identity for one in listed.values()}) == 1
    assert len({one.beat.instance for one in listed.values()}) == 2
    job = job_for({"section": "Retried", "step_s": "0.7"}, listed.values())
    future = queue(client, job)
    busy = _running(cluster, client, job)
    cluster.kill(busy)
    (other,) = {"one", "two"} - {busy}
    outcome = future.result(timeout=120)
    assert outcome["worker"]["pid"] == listed[other].beat.instance.pid
    assert Results(cluster.results).jobs().count(job.id) == 1
    assert Results(cluster.results).get(job.id) == outcome


def _running(cluster, client, job):
    """The name of the worker that has begun the job."""

    def found():
        listed = cluster.listed(client).items()
        return [name for name, one in listed if one.beat.running and one.beat.running.job == job.id]

    wait_until(found, "a worker with the job")
    return found()[0]


def test_a_job_waits_for_a_worker_of_its_queue(started, cluster, client):
    """With the last one gone it is neither lost nor run by others; one that comes takes it."""
    desk, listed = started("one")
    job = job_for({"section": "Waiting"}, listed.values())
    cluster.kill("one")
    cluster.await_workers(client)
    future = queue(client, job)
    other = cluster.folder / "other" / "train.py"
    other.parent.mkdir()
    other.write_text(desk.script.read_text().replace('"version": 1', '"version": 2'))
    cluster.worker("other", other)
    cluster.await_workers(client, "other")
    cluster.beats_of(client, "other", 1)
    assert (future.status, Results(cluster.results).get(job.id)) == ("pending", None)
    cluster.worker("again", desk.script)
    assert future.result(timeout=120)["result"]["version"] == 1
    cluster.kill("other")
    cluster.kill("again")


def test_a_run_outlives_the_command_that_queued_it(started, cluster, client):
    """The command has ended when the run begins its second step."""
    started("one")
    submitter = subprocess.run(
        cluster.command("submit", "--section", "Unattended", "--step_s", "0.2"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    job = submitter.stdout.split()[0]
    wait_until(lambda: Results(cluster.results).get(job), "the result")
    assert Results(cluster.results).get(job)["result"]["settings"]["section"] == "Unattended"
