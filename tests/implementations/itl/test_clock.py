"""The virtual clock moves when told and never back."""

import time

import pytest

from implementations.itl.clock import RealClock, VirtualClock


def test_virtual_time_is_the_sum_of_what_was_asked_for():
    """Work counts as processor time, sleep does not."""
    clock = VirtualClock(step_s=0.25)
    clock.advance(1.0)
    clock.sleep(2.0)
    clock.begin_step()
    assert (clock.now(), clock.cpu()) == (3.25, 1.25)
    clock.start()
    assert (clock.now(), clock.cpu()) == (0.0, 0.0)


def test_sleeping_until_a_time_that_is_past_is_no_error():
    """An arrival may be overdue."""
    for clock in (VirtualClock(), RealClock()):
        clock.start()
        clock.sleep(-1.0)
        assert clock.now() < 0.5


@pytest.mark.parametrize("seconds", [-1e-9, float("nan")])
def test_a_clock_does_not_go_back(seconds):
    """A negative or undefined cost is a fault of the cost model."""
    with pytest.raises(ValueError, match="only moves forward"):
        VirtualClock().advance(seconds)
    with pytest.raises(ValueError, match="step_s"):
        VirtualClock(seconds)


def test_the_real_clock_counts_processor_time_of_work_and_not_of_sleep():
    """Half a tenth of a second of each."""
    clock = RealClock()
    clock.start()
    before_s = clock.cpu()
    clock.sleep(0.05)
    asleep_s = clock.cpu() - before_s
    while time.thread_time() - before_s < 0.05:
        pass
    assert asleep_s < 0.02
    assert clock.cpu() - before_s >= 0.05
    assert clock.now() >= 0.1
