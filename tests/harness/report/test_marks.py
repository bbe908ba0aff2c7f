import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.report.marks import WIDTH, described, interval, strips

ESTIMATE = {"value": 2.0, "low": 1.0, "high": 3.0, "confidence": 0.95, "n": 6}


def drawn(reference=0.0, margin=0.0, **changes):
    """The plot of an estimate, as an element."""
    return ElementTree.fromstring(interval({**ESTIMATE, **changes}, reference, margin))


def centre(element):
    return float(element.find("circle").get("cx"))


def reference(element):
    return float(re.search(r"M([\d.]+) ", element.find("path[@class='ref']").get("d"))[1])


@pytest.mark.parametrize("value", [-1.0, 0.5, 4.0])
def test_the_dot_lies_on_its_side_of_no_effect(value):
    """Left of it where the estimate is smaller, right where it is larger."""
    one = drawn(reference=1.0, value=value, low=value - 0.2, high=value + 0.2)
    assert (centre(one) > reference(one)) == (value > 1.0)


finite = st.floats(-1e9, 1e9)


@given(finite, finite, finite, finite, st.floats(0, 1e9))
def test_everything_stays_inside_the_plot(value, low, high, at, margin):
    """Whatever the numbers are, also where all of them are the same."""
    one = drawn(value=value, low=min(low, value), high=max(high, value), reference=at, margin=margin)
    places = [float(place) for path in one.iter("path") for place in re.findall(r"[MH]([-\d.]+)", path.get("d"))]
    assert all(0 <= place <= WIDTH for place in [*places, centre(one)])


def test_an_unbounded_interval_reaches_the_edge_without_a_cap():
    """A bound the data could not give is not drawn as one."""
    path = drawn(high=None).find("path[@class='ci']").get("d")
    assert f"H{WIDTH}" in path
    assert path.count("v8") == 1


def test_a_margin_is_a_band():
    """And without a margin there is none."""
    assert drawn(margin=0.5).find("rect") is not None
    assert drawn().find("rect") is None


def test_a_plot_says_its_numbers():
    """What a screen reader reads is what the eye sees."""
    assert drawn().get("aria-label") == described(ESTIMATE) == "2, 95% interval 1 to 3, 6 units"
    assert "1 to unbounded" in drawn(high=None).get("aria-label")


def test_samples_of_one_comparison_share_a_scale():
    """The two sides of a comparison can be told apart by eye; what is measured in other units has its own scale."""
    found = {one.name: one.plot for one in strips({"a (above)": [1, 2], "a (below)": [2, 3], "b": [1, 2]}, {}, False)}

    def ticks(name):
        path = ElementTree.fromstring(found[name]).find("path[@class='tick']").get("d")
        return [float(place) for place in re.findall(r"M([\d.]+)", path)]

    assert ticks("a (above)")[1] == ticks("a (below)")[0]
    assert ticks("b") != ticks("a (above)")


def test_numbers_stand_beside_samples():
    """How many, from where to where; a dozen values are listed, more are not."""
    (one,) = strips({"a": [3.0, 1.0, 2.0]}, {}, False)
    assert (one.number, one.low, one.middle, one.high, one.values) == ("3", "1", "2", "3", "3, 1, 2")
    (many,) = strips({"a": [float(i) for i in range(13)]}, {}, False)
    assert many.values == ""


def test_a_thinned_sample_says_so():
    """The ledger keeps a part of what was measured."""
    (one,) = strips({"a": [1.0, 2.0]}, {"a": 500}, False)
    assert one.number == "2 of 500"


def test_curves_of_a_sweep_are_drawn_together():
    """One line a unit, and the medians along the sweep in words."""
    (one,) = strips({"curve 0": [1.0, 2.0, 4.0], "curve 1": [3.0, 2.0, 6.0]}, {}, True)
    assert (one.name, one.number) == ("curve", "2 curves of 3 points")
    assert one.values == "medians along the sweep: 2, 2, 5"
    assert ElementTree.fromstring(one.plot).find("path[@class='line']").get("d").count("M") == 2


def test_words_among_the_samples_are_left_out():
    """A ledger writes numbers that are not finite as words."""
    (one,) = strips({"a": ["nan", 1.0, "inf"], "b": ["nan"]}, {}, False)
    assert (one.name, one.number) == ("a", "1")
