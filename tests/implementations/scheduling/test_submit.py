import pytest

pytest.importorskip("distributed")

from dataclasses import replace

from claims.experiments.training_scripts import AMP, OPTIONS, Desk
from implementations.scheduling.heartbeat import FULL, READ_ONCE, Contents
from implementations.scheduling.script_worker import queue_of
from implementations.scheduling.submit import Listed, NoWorker, _listed, job_for

TOWER = {"section": "Tower", "T_max": "24", "amp": "1"}


@pytest.fixture
def listed(tmp_path):
    """Lists a worker of a script with these options, read with these contents."""

    def a_worker(name="a", options=OPTIONS, contents=FULL, pulled=None):
        desk = Desk(tmp_path / name, options)
        worker = desk.worker(contents)
        if pulled:
            desk.pull(pulled)
        return Listed(name, f"tcp://{name}", worker.beat())

    return a_worker


def test_a_job_goes_to_the_worker_that_offers_all_of_it(listed):
    """With the values typed as that worker's script declares them."""
    worker = listed("b", (*OPTIONS, AMP))
    job = job_for(TOWER, [listed("a"), worker])
    assert (job.queue, job.options) == (queue_of(worker.beat), {"section": "Tower", "T_max": 24, "amp": 1})


def test_each_job_has_an_id_of_its_own(listed):
    """The same run twice is two jobs."""
    worker = listed()
    assert job_for({}, [worker]).id != job_for({}, [worker]).id


def test_an_option_nobody_has_is_refused_with_the_reason(listed):
    """By worker; it is not dropped."""
    with pytest.raises(NoWorker, match=r"a: no option --amp; the 13 there are: .*; b: no option --amp"):
        job_for(TOWER, [listed("a"), listed("b")])


def test_a_worker_whose_code_is_stale_is_passed_over(listed):
    """It says so itself; the copy of the start alone would not."""
    stale = listed("a", pulled=(*OPTIONS, AMP))
    with pytest.raises(NoWorker, match="a: the code on its disk is not the code it runs; restart it"):
        job_for({"section": "Tower"}, [stale])
    assert job_for({"section": "Tower"}, [listed("b", contents=READ_ONCE, pulled=(*OPTIONS, AMP))])


def test_a_worker_that_is_not_believed_takes_nothing(listed):
    """No beat, or none that lists options."""
    nobody = Listed("a", "tcp://a", None, "not signed with the token of this cluster")
    silent = listed("b", contents=Contents("none"))
    with pytest.raises(
        NoWorker, match="a: not signed with the token of this cluster; b: its heartbeat lists no options"
    ):
        job_for({}, [nobody, silent])


def test_without_workers_there_is_nothing_to_queue_for():
    """A job that nobody could ever take is refused."""
    with pytest.raises(NoWorker, match="the scheduler has no workers"):
        job_for({}, [])


def test_a_queue_is_one_of_options_and_of_code_where_that_is_known(listed):
    """Restarted on other code, a worker serves another queue; with the copy of the start alone it serves the same."""
    for contents, queues in ((FULL, 2), (READ_ONCE, 1)):
        beat = listed(contents=contents).beat
        other = replace(beat, code=replace(beat.code, loaded="other")) if beat.code else beat
        assert len({queue_of(beat), queue_of(other)}) == queues


def test_a_beat_without_options_belongs_to_no_queue(listed):
    """There is nothing a job could be held against."""
    with pytest.raises(ValueError, match="belongs to no queue"):
        queue_of(listed(contents=Contents("none")).beat)


@pytest.mark.parametrize(
    "record", [{}, {"sent_at_s": "now"}, "beat", {"sent_at_s": 1.0, "parameters": [{"name": "a", "kind": "path"}]}]
)
@pytest.mark.parametrize("token", ["", "secret"])
def test_a_heartbeat_that_cannot_be_read_hides_no_other_worker(record, token):
    """Its worker is listed with the reason, and passed over."""
    found = _listed("odd", "tcp://odd", record, token)
    assert found.beat is None
    assert found.fault
    with pytest.raises(NoWorker, match="odd: "):
        job_for({}, [found])
