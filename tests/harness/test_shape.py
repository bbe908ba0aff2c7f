import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice import shape

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
a_table = shape.table({"name": shape.text}, {"sizes": shape.listing(shape.count), "more": shape.maybe(shape.truth)})


@pytest.mark.parametrize(
    "good", [{"name": ""}, {"name": "a", "sizes": [0, 5]}, {"name": "a", "more": None}, {"name": "a", "unknown": 1e999}]
)
def test_what_has_the_shape_has_no_fault(good):
    """Keys that are not known may hold anything."""
    assert a_table(good, "top") == ""


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([], "`top` is a list, not a table"),
        ({}, "`top` lacks 'name'"),
        ({"name": None}, "`top.name` is null, not a text"),
        ({"name": "a", "sizes": {}}, "`top.sizes` is a table, not a list"),
        ({"name": "a", "sizes": None}, "`top.sizes` is null, not a list"),
        ({"name": "a", "sizes": [1, -1]}, "`top.sizes[1]` is -1, not a count"),
        ({"name": "a", "sizes": [True]}, "`top.sizes[0]` is true, not a count"),
        ({"name": "a", "more": 0}, "`top.more` is 0, not true or false"),
    ],
)
def test_a_fault_names_its_place_and_what_would_be_right(bad, said):
    """The first one is enough."""
    assert a_table(bad, "top") == said


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (shape.number, float("inf")),
        (shape.number, 10**400),
        (shape.number, True),
        (shape.numbers, []),
        (shape.numbers, [1.0, float("nan")]),
        (shape.numbers, [1.0, "nan"]),
        (shape.duration, -0.1),
        (shape.measure, "much"),
        (shape.one_of({"a"}, "a letter"), "b"),
        (shape.one_of({"a"}, "a letter"), []),
        (shape.mapping(shape.text), {"a": 1}),
        (shape.listing(shape.number, 2), [1.0]),
        (shape.table({}, {"a": shape.text}, closed=True), {"b": "x"}),
    ],
)
def test_what_no_command_could_work_with_is_a_fault(check, bad):
    """Numbers that are none, counts that are truths, words that are not among those known."""
    assert check(bad, "it").startswith("`it")


def test_numbers_whose_sum_is_too_large_are_numbers_all_the_same():
    """The short way over long lists is no rule of its own."""
    assert shape.numbers([1e308, 1e308], "it") == ""
    assert shape.numbers([1, 2.5], "it") == ""


def test_a_long_value_is_not_spelled_out():
    """The message stays one line, whatever signs the value holds."""
    fault = shape.number("\n\x1b[31m" * 1000, "it")
    assert len(fault) < 80
    assert fault.isprintable()


@given(anything)
def test_any_value_has_a_fault_or_none(value):
    """Nothing that JSON can hold makes a shape fail."""
    for check in (a_table, shape.numbers, shape.measure, shape.one_of({"a"}, "a letter"), shape.mapping(a_table)):
        assert isinstance(check(value, "it"), str)


def test_a_fault_in_a_key_is_one_line():
    """Keys of a file are as foreign as its values."""
    fault = shape.mapping(shape.text)(json.loads('{"a\\nb": 1}'), "it")
    assert fault == "`it.a\\nb` is 1, not a text"
