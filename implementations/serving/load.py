"""When requests are sent: on a schedule that does not wait for answers, or each as another ends.

Follows: Tene, "How NOT to measure latency" (2013): under a schedule a request is late from the moment it was due, also
where it then had to wait for a free slot. A client that starts its watch when the slot is free leaves that wait out
("coordinated omission"), so both times are kept.
Leaves out: several machines that send.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from implementations.serving.client import Exchange, Target, exchange

Floats = NDArray[np.float64]


def constant(rate_per_s: float, count: int) -> Floats:
    """Equal intervals, the first request at 0.

    Args:
        rate_per_s: requests a second.
        count: requests.

    Returns:
        Due times in seconds (count,).

    Raises:
        ValueError: a rate that is not above 0, or a negative count.
    """
    _check_schedule(rate_per_s, count)
    return np.arange(count) / rate_per_s


def poisson(rate_per_s: float, count: int, rng: np.random.Generator) -> Floats:
    """Exponential intervals, the first request at 0.

    Args:
        rate_per_s: requests a second, on average.
        count: requests.
        rng: draws the intervals.

    Returns:
        Due times in seconds (count,).

    Raises:
        ValueError: a rate that is not above 0, or a negative count.
    """
    _check_schedule(rate_per_s, count)
    intervals_s = rng.exponential(1 / rate_per_s, size=max(0, count - 1))
    return np.concatenate([np.zeros(min(1, count)), np.cumsum(intervals_s)])


def _check_schedule(rate_per_s: float, count: int) -> None:
    if not rate_per_s > 0:
        raise ValueError(f"a rate is above 0 requests a second, got {rate_per_s}")
    if count < 0:
        raise ValueError(f"a schedule has at least 0 requests, got {count}")


async def run(
    target: Target,
    requests: Sequence[bytes],
    *,
    due_s: Sequence[float] | Floats | None = None,
    slots: int | None = None,
    timeout_s: float = 600.0,
    ended: Callable[[Exchange], None] = lambda _: None,
) -> list[Exchange]:
    """Send all requests and wait for their ends.

    Args:
        target: where to.
        requests: their bytes.
        due_s: when each is due, in seconds from now; without it each is due when a slot is free.
        slots: most requests open at once; without it, any number.
        timeout_s: for each.
        ended: called as each ends.

    Returns:
        One exchange a request, in their order.

    Raises:
        ValueError: another number of due times than of requests, one that never comes, or no slot.
    """
    if due_s is not None and len(due_s) != len(requests):
        raise ValueError(f"{len(due_s)} due times for {len(requests)} requests")
    if due_s is not None and not np.isfinite(due_s).all():
        raise ValueError(f"due times {list(due_s)[:5]}; each must be a finite number of seconds")
    if slots is not None and slots < 1:
        raise ValueError(f"requests need at least one slot, got {slots}")
    free = asyncio.Semaphore(slots or max(1, len(requests)))  # lets waiters in by turns
    began_s = time.perf_counter()

    async def one(number: int) -> Exchange:
        due = None
        if due_s is not None:
            due = began_s + float(due_s[number])
            await asyncio.sleep(due - time.perf_counter())
        async with free:
            found = await exchange(target, requests[number], due_s=due, timeout_s=timeout_s)
        ended(found)
        return found

    return list(await asyncio.gather(*(one(number) for number in range(len(requests)))))
