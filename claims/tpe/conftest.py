"""Experiments of this topic that several claims share; each runs once a session."""

import pytest


@pytest.fixture(scope="session")
def searches():
    """Spaces, grids and studies on the interpolated problem of the search posts."""
    from claims.experiments import searches

    return searches


@pytest.fixture(scope="session")
def toys():
    """Small problems with a known best, and one study of each with Optuna's samplers."""
    from claims.experiments import toys

    return toys
