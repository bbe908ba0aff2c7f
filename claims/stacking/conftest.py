"""Experiments of this topic that several claims share; each runs once a session."""

from functools import cache

import pytest


@pytest.fixture(scope="session")
def post_columns():
    """The members on a data set of the post, by rows, trees and seed."""
    from claims.experiments import regression_members

    return regression_members.post_columns


@pytest.fixture(scope="session")
def larger_stacks(sweep):
    """The post's first set-up (3,000 rows) on so many other data sets."""
    from claims.experiments import regression_members as experiment

    @cache
    def of(data_sets):
        found = sweep(experiment.columns_of_3000_rows, range(data_sets))
        return [experiment.Columns.from_lists(lists) for lists in found]

    return of


@pytest.fixture(scope="session")
def smaller_stacks(sweep):
    """The post's second set-up (2,000 rows) on so many other data sets."""
    from claims.experiments import regression_members as experiment

    @cache
    def of(data_sets):
        found = sweep(experiment.columns_of_2000_rows, range(data_sets))
        return [experiment.Columns.from_lists(lists) for lists in found]

    return of
