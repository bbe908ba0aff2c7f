"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def prunings():
    """The post's two studies, and many-seed ones on interpolated curves."""
    from claims.experiments import prunings

    return prunings


@pytest.fixture(scope="session")
def false_kills(sweep):
    """Shares of wrongly killed trials, a data set at a time."""
    from claims.experiments.prunings import false_kills

    return lambda data_sets: sweep(false_kills, range(data_sets))


@pytest.fixture(scope="session")
def canaries():
    """The slow claims at their smallest."""
    from claims.experiments import search_canaries

    return search_canaries
