"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def scaled_training():
    """A small network in PyTorch, trained with a scaler and without."""
    from claims.experiments import scaled_training

    return scaled_training


@pytest.fixture(scope="session")
def gpu_times():
    """Times of products and of training steps on the GPU, one table a fresh process."""
    from claims.experiments import gpu_times

    return gpu_times.in_fresh_processes


@pytest.fixture(scope="session")
def precisions(sweep):
    """Log loss and accuracy of the draft network in each precision, along its schedule, by seed."""
    from claims.experiments import draft_precision

    return lambda seeds: sweep(draft_precision.curves, range(seeds))
