"""Experiments of this topic that several claims share, each run once a session."""

from functools import cache, partial

import pytest


@pytest.fixture(scope="session")
def by_prompt():
    """Requests of 64 answer tokens after each of the post's prompts, one process a run: by length, one run each."""
    from claims.experiments import request_times

    run = cache(partial(request_times.process, "by_prompt"))

    def runs(count, names=request_times.PROMPTS):
        found = [run(seed) for seed in range(int(count))]
        return {name: [one[str(name)] for one in found] for name in names}

    return runs


@pytest.fixture(scope="session")
def halved(by_prompt):
    """Requests after the shortest of them to half of the layers, in the same processes."""
    from claims.experiments.request_times import HALVED

    return lambda count: by_prompt(count, [HALVED])[HALVED]


@pytest.fixture(scope="session")
def request_times():
    """Any other experiment on single requests, by its name, number of processes and settings."""
    from claims.experiments import request_times

    return lambda name, count, **settings: request_times.processes(name, int(count), **plain(settings))


def plain(value):
    """A condition of a claim as the plain value that goes to another process."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, int) else value


@pytest.fixture(scope="session")
def session_pairs():
    """The same request through HTTP and inside the engine, by number of processes."""
    from claims.experiments import served_requests

    return cache(served_requests.pairs)


@pytest.fixture(scope="session")
def batch_speeds():
    """Tokens a second of a whole batch by its size, one curve a run."""
    from claims.experiments import decode_batches

    @cache
    def curves(runs, batches, context_tokens, rounds):
        from statistics import median

        return [
            [size / median(decode_batches.decode_seconds(size, context_tokens, size, rounds)) for size in batches]
            for _ in range(runs)
        ]

    return curves


@pytest.fixture
def small_shape():
    """A decoder's sizes where only the order of things matters."""
    from claims.experiments.conveyor import small_shape

    return small_shape()


@pytest.fixture
def decoder(small_shape):
    """A small decoder with random weights."""
    import numpy as np

    from implementations.inference.decoder import Decoder
    from implementations.inference.weights import Weights

    return Decoder(Weights.random(small_shape, np.random.default_rng(0)))


@pytest.fixture
def new_cache(small_shape):
    """Makes an empty cache for it."""
    from implementations.inference.cache import Cache

    return lambda room=256: Cache(small_shape, room)


@pytest.fixture
def plain_decoder(decoder):
    """Makes a decoder on the same weights that computes as the post's does."""
    from claims.experiments.plain_decoder import PlainDecoder

    return lambda room=256, **options: PlainDecoder(decoder.weights, room, **options)


@pytest.fixture
def conveyed():
    """One request end to end, event by event."""
    from claims.experiments.conveyor import conveyed

    return conveyed


@pytest.fixture
def counted():
    """Counts the passes of a reader."""
    from claims.experiments.conveyor import Counted

    return Counted


@pytest.fixture
def prompt():
    """Random token ids."""
    import numpy as np

    return lambda length, seed=0: np.random.default_rng(seed).integers(0, 256, int(length)).tolist()
