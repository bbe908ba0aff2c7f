"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def searches():
    """Spaces, grids and studies of the search posts."""
    from claims.experiments import searches

    return searches


@pytest.fixture(scope="session")
def prunings():
    """Studies of the pruning post on interpolated curves."""
    from claims.experiments import prunings

    return prunings


@pytest.fixture(scope="session")
def false_kills(sweep):
    """Shares of wrongly killed trials, a data set at a time."""
    from claims.experiments.prunings import false_kills

    return lambda data_sets: sweep(false_kills, range(data_sets))


@pytest.fixture(scope="session")
def leads(searches):
    """Best scores of TPE and of random search on the interpolated problem, by seed and trial, (seeds, trials)."""

    return lambda seeds, trials: {name: searches.curves(name, seeds, trials) for name in ("tpe", "random")}
