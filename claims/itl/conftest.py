"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def bursts():
    """Engine runs under memory pressure, by number of seeds."""
    from claims.experiments import engine_runs

    return engine_runs.bursts
