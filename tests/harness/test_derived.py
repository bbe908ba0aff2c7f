import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.derived import reachable
from runtwice.errors import EvidenceError
from runtwice.figure import parse


def verdict(target, function, *inputs):
    """The verdict on a printed figure, the figures written as a data file would write them."""
    return reachable(parse(target, "x"), function, [parse(one, "input") for one in inputs])[0]


@pytest.mark.parametrize(
    ("target", "function", "inputs"),
    [
        ("3.0", lambda a, b: a + b, ["1.4", "1.5"]),
        ("0.33", lambda a, b: a / b, ["1", "3"]),
        ("98.4", lambda parts: sum(parts), [["90.1", "8.2"]]),
        ("4", lambda span: span["high"] - span["low"], [{"low": "1", "high": "5"}]),
        ("10", lambda n, each: n * each, ["=5", "=2"]),
        ("0.3", lambda a: a + 0.2, ["=0.1"]),
        ("gc", lambda n: "gc" if n > 1 else "tok", ["2"]),
        (["2", "4"], lambda a: [a, 2 * a], ["2"]),
        (["gc", "2"], lambda a: ["gc", a], ["2"]),
    ],
)
def test_what_rounding_allows_holds(target, function, inputs):
    """Numbers, lists, ranges and words follow from inputs anywhere inside their rounding."""
    assert verdict(target, function, *inputs) == "holds"


@pytest.mark.parametrize(
    ("target", "function", "inputs"),
    [
        ("3.2", lambda a, b: a + b, ["1.4", "1.5"]),
        ("10.1", lambda n, each: n * each, ["=5", "=2"]),
        ("gc", lambda n: "gc" if n > 1 else "tok", ["1"]),
        (["2", "6"], lambda a: [a, 2 * a], ["2"]),
    ],
)
def test_what_no_rounding_allows_is_refuted(target, function, inputs):
    """One item out of reach is enough."""
    assert verdict(target, function, *inputs) == "refuted"


@given(
    inputs=st.lists(st.integers(-50, 50), min_size=1, max_size=4),
    weights=st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    offset=st.floats(-4, 4),
)
def test_a_weighted_product_agrees_with_every_corner(inputs, weights, offset):
    """A function that is linear in each input takes its extremes at corners; the target is held against those."""

    def function(*values):
        return sum(w * v for w, v in zip(weights, values)) + math.prod(values) / 50

    corners = [function(*point) for point in product(*((v - 0.5, v + 0.5) for v in inputs))]
    target = round(function(*inputs) + offset * (max(corners) - min(corners)))
    inside = min(corners) - 0.5 <= target <= max(corners) + 0.5
    assert verdict(str(target), function, *map(str, inputs)) == ("holds" if inside else "refuted")


def test_many_inputs_are_walked_one_by_one():
    """Forty addends are too many for every corner; a sum is still bounded exactly."""
    forty = [str(n) for n in range(40)]
    total = sum(range(40))
    assert verdict(str(total + 20), lambda parts: sum(parts), forty) == "holds"
    assert verdict(str(total + 21), lambda parts: sum(parts), forty) == "refuted"
    assert verdict(str(total - 21), lambda parts: sum(parts), forty) == "refuted"


def test_the_sentence_names_the_range_that_was_found():
    """A reader sees what the inputs allow."""
    _, reason = reachable(parse("3.2", "x"), lambda a: 2 * a, [parse("1.5", "input")])
    assert reason == "3.2 is outside 2.9 to 3.1"


@pytest.mark.parametrize(
    ("function", "inputs", "said"),
    [
        (lambda: 1, [], "at least one printed input"),
        (lambda a: math.nan, ["1"], "gave nan where one number is printed"),
        (lambda a: "many", ["1"], "gave 'many' where one number is printed"),
        (lambda a: a, ["gc"], "is no printed number"),
        (lambda a: a, [["1", "gc"]], "is no printed number"),
    ],
)
def test_what_gives_no_number_is_an_error(function, inputs, said):
    """A function that computes nothing shows nothing."""
    with pytest.raises(EvidenceError, match=said):
        verdict("1", function, *inputs)


def test_a_list_of_another_length_is_an_error():
    """There must be as many values as are printed."""
    with pytest.raises(EvidenceError, match="3 values where 2 are printed"):
        verdict(["1", "2"], lambda a: [a, a, a], "1")


def test_a_measured_number_is_no_input():
    """Only what the post prints has a rounding interval."""
    with pytest.raises(EvidenceError, match=r"pass what evidence\.printed returns"):
        reachable(parse("1", "x"), lambda a: a, [1.0])
