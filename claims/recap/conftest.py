"""Experiments that several claims of this topic share; each runs once a session."""

from functools import cache

import pytest


@pytest.fixture(scope="session")
def stacks(sweep):
    """The stacking post's members on so many other data sets, by number of rows."""
    from claims.experiments import regression_members as experiment

    columns = {3000: experiment.columns_of_3000_rows, 2000: experiment.columns_of_2000_rows}

    @cache
    def of(rows, number):
        return [experiment.Columns.from_lists(lists) for lists in sweep(columns[rows], range(number))]

    return of


@pytest.fixture(scope="session")
def votes(sweep):
    """What the voting post's twelve members say on so many other data sets."""
    from claims.experiments import vote_members

    @cache
    def of(number):
        return [vote_members.said_from_lists(lists) for lists in sweep(vote_members.said_as_lists, range(number))]

    return of


@pytest.fixture(scope="session")
def first_rows(sweep):
    """The three comparisons that head the table: by seeds, seeds of real fits, trials and trials of TPE."""
    from claims.experiments import search_gaps

    def of(seeds, real_seeds, trials, tpe_trials):
        six = sweep(search_gaps.real_best_of_six, range(real_seeds), shifted=False)
        return search_gaps.posts_first_rows(six, seeds, trials, tpe_trials)

    return of


@pytest.fixture(scope="session")
def blends(votes):
    """Blends on so many data sets: by number of data sets, members, holdout rows and draws; each fitted once."""
    from claims.experiments import blend_draws

    @cache
    def of(number, members, rows, draws):
        return [blend_draws.blended(found.only(members), rows, draws) for found in votes(number)]

    return of
