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


def a_config(*arguments):
    option = SimpleNamespace(loadscopereorder=False)
    return SimpleNamespace(
        option=option, getvalue=lambda name: ["popen"], invocation_params=SimpleNamespace(args=("claims/", *arguments))
    )


def log(*words):
    """A log that nobody reads."""


log.loadscopesched = log


def started(*workers):
    """A schedule that these workers have begun."""
    schedule = TopicScheduling(a_config(), log)
    schedule.numnodes = len(workers)
    for worker in workers:
        schedule.add_node(worker)
        schedule.add_node_collection(worker, IDS)
    schedule.schedule()
    return schedule


def test_a_topic_stays_on_one_worker():
    """Modules and classes of one folder are one unit of work."""
    one, other = Worker("gw0"), Worker("gw1")
    started(one, other)
    assert one.sent == [[IDS[0], IDS[1], IDS[3]]]
    assert other.sent == [[IDS[2]]]


def test_what_a_dead_worker_left_is_taken_up_by_another():
    """Neither what it had finished nor what it died of is handed out again."""
    one, other, third = Worker("gw0"), Worker("gw1"), Worker("gw2")
    schedule = started(one, other)
    schedule.mark_test_complete(one, 0)
    assert schedule.remove_node(one) == IDS[1]
    schedule.add_node(third)
    schedule.add_node_collection(third, IDS)
    schedule.schedule()
    assert [*other.sent[1:], *third.sent] == [[IDS[3]]]


def test_a_worker_that_died_of_its_last_test_leaves_nothing():
    """The one that replaces it is sent home, not left waiting."""
    one, third = Worker("gw0"), Worker("gw2")
    schedule = started(one)
    for index in (0, 1, 3, 2):
        if index != 2:
            schedule.mark_test_complete(one, index)
    assert schedule.remove_node(one) == IDS[2]
    schedule.add_node(third)
    schedule.add_node_collection(third, IDS)
    schedule.schedule()
    assert third.sent == []
    assert third.shutting_down


def test_a_worker_that_is_done_died_of_nothing():
    """An orderly end is no crash."""
    one = Worker("gw0")
    schedule = started(one)
    for index in range(4):
        schedule.mark_test_complete(one, index)
    assert schedule.remove_node(one) is None


@pytest.mark.parametrize("argument", ["--dist=load", "--dist"])
def test_another_distribution_may_be_asked_for(argument):
    """`--dist` overrules the grouping by topic."""
    assert plugin.pytest_xdist_make_scheduler(a_config(argument), log) is None
    assert isinstance(plugin.pytest_xdist_make_scheduler(a_config(), log), TopicScheduling)
