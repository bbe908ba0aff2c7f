"""Experiments of this topic that several claims share, each run once a session."""

import pytest


@pytest.fixture(scope="session")
def rate_curves(sweep):
    """Loss curves at five learning rates, one a data set."""
    from claims.experiments import learning_rates

    return lambda seeds: sweep(learning_rates.rate_curves, range(seeds))


@pytest.fixture(scope="session")
def order_losses(sweep):
    """Test losses of first- and second-order boosting, one a data set."""
    from claims.experiments import boosting_orders

    return lambda seeds: sweep(boosting_orders.order_losses, range(seeds))


@pytest.fixture(scope="session")
def bin_losses(sweep):
    """Test losses of LightGBM by number of bins, one a data set."""
    from claims.experiments import bin_counts

    return lambda seeds: sweep(bin_counts.bin_losses, range(seeds))


@pytest.fixture(scope="session")
def encoding_losses(sweep):
    """Losses with a worthless column encoded in two ways, and without it, one a data set."""
    from claims.experiments import encoded_columns

    return lambda seeds: sweep(encoded_columns.encoding_losses, range(seeds))


@pytest.fixture(scope="session")
def removals(sweep):
    """What each of a hundred trees is worth, bagged and boosted, one a data set."""
    from claims.experiments import single_removals

    return lambda seeds: sweep(single_removals.removals, range(seeds))


@pytest.fixture(scope="session")
def searches(sweep):
    """Trials of a random search with each library, one a data set."""
    from claims.experiments import library_searches

    return lambda seeds: sweep(library_searches.searched, range(seeds))


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
def long_boosting(sweep):
    """Errors after 1 to 3,000 boosted trees on a noisy surface, one a data set."""
    from claims.experiments import tree_counts

    return lambda seeds: sweep(tree_counts.long_boosting, range(seeds))


@pytest.fixture(scope="session")
def depth_errors(sweep):
    """Errors by depth, bagged and boosted, one a data set."""
    from claims.experiments import tree_depths

    return lambda seeds: sweep(tree_depths.depth_errors, range(seeds))
