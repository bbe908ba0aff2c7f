import pytest

from runtwice.report.numerals import measured, numeral, printed, seconds, shown, size


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.14159, "3.142"),
        (-0.5, "−0.5"),
        (0.0, "0"),
        (12345.6, "12,346"),
        (12345, "12,345"),
        (999, "999"),
        (1.5e-7, "1.500e−7"),
        (2.5e12, "2.500e12"),
        (1e-12, "1.000e−12"),
        ("holds", "holds"),
        (True, "True"),
        (None, "None"),
    ],
)
def test_numbers_are_short(value, text):
    """Four significant digits, a true minus, thousands apart, exponents only where they are needed."""
    assert numeral(value) == text


def test_a_range_is_read_as_one():
    """Middle and ends, or ends alone."""
    assert shown({"mid": "47.0", "low": "30.9", "high": "62.8"}) == "47.0 (30.9 to 62.8)"
    assert shown({"low": 1, "high": 2}) == "1 to 2"
    assert shown({"a": 1.0, "b": [1, 2]}) == "a 1, b 1, 2"


def test_a_long_list_is_told_by_its_ends():
    """Eight values are listed, more are counted."""
    assert shown(list(range(8))) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert shown(list(range(9))) == "0, 1, 2, …, 8 (9 values)"


def test_what_is_printed_is_shown_without_the_mark_of_a_stated_number():
    """The sign is the data file's, not the post's."""
    assert printed("=7") == "7"
    assert printed(["=1", "2.0"]) == "1, 2.0"
    assert printed({"low": "=1", "high": "2"}) == "1 to 2"


def test_what_was_measured_beside_a_range_is_one():
    """A value a run becomes median and range, with the number of runs."""
    figure = {"mid": "2", "low": "1", "high": "3"}
    assert measured([1.0, 5.0, 2.0], figure) == "2 (1 to 5), 3 runs"
    assert measured({"mid": 2.0, "low": 1.0, "high": 5.0}, figure) == "2 (1 to 5)"
    assert measured([1.0, 5.0], ["1", "5"]) == "1, 5"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0 ms"), (0.0123, "12 ms"), (0.5, "0.5 s"), (59.94, "59.9 s"), (240, "4 min")]
)
def test_durations_have_a_fitting_unit(value, text):
    """Milliseconds, seconds, minutes."""
    assert seconds(value) == text


def test_sizes_have_a_fitting_unit():
    """In thousands."""
    assert (size(340_000), size(1_234_567), size(8_260_000_000)) == ("340 kB", "1.2 MB", "8.3 GB")
