"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def searches():
    """Spaces, grids and studies of the search posts, on real fits and on the interpolated problem."""
    from claims.experiments import searches

    return searches


@pytest.fixture(scope="session")
def random_scores(searches, sweep):
    """Scores of the post's random search over three parameters, every one a fit, by number of seeds: one row each."""
    return lambda seeds: sweep(searches.real_scores_of_three, range(seeds), shifted=False)


@pytest.fixture(scope="session")
def canaries():
    """The slow claims at their smallest."""
    from claims.experiments import search_canaries

    return search_canaries
