"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def searches():
    """Spaces, grids and studies of the search posts, on real fits and on the interpolated problem."""
    from claims.experiments import searches

    return searches


@pytest.fixture(scope="session")
def canaries():
    """The slow claims at their smallest."""
    from claims.experiments import search_canaries

    return search_canaries
