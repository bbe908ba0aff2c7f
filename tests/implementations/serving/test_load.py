"""Schedules are kept, and what they cost is seen."""

import asyncio
import time

import numpy as np
import pytest

from implementations.serving import load
from implementations.serving.client import Target
from implementations.serving.timing import percentile
from tests.implementations.serving.streams import DONE, completion, framed, head


def run_against(service_s, count, **options):
    """Requests against a server that answers each after a while; the exchanges and the most it saw at once."""
    busy = [0, 0]

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        busy[0] += 1
        busy[1] = max(busy)
        await asyncio.sleep(service_s)
        busy[0] -= 1
        writer.write(head() + framed(completion("a", "stop")) + DONE)
        writer.close()

    async def everything():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            target = Target("127.0.0.1", server.sockets[0].getsockname()[1])
            return await load.run(target, [target.request("POST", "completions", {})] * count, **options)

    return asyncio.run(everything()), busy[1]


def test_waiting_for_a_slot_counts():
    """Row 16, ten times faster: one slot, 50 ms of service, 100 requests a second; the last waits for seven others."""
    found, _ = run_against(0.05, 8, due_s=load.constant(100, 8), slots=1)
    naive = percentile([one.ended_s - one.started_s for one in found], 99)
    from_due = percentile([one.ended_s - one.due_s for one in found], 99)
    assert from_due >= percentile([0.05 * (k + 1) - 0.01 * k for k in range(8)], 99)
    assert naive < from_due / 2
    assert [one.started_s for one in found] == sorted(one.started_s for one in found), "first due, first served"


def test_a_schedule_does_not_wait_for_answers():
    """Ten requests a tenth of a second apart in service time, all of them open at once."""
    found, most = run_against(0.3, 10, due_s=load.constant(200, 10))
    assert most == 10
    assert np.diff([one.due_s for one in found]) == pytest.approx([0.005] * 9)
    assert min(one.started_s - one.due_s for one in found) >= 0


def test_without_a_schedule_each_follows_another():
    """Slots bound what is open, and nothing is late because nothing was due."""
    found, most = run_against(0.01, 9, slots=3)
    assert most == 3
    assert all(one.due_s == one.started_s for one in found)


def test_ends_are_told_one_by_one():
    """For a progress bar."""
    seen = []
    found, _ = run_against(0.0, 5, slots=1, ended=seen.append)
    assert seen == found


def test_constant_arrivals():
    """Equal intervals from 0."""
    assert load.constant(4.0, 3).tolist() == [0.0, 0.25, 0.5]


def test_poisson_arrivals_have_their_rate_and_spread():
    """Exponential intervals have a mean and a standard deviation of 0.1 s, here to within five standard errors."""
    due_s = load.poisson(10.0, 20_000, np.random.default_rng(0))
    intervals_s = np.diff(due_s)
    assert due_s[0] == 0
    assert intervals_s.mean() == pytest.approx(0.1, abs=5 * 0.1 / 20_000**0.5)
    assert intervals_s.std() == pytest.approx(0.1, abs=5 * 0.1 * (2 / 20_000) ** 0.5)
    assert load.poisson(10.0, 0, np.random.default_rng(0)).shape == (0,)


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_is_positive(rate):
    """Both schedules say so."""
    with pytest.raises(ValueError, match="above 0"):
        load.constant(rate, 1)
    with pytest.raises(ValueError, match="above 0"):
        load.poisson(rate, 1, np.random.default_rng(0))


def test_a_schedule_of_fewer_than_no_requests_is_refused():
    """By both."""
    with pytest.raises(ValueError, match="at least 0 requests"):
        load.constant(1.0, -1)
    with pytest.raises(ValueError, match="at least 0 requests"):
        load.poisson(1.0, -1, np.random.default_rng(0))


def test_due_times_and_slots_are_checked():
    """Before anything is sent."""
    target = Target("127.0.0.1", 1)
    with pytest.raises(ValueError, match="2 due times for 1 requests"):
        asyncio.run(load.run(target, [b""], due_s=[0.0, 1.0]))
    for never in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite number of seconds"):
            asyncio.run(load.run(target, [b""], due_s=[never]))
    with pytest.raises(ValueError, match="at least one slot"):
        asyncio.run(load.run(target, [b""], slots=0))


def test_a_time_already_past_is_no_reason_to_wait():
    """Requests that are overdue go out at once."""
    began_s = time.perf_counter()
    found, _ = run_against(0.0, 2, due_s=[-5.0, -5.0])
    assert time.perf_counter() - began_s < 5
    assert min(one.started_s - one.due_s for one in found) >= 5
