"""A request can leave from wherever it stands."""

import pytest

from implementations.itl.config import EngineConfig
from implementations.itl.scheduler import Request
from implementations.serving.scheduler import AbortingScheduler


def scheduler_with(*sizes, **settings):
    """A scheduler and one request for each (prompt tokens, answer tokens)."""
    found = AbortingScheduler(EngineConfig(**{"kv_blocks": 4, "readmit_headroom_blocks": 0, **settings}))
    requests = [Request(number, 0.0, answer, [1] * prompt) for number, (prompt, answer) in enumerate(sizes)]
    for request in requests:
        found.submit(request)
    return found, requests


def step(found):
    found.complete(found.schedule())
    found.check()


def test_one_that_waits():
    """It holds nothing, and is never admitted."""
    found, (first, second) = scheduler_with((16, 4), (16, 4), max_num_seqs=1)
    step(found)
    assert list(found.waiting) == [second]
    assert found.abort(second)
    assert found.running == [first]
    assert not found.waiting


@pytest.mark.parametrize("budget", [2048, 8])
def test_one_that_runs_gives_its_blocks_back(budget):
    """In the middle of its prompt or of its answer."""
    found, (request,) = scheduler_with((20, 10), token_budget=budget)
    step(found)
    assert found.pool.n_free < 4
    assert found.abort(request)
    found.check()
    assert found.pool.n_free == 4
    assert found.idle


def test_one_that_was_evicted():
    """Its blocks are gone already; nobody readmits it."""
    found, requests = scheduler_with((16, 40), (16, 40), (16, 40), kv_blocks=5)
    while not found.evicted:
        step(found)
    victim = found.evicted[0]
    assert found.abort(victim)
    while not found.idle:
        step(found)
    assert victim.emitted < 40
    assert all(request.emitted == 40 for request in requests if request is not victim)
    assert found.pool.n_free == 5


def test_one_that_has_ended():
    """Is not there, and that is no fault."""
    found, (request,) = scheduler_with((16, 1))
    step(found)
    assert not found.abort(request)
