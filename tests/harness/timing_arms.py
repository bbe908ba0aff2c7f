"""Arms for the tests of timings: good ones of known ratio, and one for each way of being bad.

The slow work is three times the steps of the quick work, and both are small.
"""

import asyncio
import atexit
import gc
import os
import sys
import time


def work(steps=2_000):
    """A loop of this many steps."""
    total = 0
    for step in range(steps):
        total += step * step
    return total


def thrice(steps=2_000):
    """The same steps three times over."""
    return work(3 * steps)


def make_steps(steps):
    """Set up a case of one argument."""
    return steps


def make_positions(steps, times):
    """Set up a case of two positional arguments."""
    return (steps, times)


def make_keywords(steps):
    """Set up a case of keywords."""
    return {"steps": steps, "times": 2}


def work_times(steps, times):
    """A loop of steps times over."""
    return work(steps * times)


def without_collector(steps=2_000):
    """Work that fails where the cyclic collector is on, from the second call (the first warms up)."""
    without_collector.calls = getattr(without_collector, "calls", 0) + 1
    if without_collector.calls > 1 and gc.isenabled():
        raise RuntimeError("the collector is on")
    return work(steps)


def alone(steps=2_000):
    """Work that fails beside pytest, NumPy or this package."""
    loaded = {"pytest", "numpy", "scipy", "runtwice"} & set(sys.modules)
    if loaded:
        raise RuntimeError(f"{sorted(loaded)} is loaded")
    return work(steps)


def on_one_thread(steps=2_000):
    """Work that fails where a thread pool may have more than one thread."""
    if os.environ["OMP_NUM_THREADS"] != "1" or os.environ["OPENBLAS_NUM_THREADS"] != "1":
        raise RuntimeError("threads are not pinned")
    return work(steps)


def note_setup(path, name):
    """Write down who is set up, and make a case of both."""
    with open(path, "a") as notes:
        notes.write(name)
    return (path, name)


def noting(path, name):
    """Write down who is called in the timed rounds, and take longer than a round must last."""
    if gc.get_freeze_count():
        with open(path, "a") as notes:
            notes.write(name)
    time.sleep(0.004)


def chatty(steps=2_000):
    """Work that prints, past Python's own streams too, and once more when the process ends."""
    if not hasattr(chatty, "called"):
        chatty.called = atexit.register(print, '{"times": {}}')
    print('{"times": {}}')
    os.write(1, b'{"fault": {}}\n')
    return work(steps)


def raising(steps=2_000):
    """Raises at once."""
    raise KeyError("no such knob")


def raising_later(steps=2_000):
    """Raises in the timed rounds only, before which the worker freezes what the set-up made."""
    if gc.get_freeze_count():
        raise ZeroDivisionError("worn out")
    return work(steps)


def leaving(steps=2_000):
    """Ends the process as a normal exit does."""
    sys.exit(0)


def vanishing(steps=2_000):
    """Ends the process without a word."""
    os._exit(3)


def hanging(steps=2_000):
    """Never comes back."""
    time.sleep(3_600)


def early(steps=2_000):
    """Returns without having done anything."""


def lazy(steps=2_000):
    """A generator: nothing runs until it is asked."""
    yield work(steps)


async def unawaited(steps=2_000):
    """A coroutine nobody awaits."""
    await asyncio.sleep(0)


def bad_setup(steps):
    """A set-up that fails."""
    raise OSError("no such data set")


not_callable = 3
