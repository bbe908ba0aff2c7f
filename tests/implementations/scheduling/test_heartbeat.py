import json

import pytest

from claims.experiments.training_scripts import AMP, OPTIONS, Desk
from implementations.scheduling.heartbeat import FULL, READ_ONCE, Beat, Contents, Running, age_s, is_late

FRESH = Contents("fresh", code=False, progress=False, instance=False)


@pytest.fixture
def desk(tmp_path):
    """A folder with a training script, and a clock."""
    return Desk(tmp_path / "code")


def options(beat):
    return len(beat.parameters)


def test_a_copy_of_the_start_is_repeated(desk):
    """Whatever happens to the file, and however often one asks; its identity with it."""
    worker = desk.worker(READ_ONCE)
    before = worker.beat()
    desk.pull((*OPTIONS, AMP))
    desk.now_s += 4 * 3600
    beats = [worker.beat() for _ in range(100)]
    assert {options(beat) for beat in beats} == {13}
    assert {beat.identity for beat in beats} == {before.identity}


def test_options_that_are_read_anew_show_at_the_next_beat(desk):
    """And give another identity."""
    worker = desk.worker(FRESH)
    before = worker.beat()
    desk.pull((*OPTIONS, AMP))
    assert options(worker.beat()) == 14
    assert worker.beat().identity != before.identity


def test_digests_turn_stale_at_the_next_beat(desk):
    """Though the options are those of the start; the age is that of the code in memory when the file was written."""
    worker = desk.worker(FULL)
    assert (worker.beat().code.stale, worker.beat().code.behind_s) == (False, 0.0)
    desk.now_s += 4 * 3600
    desk.pull(version=2)
    desk.now_s += 60
    code = worker.beat().code
    assert (code.stale, code.behind_s) == (True, 4 * 3600)


def test_a_restart_is_current(desk):
    """A worker that starts after the change has loaded what is on the disk."""
    desk.worker(FULL)
    desk.pull((*OPTIONS, AMP))
    beat = desk.worker(FULL).beat()
    assert (options(beat), beat.code.stale) == (14, False)


def test_code_that_comes_back_is_no_longer_stale(desk):
    """The digests are compared, not the times."""
    worker = desk.worker(FULL)
    desk.now_s += 60
    desk.pull(version=2)
    desk.pull(version=1)
    assert (worker.beat().code.stale, worker.beat().code.behind_s) == (False, 0.0)


@pytest.mark.parametrize(("age", "late"), [(0.0, False), (9.9, False), (10.0, True), (100.0, True)])
def test_two_intervals_make_a_beat_late(age, late):
    """The rule asks for the time and for nothing else."""
    beat = Beat(sent_at_s=1000.0)
    assert age_s(beat, 1000.0 + age) == pytest.approx(age)
    assert is_late(beat, 1000.0 + age, interval_s=5.0) is late


def test_progress_shows_where_the_job_is(desk):
    """Nothing between jobs."""
    worker = desk.worker(FULL)
    worker.report(1, 3)
    assert worker.beat().running is None
    worker.running = Running("job-1")
    worker.report(2, 3)
    assert worker.beat().running == Running("job-1", 2, 3)


@pytest.mark.parametrize("contents", [FULL, READ_ONCE, FRESH, Contents("none")])
def test_a_beat_survives_the_wire(desk, contents):
    """Through JSON and back it is the same beat, and carries what it was told to."""
    worker = desk.worker(contents)
    worker.running = Running("job-1", 1, 3)
    beat = worker.beat()
    assert Beat.from_record(json.loads(json.dumps(beat.to_record()))) == beat
    carried = (beat.parameters, beat.code, beat.running, beat.instance)
    wanted = (contents.options != "none", contents.code, contents.progress, contents.instance)
    assert tuple(one is not None for one in carried) == wanted


def test_a_beat_without_options_has_no_identity():
    """There is nothing to take a hash of."""
    assert Beat(0.0).identity is None
