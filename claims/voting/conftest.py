"""Experiments of this topic that several claims share; each runs once a session."""

from functools import cache

import pytest


@pytest.fixture(scope="session")
def post_members():
    """What the twelve members say on the post's data, by seed; fitted once."""
    from claims.experiments import vote_members

    return vote_members.said


@pytest.fixture(scope="session")
def data_sets(sweep):
    """What the twelve members say on so many other data sets, and the four once more when fitted to the pool too."""
    from claims.experiments import vote_members

    @cache
    def of(number):
        return [vote_members.said_from_lists(lists) for lists in sweep(vote_members.said_as_lists, range(number))]

    return of


@pytest.fixture(scope="session")
def blends(data_sets):
    """Blends on so many data sets: by number of data sets, members, holdout rows and draws; each fitted once."""
    from claims.experiments import blend_draws

    @cache
    def of(number, members, rows, draws):
        return [blend_draws.blended(found.only(members), rows, draws) for found in data_sets(number)]

    return of
