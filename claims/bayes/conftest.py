"""Experiments of this topic that several claims share; each runs once a session."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def searches():
    """Spaces, grids and studies of the search posts."""
    from claims.experiments import searches

    return searches


@pytest.fixture(scope="session")
def toys():
    """Small problems with a known shape."""
    from claims.experiments import toys

    return toys


@pytest.fixture(scope="session")
def surrogates():
    """Studies with the forest surrogate, and the post's own with Optuna."""
    from claims.experiments import surrogate_searches

    return surrogate_searches


@pytest.fixture(scope="session")
def optuna_curves(surrogates, sweep):
    """Best score after each trial of the post's own Optuna studies, real fits: by "tpe" or "random" and seeds."""
    samplers = {"tpe": surrogates.real_tpe, "random": surrogates.real_random}
    return lambda name, seeds: np.array(sweep(samplers[name], range(seeds), shifted=False))


@pytest.fixture(scope="session")
def leads(searches):
    """Best scores of TPE and of random search on the interpolated problem, by seed and trial, (seeds, trials)."""
    return lambda seeds, trials: {name: searches.curves(name, seeds, trials) for name in ("tpe", "random")}


@pytest.fixture(scope="session")
def spreads(searches, surrogates):
    """Best scores at 50 trials of three methods, data set by data set: name -> list of (seeds,)."""

    def best(data_sets, seeds, trials):
        chosen = searches.DATA_SETS[:data_sets]
        return {
            "forest": [np.array(surrogates.forest_best(seeds, data=data, trials=trials)) for data in chosen],
            "tpe": [searches.best("tpe", seeds, trials, data) for data in chosen],
            "random": [searches.random_best("four", seeds, trials, data) for data in chosen],
        }

    return best


@pytest.fixture(scope="session")
def canaries():
    """The slow claims at their smallest."""
    from claims.experiments import search_canaries

    return search_canaries
