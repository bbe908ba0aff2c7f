import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.culprits import Outcome, Undecided, first_bad, smallest, tries_left


def a_row(turns_at, skipped=(), undecided=()):
    """Outcomes of a row that turns bad at an index, with the tries that were made of it."""
    tried = []

    def outcome(index, left):
        tried.append((index, left))
        if index in skipped:
            return Outcome.SKIPPED
        if index in undecided:
            return Outcome.UNDECIDED
        return Outcome.BAD if index >= turns_at else Outcome.GOOD

    return outcome, tried


@given(st.integers(2, 200), st.data())
def test_the_turn_is_found_in_as_few_tries_as_halving_takes(length, data):
    """Whatever the length and the place."""
    turns_at = data.draw(st.integers(1, length - 1))
    outcome, tried = a_row(turns_at)
    place = first_bad(length, outcome)
    assert (place.last_good, place.first_bad, place.skipped) == (turns_at - 1, turns_at, ())
    assert len(tried) <= tries_left(length - 2) == math.ceil(math.log2(length - 1))


@given(st.integers(3, 60), st.data())
def test_what_cannot_be_tried_is_gone_around_and_named_only_where_it_matters(length, data):
    """Every index between the two found ones was skipped, and those two are what they are said to be."""
    turns_at = data.draw(st.integers(1, length - 1))
    skipped = data.draw(st.sets(st.integers(1, length - 2)))
    place = first_bad(length, a_row(turns_at, skipped)[0])
    assert place.last_good < turns_at <= place.first_bad
    assert place.last_good == 0 or place.last_good not in skipped
    assert place.skipped == tuple(range(place.last_good + 1, place.first_bad))
    assert set(place.skipped) <= skipped


def test_an_undecided_try_ends_the_search_with_what_is_known():
    """The ends narrowed so far, and where it ended."""
    place = first_bad(9, a_row(2, undecided=[2])[0])
    assert (place.last_good, place.first_bad, place.undecided) == (0, 4, 2)


def test_the_tries_left_never_rise():
    """What is promised is kept, where nothing is skipped."""
    outcome, tried = a_row(30)
    first_bad(64, outcome)
    left = [one for _, one in tried]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0


def test_neighbours_need_no_try_and_one_alone_is_no_row():
    """Two ends that stand side by side are the answer."""
    place = first_bad(2, lambda index, left: pytest.fail("tried"))
    assert (place.last_good, place.first_bad) == (0, 1)
    with pytest.raises(ValueError, match="no two ends"):
        first_bad(1, lambda index, left: Outcome.GOOD)


@given(st.sets(st.integers(0, 11), min_size=1), st.integers(12, 20))
def test_the_smallest_set_is_found_whatever_it_is(needed, size):
    """All of it, and nothing besides."""
    found = smallest(range(size), lambda chosen: Outcome.BAD if needed <= chosen else Outcome.GOOD)
    assert set(found) == needed


@given(st.sets(st.integers(0, 7), min_size=1, max_size=3), st.sets(st.frozensets(st.integers(0, 7)), max_size=10))
def test_a_set_that_cannot_be_tried_is_not_bad(needed, unfit):
    """What is found is bad by itself, whatever could not be tried on the way."""

    def outcome(chosen):
        if chosen in unfit:
            return Outcome.SKIPPED
        return Outcome.BAD if needed <= chosen else Outcome.GOOD

    assert needed <= set(smallest(range(8), outcome))


def test_one_culprit_among_many_takes_few_tries():
    """Twice the logarithm, not one try a package."""
    tried = []

    def outcome(chosen):
        tried.append(chosen)
        return Outcome.BAD if 37 in chosen else Outcome.GOOD

    assert smallest(range(64), outcome) == [37]
    assert len(tried) <= 12
    assert len(set(tried)) == len(tried)


def test_an_undecided_set_ends_the_search():
    """It says which."""
    with pytest.raises(Undecided) as stopped:
        smallest("ab", lambda chosen: Outcome.UNDECIDED)
    assert stopped.value.what == frozenset("a")
