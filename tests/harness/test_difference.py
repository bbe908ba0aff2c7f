import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.difference import difference, short
from runtwice.errors import EvidenceError

plain = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.text()),
    lambda inner: st.lists(inner, min_size=1) | st.dictionaries(st.text(), inner, min_size=1),
    max_leaves=10,
)


@given(plain)
def test_a_value_differs_in_nothing_from_itself(value):
    """Numbers, infinities, texts, lists and tables, nested at will, equal themselves."""
    assert difference(value, value) == ""


@given(plain, plain)
def test_two_values_that_python_tells_apart_differ(one, other):
    """No two unequal values come out the same, and which side stands where does not matter."""
    assert bool(difference(one, other)) == bool(difference(other, one)) == (one != other)


@given(
    actual=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    expected=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    abs_=st.floats(0, 1e3),
    rel=st.floats(0, 1),
)
def test_bounds_are_those_of_a_plain_loop(actual, expected, abs_, rel):
    """Arrays differ where some pair lies further apart than the larger of both bounds."""
    expected = (expected * 5)[: len(actual)]
    beyond = [abs(a - e) > max(abs_, rel * abs(e)) for a, e in zip(actual, expected)]
    assert bool(difference(actual, expected, abs_, rel)) == any(beyond)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(5.0, math.inf), (math.inf, 5.0), (math.inf, -math.inf), (-math.inf, 1e308)],
)
@pytest.mark.parametrize("bounds", [(0.0, 0.0), (1e9, 0.0), (0.0, 0.5), (math.inf, 0.0)])
def test_no_bound_reaches_infinity(actual, expected, bounds):
    """An infinity equals only itself, whatever tolerance there is."""
    assert difference(actual, expected, *bounds)
    assert difference([actual], [expected], *bounds)


@pytest.mark.parametrize("size", [2**53, 2**60, 2**63, 2**80])
def test_whole_numbers_are_told_apart_however_large(size):
    """Counts that floats would round to one number stay two."""
    assert difference(size + 1, size)
    assert difference([size + 1], [size])
    assert not difference(size + 1, size, rel=1e-12)


@pytest.mark.parametrize(("actual", "expected"), [(math.nan, 1.0), (1.0, math.nan), ([1, math.nan], [1, math.nan])])
def test_a_nan_is_an_error_on_either_side(actual, expected):
    """A NaN is neither the same nor different; it is no evidence."""
    with pytest.raises(EvidenceError, match="NaN"):
        difference(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"), [([], []), ((), []), (np.empty(0), []), ({}, {}), ({"a": []}, {"a": []})]
)
def test_nothing_against_nothing_is_an_error(actual, expected):
    """Two empty results agree about nothing."""
    with pytest.raises(EvidenceError, match="nothing was compared"):
        difference(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        (1, 2, "1 is not 2"),
        ("gc", "tok", "'gc' is not 'tok'"),
        ([1.0, 2.5, 9.0], [1.0, 2.0, 3.0], "9.0 is not 3.0 at (2,) (2 of 3 differ)"),
        ([1, 2], [1, 2, 3], "shape (2,) is not (3,)"),
        (["a"], ["a", "b"], "1 items are not 2"),
        ([["gc", 1.0], ["tok", 2.0]], [["gc", 1.0], ["tok", 3.0]], "item 1: item 1: 2.0 is not 3.0"),
        ({"a": [1], "b": 2}, {"a": [1], "b": 3}, "b: 2 is not 3"),
        ({"a": 1}, {"b": 1}, "keys ['a', 'b'] on one side only"),
        ([], [1], "shape (0,) is not (1,)"),
        (np.uint8(3), np.uint8(5), "3 is not 5"),
        ([[1], [2, 3]], [[1], [2, 4]], "item 1: 3 is not 4 at (1,) (1 of 2 differ)"),
        (None, 0, "None is not 0"),
    ],
)
def test_the_first_or_largest_difference_is_told(actual, expected, said):
    """The sentence names the place and both values."""
    assert difference(actual, expected) == said


def test_lists_and_tuples_and_arrays_are_one():
    """How a sequence is held does not matter; texts among numbers do not stop the numbers' tolerance."""
    assert difference((1, 2), [1, 2]) == ""
    assert difference(np.array(["a", "b"]), ("a", "b")) == ""
    assert difference([("gc", 1.04)], [["gc", 1.0]], abs_=0.1) == ""


def test_a_long_value_is_cut_short():
    """Six digits of a float, sixty characters of anything."""
    assert short(1 / 3) == "0.333333"
    assert len(short(list(range(1000)))) == 60
