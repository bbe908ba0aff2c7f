"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def counts():
    """Arithmetic on accuracies that are shares of so many matches."""
    from claims.experiments import bracket_counts

    return bracket_counts


@pytest.fixture(scope="session")
def linear_worlds(sweep):
    """Linear models in so many worlds of one kind: `linear_drift`, `no_drift`, `noisy_top`."""
    from claims.experiments import draft_worlds

    return lambda kind, worlds: sweep(getattr(draft_worlds, kind), range(worlds))


@pytest.fixture(scope="session")
def networks(sweep):
    """An experiment of `draft_networks` by its name, once a seed."""
    from claims.experiments import draft_networks

    return lambda name, seeds: sweep(getattr(draft_networks, name), range(seeds))


@pytest.fixture(scope="session")
def arms(networks):
    """Bag, network and network with rank at one slope, a table a world."""
    return lambda seeds, slope: [one[str(slope)] for one in networks("by_slope", seeds)]
