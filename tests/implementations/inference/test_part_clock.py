"""Every moment belongs to one part."""

import pytest

from implementations.inference import part_clock
from implementations.inference.part_clock import PartClock


@pytest.fixture
def clock_at(monkeypatch):
    """A clock whose time is told by the test."""
    readings = []
    monkeypatch.setattr(part_clock, "perf_counter", lambda: readings.pop(0))
    clock = PartClock()

    def at(seconds, call, *args):
        readings.append(seconds)
        call(*args)

    return clock, at


def test_time_goes_to_the_part_marked_last(clock_at):
    """Until the next mark; a part that comes again is added to."""
    clock, at = clock_at
    at(10.0, clock.mark, "a")
    at(11.0, clock.mark, "b")
    at(15.0, clock.mark, "a")
    at(15.5, clock.stop)
    assert clock.seconds == {"a": 1.5, "b": 4.0}
    assert clock.total == 5.5


def test_nothing_runs_between_stop_and_mark(clock_at):
    """The time of whoever is not measured."""
    clock, at = clock_at
    at(1.0, clock.mark, "a")
    at(2.0, clock.stop)
    at(9.0, clock.mark, "a")
    at(9.25, clock.stop)
    at(20.0, clock.stop)
    assert clock.seconds == {"a": 1.25}
