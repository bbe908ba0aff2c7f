import copy
import math
import pickle
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runtwice.errors import ClaimError, EvidenceError
from runtwice.figure import Agreement, PrintedNumber, PrintedText, Tolerance, as_printed, compare, parse


def agreement(measured, printed, **bounds):
    """How `measured` agrees with a figure written as a data file would write it."""
    tolerance = Tolerance("a reason", **bounds) if bounds else None
    return compare("x", measured, parse(printed, "x"), tolerance).agreement


# --- how a figure is written -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("47.0", 46.95, 47.05),
        ("47", 46.5, 47.5),
        ("112e3", 111_500, 112_500),
        ("1,000", 999.5, 1000.5),
        ("+0.0032", 0.00315, 0.00325),
        ("−6.67", -6.675, -6.665),
        ("5.7e-14", 5.65e-14, 5.75e-14),
        ("=100", 100, 100),
        (" 0.10 ", 0.095, 0.105),
    ],
)
def test_a_printed_number_stands_for_everything_that_rounds_to_it(text, low, high):
    """The last printed digit says how far the number may have been rounded."""
    number = PrintedNumber(text)
    assert (number.low, number.high) == pytest.approx((low, high), rel=1e-12)
    assert number.text == text


@given(digits=st.integers(-(10**9), 10**9), places=st.integers(0, 12), offset=st.floats(-3, 3))
def test_a_measured_number_is_exact_where_it_rounds_to_the_printed_text(digits, places, offset):
    """The agreement is that of exact decimal arithmetic, but for the last bits at the ends of the interval."""
    printed = Decimal(digits).scaleb(-places)
    measured = float(printed) + offset * 10.0**-places
    apart = abs(Decimal(measured) - printed).scaleb(places)
    assume(abs(apart - Decimal("0.5")) > Decimal("1e-5"))
    assert (agreement(measured, f"{printed:f}") == "exact") == (apart < Decimal("0.5"))


def test_a_stated_number_is_met_by_itself_alone():
    """`=` marks a count or a setting: no rounding is granted, only the last bits of a float."""
    assert agreement(100, "=100") == "exact"
    assert agreement(0.1 + 0.2, "=0.3") == "exact"
    assert agreement(100.4, "=100") == "moved"


@pytest.mark.parametrize("printed", ["1,649,267,441,664", "=1,649,267,441,664", "=9007199254740993"])
def test_a_large_count_is_told_from_the_next_one(printed):
    """Counts in the trillions, and beyond what a float holds apart, are compared as whole numbers."""
    count = int(printed.strip("=").replace(",", ""))
    assert agreement(count, printed) == "exact"
    assert agreement(count + 1, printed) == "moved"


@pytest.mark.parametrize("text", ["1e400", "1e-400", "=1e999"])
def test_a_number_that_a_float_cannot_hold_is_refused(text):
    """An infinite printed number would agree with anything."""
    with pytest.raises(ValueError, match="64 bits"):
        PrintedNumber(text)


@pytest.mark.parametrize("text", ["", "about 5", "5 ms", "1,00", "0x10", "nan", "--1"])
def test_what_is_no_number_is_a_word(text):
    """A text that is not written as a number is compared as a word."""
    assert isinstance(parse(text, "x"), PrintedText)
    with pytest.raises(ValueError, match="not a printed number"):
        PrintedNumber(text)


@pytest.mark.parametrize(
    "value",
    [47.0, 47, True, None, [], {}, [1.5], {"low": "1"}, {"low": "1", "high": "2", "x": "3"}, {"low": 1, "high": 2}],
)
def test_a_figure_that_is_not_written_as_printed_is_refused(value):
    """A bare number has lost its last digits; the message names the place and the value."""
    with pytest.raises(ClaimError, match=r"here: .*"):
        parse(value, "here")


def test_figures_keep_their_text_through_copies_and_back_to_plain_values():
    """A copied, pickled or listed figure still knows how it was printed."""
    table = parse([["1.50", "−2"], {"mid": "3.0", "low": "2.0", "high": "1e1"}, "gc"], "x")
    plain = [["1.50", "−2"], {"mid": "3.0", "low": "2.0", "high": "1e1"}, "gc"]
    for same in (table, copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert as_printed(same) == plain
    assert repr(table[0][0]) == "1.50"


# --- how a measured value agrees -------------------------------------------------------------------------------


class Label(StrEnum):
    GC = "gc"


@pytest.mark.parametrize(
    ("measured", "printed"),
    [
        (47.02, "47.0"),
        (np.float32(47.02), "47.0"),
        (np.int64(47), "47"),
        (np.array(47.0), "47.0"),
        (Fraction(1, 3), "0.333"),
        (Decimal("0.33333"), "0.333"),
        (True, "1"),
        ("gc", "gc"),
        (Label.GC, "gc"),
        ([1, 2], ["1", "2"]),
        ((1, 2), ["1", "2"]),
        (np.array([1.0, 2.0]), ["1", "2"]),
        ((x for x in (1, 2)), ["1", "2"]),
        ([[1, 2], [3]], [["1", "2"], ["3"]]),
        (np.eye(2), [["1", "0"], ["0", "1"]]),
        ([1, "gc"], ["1", "gc"]),
        ([3.0, 2.0, 9.0], {"mid": "3.0", "low": "2.0", "high": "9.0"}),
        ([3.0, 2.0, 9.0], {"low": "2.0", "high": "9.0"}),
        ([[1, 2, 3]], [{"low": "1", "high": "3"}]),
    ],
)
def test_every_shape_of_figure_can_agree(measured, printed):
    """Numbers of any library, words, lists, nested lists and ranges agree with their printed form."""
    comparison = compare("x", measured, parse(printed, "x"), None)
    assert comparison.agreement == "exact"
    assert comparison.measured not in ([], None)


@pytest.mark.parametrize(
    ("measured", "printed"),
    [
        (48.0, "47.0"),
        ("preempt", "gc"),
        ([1, 3], ["1", "2"]),
        ([[1, 2], [4]], [["1", "2"], ["3"]]),
        ([3.0, 2.0, 9.1], {"mid": "3.0", "low": "2.0", "high": "9.0"}),
        (None, "gc"),
    ],
)
def test_one_part_that_moved_moves_the_figure(measured, printed):
    """The worst of a figure's parts decides."""
    assert agreement(measured, printed) == "moved"


@pytest.mark.parametrize(
    ("measured", "printed"),
    [
        (math.nan, "47.0"),
        (math.inf, "47.0"),
        ([1.0, math.nan], ["1", "2"]),
        ([1.0, math.nan], {"low": "1", "high": "2"}),
        (None, "47.0"),
        ("47.0", "47.0"),
        (47j, "47.0"),
        (np.array([47.0]), "47.0"),
        ([47.0], "47.0"),
        (47.0, ["47.0"]),
        ([], ["47.0"]),
        ([1, 2, 3], ["1", "2"]),
        ("12", ["1", "2"]),
        ({1, 2}, ["1", "2"]),
        ({"a": 1}, ["1"]),
        ([], {"low": "1", "high": "2"}),
        (5.0, {"low": "1", "high": "2"}),
        ([[1], [2]], {"low": "1", "high": "2"}),
    ],
)
def test_what_cannot_be_compared_is_an_error(measured, printed):
    """NaN, infinity, emptiness and another shape are errors that name the figure, never an agreement."""
    with pytest.raises(EvidenceError, match="figure 'x'"):
        compare("x", measured, parse(printed, "x"), None)


def test_a_tolerance_makes_a_difference_close():
    """Within the larger of the two bounds a figure is close; at the printed precision it is still exact."""
    assert agreement(47.4, "47.0", abs=0.5) == "close"
    assert agreement(47.4, "47.0", rel=0.01) == "close"
    assert agreement(47.4, "47.0", abs=0.1, rel=0.01) == "close"
    assert agreement(47.6, "47.0", abs=0.5, rel=0.01) == "moved"
    assert agreement(47.0, "47.0", abs=0.5) == "exact"


def test_a_difference_is_told_in_its_own_unit_and_in_printed_places():
    """The part that moved furthest is named, signed, and counted in units of its last place."""
    comparison = compare("x", [1.0, 2.7, 2.0], parse(["1.0", "2.0", "3.0"], "x"), None)
    assert (comparison.moved_by, comparison.moved_units) == pytest.approx((-1.0, -10.0))


def test_a_word_that_moved_does_not_lend_its_rank_to_a_close_number():
    """The difference told is that of a part with the figure's own agreement."""
    comparison = compare("x", [1.04, "b"], parse(["1", "a"], "x"), Tolerance("a reason", abs=0.1))
    assert (comparison.agreement, comparison.moved_by) == (Agreement.MOVED, None)


def test_of_many_values_behind_a_range_the_range_is_kept():
    """A ledger is not the place for a million gaps; a value a seed stays as it is."""
    printed = parse([{"low": "0", "high": "999"}, {"mid": "1", "low": "0", "high": "2"}], "x")
    comparison = compare("x", [range(1000), [0, 1, 2]], printed, None)
    assert comparison.agreement == "exact"
    assert comparison.measured == [{"low": 0, "high": 999}, [0, 1, 2]]


def test_a_stated_number_that_moved_has_no_printed_places():
    """A number that was not rounded has no last place to count in."""
    comparison = compare("x", 101, parse("=100", "x"), None)
    assert (comparison.moved_by, comparison.moved_units) == (1.0, None)


def test_numpy_numbers_in_a_list_are_kept_as_plain_ones():
    """A ledger's reason reads 0.5, not np.float64(0.5)."""
    kept = compare("f", [np.float64(0.5), np.int64(2)], parse(["0.5", "2"], "here"), None).measured
    assert repr(kept) == "[0.5, 2]"
