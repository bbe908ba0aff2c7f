from dataclasses import replace

import pytest

from claims.experiments.training_scripts import AMP, OPTIONS, Desk
from implementations.scheduling.heartbeat import FULL, READ_ONCE, Contents, Running
from implementations.scheduling.status_light import StatusLight
from implementations.scheduling.training_script import load

NONE = Contents("none", code=False, progress=False, instance=False)
FRESH = Contents("fresh", code=False, progress=False, instance=False)


@pytest.fixture
def desk(tmp_path):
    """A folder with a training script, and a clock."""
    return Desk(tmp_path / "code")


def watch(desk, worker, beats, light=None, each=lambda beat: None):
    """A light that saw these beats, five seconds apart."""
    light = light or StatusLight(5.0)
    for beat in range(beats):
        each(beat)
        light.see(worker.beat(), sender="a")
        desk.now_s += 5.0
    return light


@pytest.mark.parametrize("contents", [NONE, READ_ONCE, FRESH, FULL])
def test_a_sound_worker_is_green(desk, contents):
    """Whatever its beats carry."""
    worker = desk.worker(contents)
    worker.running = Running("job-1")
    light = watch(desk, worker, 20, each=lambda beat: worker.report(beat, 20))
    assert (light.complaints(desk.now_s), light.entries) == (set(), 1)


@pytest.mark.parametrize("contents", [NONE, READ_ONCE, FRESH, FULL])
def test_a_dead_worker_is_late_after_two_intervals(desk, contents):
    """Whatever its beats carry."""
    light = watch(desk, desk.worker(contents), 3)
    assert light.complaints(desk.now_s + 4.9) == set()
    assert light.complaints(desk.now_s + 5.0) == {"late"}


def test_a_change_under_a_cached_list_is_not_seen(desk):
    """Neither of the options nor of the code: the fault itself."""
    worker = desk.worker(READ_ONCE)
    light = watch(desk, worker, 20, each=lambda beat: desk.pull((*OPTIONS, AMP)) if beat == 5 else None)
    assert light.complaints(desk.now_s) == set()


def test_a_list_that_is_read_anew_is_another_identity(desk):
    """In a table keyed by the hash it is a second worker, and the first goes late."""
    light = watch(desk, desk.worker(FRESH), 3)
    worker = desk.worker(FRESH)
    desk.pull((*OPTIONS, AMP))
    watch(desk, worker, 3, light)
    assert (light.complaints(desk.now_s), light.entries) == ({"new identity", "late"}, 2)


def test_digests_see_what_options_do_not(desk):
    """Code that changed with its options the same."""
    worker = desk.worker(FULL)
    light = watch(desk, worker, 3)
    desk.pull(version=2)
    assert watch(desk, worker, 1, light).complaints(desk.now_s) == {"stale"}


def test_a_job_without_a_step_is_hung_and_an_idle_worker_is_not(desk):
    """Three beats in a row with the same step; a step makes it well again."""
    worker = desk.worker(FULL)
    light = watch(desk, worker, 9)
    assert light.complaints(desk.now_s) == set()
    worker.running = Running("job-1", 1, 3)
    assert "hung" in watch(desk, worker, 4, light).complaints(desk.now_s)
    worker.report(2, 3)
    assert watch(desk, worker, 1, light).complaints(desk.now_s) == set()


def test_two_instances_of_one_identity_are_a_duplicate(desk):
    """Where the beats tell them apart; keyed by the hash, one entry stands for both."""
    for contents, complaints, entries in ((FULL, {"duplicate"}, 2), (READ_ONCE, set(), 1)):
        light = watch(desk, desk.worker(contents), 1)
        other = desk.worker(contents)
        other.instance = replace(other.instance, pid=other.instance.pid + 1)
        desk.now_s -= 5.0
        watch(desk, other, 1, light)
        assert (light.complaints(desk.now_s), light.entries) == (complaints, entries)


def test_a_checkout_shows_other_options_and_other_code(desk, tmp_path):
    """What the observer has is compared with what the worker says."""
    ours = Desk(tmp_path / "ours", (*OPTIONS, AMP))
    light = StatusLight(5.0, load(ours.script, 0.0))
    watch(desk, desk.worker(FULL), 1, light)
    assert light.complaints(desk.now_s) == {"other code", "other options"}
    desk.pull((*OPTIONS, AMP))
    light = StatusLight(5.0, load(ours.script, 0.0))
    assert watch(desk, desk.worker(FULL), 1, light).complaints(desk.now_s) == set()


@pytest.mark.parametrize("interval_s", [0.0, -1.0, float("nan")])
def test_an_interval_of_no_length_is_refused(interval_s):
    """Every beat would be late, or none."""
    with pytest.raises(ValueError, match="must be above 0"):
        StatusLight(interval_s)
