"""Experiments of this topic that several claims share; each runs once a session."""

from functools import cache

import pytest


@pytest.fixture(scope="session")
def small_token():
    """Operations by part of one token of the model, counted as they run, by number of notes."""
    from claims.experiments.counted_tokens import small_token

    return small_token


@pytest.fixture(scope="session")
def small_weights():
    """The model's matrices, of which only the sizes matter."""
    from claims.experiments.counted_tokens import gpt2_small_weights

    return gpt2_small_weights()


@pytest.fixture(scope="session")
def llama():
    """The shape of Llama 3.1 8B."""
    from implementations.inference.shape import LLAMA_31_8B

    return LLAMA_31_8B


@pytest.fixture(scope="session")
def part_times():
    """Times of a token by part and number of notes, one measurement a process, by number of processes."""
    from claims.experiments import part_times

    return cache(part_times.processes)


@pytest.fixture(scope="session")
def trips():
    """Times of trips through the tables, one measurement a process, by number of processes and batch sizes."""
    from claims.experiments import weight_trips

    runs = cache(weight_trips.processes)
    return lambda count, batches: runs(int(count), tuple(int(batch) for batch in batches))


@pytest.fixture(scope="session")
def promoting_times():
    """Times of the pass with and without promotion, one measurement a process, by number of processes."""
    from claims.experiments import promoting_pass

    return cache(promoting_pass.processes)
