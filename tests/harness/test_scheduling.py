from types import SimpleNamespace

import pytest

pytest.importorskip("xdist")

from runtwice import plugin
from runtwice.scheduling import TopicScheduling

IDS = [
    "claims/shop/test_shop.py::test_a",
    "claims/shop/test_more.py::TestGroup::test_b",
    "claims/bank/test_bank.py::test_c",
    "claims/shop/test_shop.py::test_d",
    "tests/test_one.py::test_e",
    "tests/test_one.py::test_f",
]


class Worker:
    """A worker that remembers what it was sent."""

    def __init__(self, name):
        self.gateway = SimpleNamespace(id=name)
        self.sent = []
        self.shutting_down = False

    def send_runtest_some(self, indices):
        self.sent.append([IDS[i] for i in indices])

    def shutdown(self):
        self.shutting_down = True


@pytest.fixture
def a_config(tmp_path):
    """A run of two topics, with these arguments."""
    for topic in ("shop", "bank"):
        (tmp_path / "claims" / topic).mkdir(parents=True)
        (tmp_path / "claims" / topic / "claims.toml").touch()

    def config(*arguments):
        return SimpleNamespace(
            rootpath=tmp_path,
            option=SimpleNamespace(loadscopereorder=False),
            getvalue=lambda name: ["popen"],
            invocation_params=SimpleNamespace(args=("claims/", *arguments)),
        )

    return config


def log(*words):
    """A log that nobody reads."""


log.loadscopesched = log


@pytest.fixture
def started(a_config):
    """A schedule that some workers have begun."""

    def start(*workers):
        schedule = TopicScheduling(a_config(), log)
        schedule.numnodes = len(workers)
        for worker in workers:
            schedule.add_node(worker)
            schedule.add_node_collection(worker, IDS)
        schedule.schedule()
        return schedule

    return start


def finish(schedule, worker, *names):
    """Let a worker finish these tests."""
    for name in names:
        schedule.mark_test_complete(worker, IDS.index(name))


def test_a_topic_stays_on_one_worker(started):
    """Modules and classes of a topic are one unit of work; of other tests, each is one."""
    one, other = Worker("gw0"), Worker("gw1")
    started(one, other)
    assert one.sent[0] == [IDS[0], IDS[1], IDS[3]]
    assert other.sent[0] == [IDS[2]]
    assert [*one.sent[1:], *other.sent[1:]] == [[IDS[4]]]


def test_what_a_dead_worker_left_is_taken_up_by_another(started):
    """Neither what it had finished nor what it died of is handed out again."""
    one, other, third = Worker("gw0"), Worker("gw1"), Worker("gw2")
    schedule = started(one, other)
    finish(schedule, one, IDS[0])
    assert schedule.remove_node(one) == IDS[1]
    schedule.add_node(third)
    schedule.add_node_collection(third, IDS)
    finish(schedule, other, IDS[2], IDS[4])
    schedule.schedule()
    sent = [nodeid for worker in (other, third) for unit in worker.sent for nodeid in unit]
    assert sorted(sent) == sorted([IDS[2], IDS[3], IDS[4], IDS[5]])


def test_a_worker_that_died_of_its_last_test_leaves_nothing(started):
    """The one that replaces it is sent home, not left waiting."""
    one, third = Worker("gw0"), Worker("gw2")
    schedule = started(one)
    finish(schedule, one, *(name for name in IDS if name != IDS[5]))
    assert schedule.remove_node(one) == IDS[5]
    schedule.add_node(third)
    schedule.add_node_collection(third, IDS)
    schedule.schedule()
    assert third.sent == []
    assert third.shutting_down


def test_a_worker_that_is_done_died_of_nothing(started):
    """An orderly end is no crash."""
    one = Worker("gw0")
    schedule = started(one)
    finish(schedule, one, *IDS)
    assert schedule.remove_node(one) is None


@pytest.mark.parametrize("argument", ["--dist=load", "--dist"])
def test_another_distribution_may_be_asked_for(a_config, argument):
    """`--dist` overrules the grouping by topic."""
    assert plugin.pytest_xdist_make_scheduler(a_config(argument), log) is None
    assert isinstance(plugin.pytest_xdist_make_scheduler(a_config(), log), TopicScheduling)
