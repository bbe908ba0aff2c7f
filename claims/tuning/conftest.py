"""Experiments of this topic that several claims share, each run once a session."""

import pytest


@pytest.fixture(scope="session")
def depth_errors(sweep):
    """Errors by depth on the clean and on the noisy surface, bagged and boosted, one a data set."""
    from claims.experiments import tree_depths

    functions = {"clean": tree_depths.depth_errors, "noisy": tree_depths.noisy_depth_errors}
    return lambda which, seeds: sweep(functions[which], range(seeds))


@pytest.fixture(scope="session")
def long_runs(sweep):
    """Errors after 1 to 3,000 trees on a noisy surface, bagged or boosted, one a data set."""
    from claims.experiments import tree_counts

    functions = {"bagging": tree_counts.long_bagging, "boosting": tree_counts.long_boosting}
    return lambda which, seeds: sweep(functions[which], range(seeds))


@pytest.fixture(scope="session")
def lever_curves(sweep):
    """Test losses along each knob, by kind of data, one a data set."""
    from claims.experiments import levers

    return lambda seeds: sweep(levers.curves, range(seeds))


@pytest.fixture(scope="session")
def growth_losses(sweep):
    """Test losses of trees grown leaf-wise and depth-wise, one a data set."""
    from claims.experiments import growth_orders

    return lambda seeds: sweep(growth_orders.growth_losses, range(seeds))


@pytest.fixture(scope="session")
def flip_costs(sweep):
    """Accuracy lost to turned labels, by method, one a data set."""
    from claims.experiments import label_flips

    return lambda seeds: sweep(label_flips.flip_costs, range(seeds))


@pytest.fixture(scope="session")
def searches(sweep):
    """Trials of a random search with each library, one a data set."""
    from claims.experiments import library_searches

    return lambda seeds: sweep(library_searches.searched, range(seeds))


@pytest.fixture(scope="session")
def leaking_trials(sweep):
    """Leaking, honest and fresh losses of random settings, one a data set."""
    from claims.experiments import leaking_scores

    return lambda seeds: sweep(leaking_scores.trials, range(seeds))
