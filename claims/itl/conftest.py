"""Experiments of this topic that several claims share, each run once a session, and builders of small logs."""

import pytest

# With six pairs a two-sided verdict at 95% becomes possible; with the post's five it is not.
REAL_SEEDS = range(1, 7)
VIRTUAL_SEEDS = 12
PUBLISHED_SEEDS = 12


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
def real_reverse(sweep):
    """Summaries of one real run a rung, the fixes in reverse order."""
    from claims.experiments import ladder_runs

    return sweep(ladder_runs.real_reverse, [1])[0]


@pytest.fixture(scope="session")
def real_alone(sweep):
    """Summaries of one real run a fix, each by itself."""
    from claims.experiments import ladder_runs

    return sweep(ladder_runs.real_alone, [1])[0]


@pytest.fixture(scope="session")
def real_overload(sweep):
    """Summaries of one real run of the baseline, of five fixes and of all, at the overloading rate."""
    from claims.experiments import ladder_runs

    return sweep(ladder_runs.real_overload, [1])[0]


@pytest.fixture(scope="session")
def virtual_ladder():
    """Summaries of the same in virtual time, on this machine's costs: by rung, one a seed."""
    from claims.experiments import virtual_ladders

    return virtual_ladders.ladder(VIRTUAL_SEEDS)


@pytest.fixture(scope="session")
def published_ladder():
    """Summaries of the post's own workload in virtual time, on costs that give its timings: by rung, one a seed."""
    from claims.experiments import ladder_runs

    return ladder_runs.published_ladder(PUBLISHED_SEEDS)


@pytest.fixture
def small_log():
    """Builds a log by hand, in milliseconds (see `claims.experiments.small_log`)."""
    from claims.experiments.small_log import SmallLog

    return SmallLog


@pytest.fixture
def step():
    """Builds one engine step of such a log."""
    from claims.experiments.small_log import Step

    return Step


@pytest.fixture
def compare_gap():
    """Holds a gap against every figure of the claim that names a part, a part of the context, or a sum, in ms."""

    def compare(evidence, gap, prefix=""):
        measured = gap.amounts()
        for name in evidence.claim.figures:
            if name.startswith(prefix) and name[len(prefix) :] in measured:
                evidence.figure(name, measured[name[len(prefix) :]])

    return compare


@pytest.fixture
def refusal():
    """Calls a function and says how it refused: the error, or None where it did not."""

    def call(function):
        try:
            function()
        except Exception as error:
            return error
        return None

    return call


@pytest.fixture
def causes():
    """The five causes of a stall, in the order that ties go by."""
    from implementations.itl.timeline import CAUSES

    return CAUSES


@pytest.fixture
def primary_cause():
    """The post's rule for the primary cause of a gap."""
    from implementations.itl.tail import primary_cause

    return primary_cause
