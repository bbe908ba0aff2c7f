import pytest

pytest.importorskip("distributed")

from dataclasses import replace

from claims.experiments.training_scripts import AMP, OPTIONS, Desk
from implementations.scheduling.job import Job
from implementations.scheduling.script_worker import ScriptPlugin
from implementations.scheduling.worker_token import WrongToken, signed, verified


@pytest.fixture
def desk(tmp_path):
    """A folder with a training script."""
    return Desk(tmp_path / "code")


@pytest.fixture
def plugin(desk, tmp_path):
    """Loads the script; it writes into `results`."""
    return lambda token="": ScriptPlugin(desk.script, tmp_path / "results", token=token)


def a_job(job="job-1", **options):
    return Job(job, "queue", options).to_record()


def test_a_job_leaves_its_result_and_where_it_came_from(plugin):
    """Options, digest of the code, process."""
    worker = plugin()
    found = worker.run(a_job(T_max=24))
    assert found == worker.results.get("job-1")
    assert found["result"]["settings"]["T_max"] == 24
    assert (found["options"], found["code"]) == ({"T_max": 24}, worker.pulse.loaded.digest)
    assert found["worker"]["pid"] > 0


def test_a_job_with_a_result_is_not_run_again(plugin, desk):
    """Its first worker may have died between the result and the word of it."""
    first = plugin().run(a_job())
    desk.pull(version=2)
    assert plugin().run(a_job()) == first


def test_a_run_that_fails_is_an_outcome(plugin, desk):
    """Kept as an error, for who comes to look; an option the loaded code lacks is one."""
    worker = plugin()
    desk.pull((*OPTIONS, AMP))
    found = worker.run(a_job(amp=1))
    assert found["error"].startswith("ValueError: no option --amp; the 13 there are")
    assert "result" not in found


def test_the_beat_shows_the_job_under_way_and_then_none(plugin, desk):
    """Step by step."""
    worker, seen = plugin(), []
    report = worker.pulse.report
    worker.pulse.report = lambda step, steps: (report(step, steps), seen.append(worker.beat()["running"]))
    worker.run(a_job())
    assert seen == [{"job": "job-1", "step": step, "steps": 3} for step in (1, 2, 3)]
    assert worker.beat()["running"] is None


def test_a_job_that_is_not_signed_is_not_run(plugin):
    """With no token or another; one that is signed is."""
    worker = plugin("token")
    for record in (a_job(), signed("other", a_job())):
        with pytest.raises(WrongToken):
            worker.run(record)
    assert worker.results.jobs() == []
    assert "result" in worker.run(signed("token", a_job()))


def test_a_beat_is_signed_where_there_is_a_token(plugin):
    """And its queue is the same as without one."""
    worker = plugin("token")
    assert verified("token", worker.beat())["parameters"]
    assert worker.queue == plugin().queue


def replaced(worker, result):
    """The worker with a script whose run is this function."""
    worker.pulse.loaded = replace(worker.pulse.loaded, train=lambda settings, report: result())
    return worker


def test_a_script_that_ends_the_process_is_a_run_that_failed(plugin):
    """`sys.exit` in a training script leaves an outcome, and the worker."""

    def leave():
        raise SystemExit(3)

    assert replaced(plugin(), leave).run(a_job())["error"] == "SystemExit: 3"


@pytest.mark.parametrize("result", [float("nan"), {1, 2}, b"weights"], ids=["nan", "set", "bytes"])
def test_a_result_that_cannot_be_kept_is_a_run_that_failed(plugin, result):
    """It is not lost in silence where nobody waits for the job."""
    worker = replaced(plugin(), lambda: result)
    found = worker.run(a_job())
    assert found["error"].startswith("the result cannot be kept")
    assert found == worker.results.get("job-1")
