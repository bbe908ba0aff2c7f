"""Experiments of this topic that several claims share; each runs once a session."""

import pytest

# With six pairs a two-sided verdict at 95% becomes possible; with the post's five it is not.
REAL_SEEDS = range(1, 7)
VIRTUAL_SEEDS = 12


@pytest.fixture(scope="session")
def bursts():
    """Engine runs under memory pressure, by number of seeds."""
    from claims.experiments import engine_runs

    return engine_runs.bursts


@pytest.fixture(scope="session")
def ladder(sweep):
    """Summaries of real runs near capacity: by rung, one a seed."""
    from claims.experiments import ladder_runs

    return ladder_runs.by_rung(sweep(ladder_runs.real_ladder, REAL_SEEDS))


@pytest.fixture(scope="session")
def virtual_ladder():
    """Summaries of the same in virtual time: by rung, one a seed."""
    from claims.experiments import ladder_runs

    return ladder_runs.virtual_ladder(VIRTUAL_SEEDS)
