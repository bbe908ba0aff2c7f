import re
from xml.etree import ElementTree

import pytest

from runtwice.report.charts import draw
from runtwice.report.plots import Data, Plot

NUMERIC = Data([1.0, 10.0, 100.0], {"a series": [[1.0, 2.0], [2.0, 3.0], [4.0]], "another": [[1.0], [], [3.0]]})
NAMED = Data(["here", "there"], {"a series": [[1.0, 2.0], [2.0]], "another": [[3.0], []]})


def a_plot(kind="curves", **fields):
    defaults = {"title": "A <plot>", "claim": "shop.cheap", "x": [], "series": {}}
    return Plot(id="one", kind=kind, **{**defaults, **fields})


def svg(plot, data, key="key"):
    return ElementTree.fromstring(draw(plot, data, key))


def words(element):
    return [text.strip() for text in element.itertext() if text.strip()]


@pytest.mark.parametrize("data", [NUMERIC, NAMED], ids=["numbers", "names"])
@pytest.mark.parametrize("kind", ["bars", "stack", "curves", "ranges"])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_every_kind_is_drawn(kind, data, scale):
    """With names and with numbers along the axis, with series that lack a place; text stays text."""
    found = words(svg(a_plot(kind, y_scale=scale, x_label="places", y_label="values"), data))
    assert {"places", "values", "a series", "another"} <= set(found)
    if data is NAMED:
        assert {"here", "there"} <= set(found)


def test_a_name_is_no_formula_and_no_secret():
    """Dollars stay dollars, and a legend has every series."""
    data = Data(["$5", "$x_{"], {"cost in $": [[1.0], [2.0]], "_private $\\frac$": [[1.0], [2.0]]})
    found = words(svg(a_plot("bars", x_label="$ $\\frac", y_label="$"), data))
    assert {"$5", "$x_{", "cost in $", "\u200b_private $\\frac$", "$ $\\frac", "$"} <= set(found)


def test_a_roofline_has_its_roof():
    """Slope and ceiling, and the points below them."""
    data = Data([0.5, 8.0], {"decoder": [[3.0], [40.0]]}, {"bandwidth": 10.0, "peak": 60.0})
    assert len(words(svg(a_plot("roofline"), data))) > 4


def test_colours_are_the_pages():
    """No colour is written as such, so that the drawing follows the page's scheme."""
    text = draw(a_plot(), NUMERIC, "key")
    assert not re.search(r"#[0-9a-f]{6}\b|rgb\(", text)
    assert {"var(--ink)", "var(--grid)", "var(--c1)", "var(--c2)"} <= set(re.findall(r"var\(--\w+\)", text))


def test_a_drawing_leaves_the_rest_of_the_page_alone():
    """No style sheet, no font, no size of its own, and nothing fetched."""
    text = draw(a_plot(), NUMERIC, "key")
    assert "<style" not in text
    assert "font-family" not in text
    assert "DejaVu" not in text
    assert not re.search(r'<svg[^>]* (width|height)="', text)
    assert set(re.findall(r"https?://[^\"]*", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_ids_of_two_drawings_differ():
    """A clip path of one must not cut the other."""
    ids = [set(re.findall(r'<clipPath id="([^"]+)"', draw(a_plot(), NUMERIC, key))) for key in ("one", "other")]
    assert all(ids)
    assert not ids[0] & ids[1]


def test_a_drawing_is_the_same_every_time():
    """A page changes where its numbers do."""
    assert draw(a_plot(), NUMERIC, "key") == draw(a_plot(), NUMERIC, "key")


def test_the_title_is_what_a_screen_reader_says():
    """Escaped, since a title may hold any sign."""
    assert svg(a_plot(), NUMERIC).get("aria-label") == "A <plot>"


def test_a_stack_of_shares_reaches_a_hundred():
    """Whatever the sums of its bars are."""
    data = Data(["a", "b"], {"one": [[1.0], [30.0]], "other": [[3.0], [10.0]]})
    assert "100" in words(svg(a_plot("stack", share=True), data))
