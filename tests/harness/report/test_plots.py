import pytest

from runtwice.errors import ClaimError
from runtwice.report.plots import Lacking, load, read
from tests.harness.builders import a_claim, a_row

HEAD = '[one]\ntitle = "A plot"\nkind = "{kind}"\nclaim = "shop.cheap"\n'


def declared(folder, body, kind="curves"):
    """The plot that a file with this body declares."""
    (folder / "plots.toml").write_text(HEAD.format(kind=kind) + body, encoding="utf-8")
    (plot,) = load(folder)
    return plot


def figure(name, measured):
    return {"name": name, "measured": measured, "printed": "1", "agreement": "exact", "moved_by": None}


def rows(samples=None, figures=None, **more):
    """Rows of a ledger by id."""
    own = [figure(name, value) for name, value in (figures or {}).items()]
    return {"shop.cheap": {**a_row(), "samples": samples or {}, "figures": own}, **more}


def data(folder, body, found, claims=None):
    plot = declared(folder, body)
    return read(plot, found, claims or {})


# --- where numbers come from ------------------------------------------------------------------------------------


def test_a_sample_holds_a_value_a_place(tmp_path):
    """One series, one unit."""
    found = data(tmp_path, 'x = [1, 2]\nseries.a = { sample = "s" }', rows({"s": [5.0, 6.0]}))
    assert (found.x, found.series) == ([1.0, 2.0], {"a": [[5.0], [6.0]]})


def test_samples_that_match_are_curves_in_their_order(tmp_path):
    """A unit a curve; curve 10 comes after curve 2."""
    samples = {f"curve {i}": [float(i), float(-i)] for i in (10, 2, 1)}
    found = data(tmp_path, 'x = [1, 2]\nseries.a = { samples = "curve *" }', rows({**samples, "other": [1.0]}))
    assert found.series == {"a": [[1.0, 2.0, 10.0], [-1.0, -2.0, -10.0]]}


def test_a_sample_a_place_holds_its_units(tmp_path):
    """The place's name, or its key, is put into the sample's name."""
    found = data(
        tmp_path,
        'x = ["ridge", "a forest"]\nkeys = ["ridge", "forest"]\nseries.a = { samples = "weight of {}" }',
        rows({"weight of ridge": [1.0, 2.0], "weight of forest": [3.0]}),
    )
    assert found.series == {"a": [[1.0, 2.0], [3.0]]}


def test_a_figure_a_place_holds_its_runs(tmp_path):
    """A list behind a printed range is the runs; of a summary the ends are left."""
    found = data(
        tmp_path,
        'x = ["a", "b"]\nseries.p99 = { figures = "{}_p99" }',
        rows(figures={"a_p99": [1.0, 2.0], "b_p99": {"mid": 3.0, "low": 1.0, "high": 9.0}}),
    )
    assert found.series == {"p99": [[1.0, 2.0], [3.0, 1.0, 9.0]]}


def test_a_part_of_each_figure_is_a_series(tmp_path):
    """Figures that hold one value a cause."""
    body = 'x = ["a", "b"]\nseries.first = { figures = "{}", part = 0 }\nseries.second = { figures = "{}", part = 1 }'
    found = data(tmp_path, body, rows(figures={"a": [1, 2], "b": [3, 4]}))
    assert found.series == {"first": [[1.0], [3.0]], "second": [[2.0], [4.0]]}


def test_one_figure_may_hold_all_places(tmp_path):
    """A value a place."""
    found = data(tmp_path, 'x = [1, 2]\nseries.a = { figure = "all" }', rows(figures={"all": [5, 6]}))
    assert found.series == {"a": [[5.0], [6.0]]}


def test_places_may_come_from_the_conditions_or_the_evidence(tmp_path):
    """So that an axis cannot drift from the experiment."""
    claims = {"shop.cheap": a_claim(given={"rates": [0.3, 0.1]})}
    found = data(tmp_path, 'x = { given = "rates" }\nseries.a = { sample = "s" }', rows({"s": [1, 2]}), claims)
    assert (found.x, found.series) == ([0.1, 0.3], {"a": [[2.0], [1.0]]})
    body = 'x = { sample = "places" }\nseries.a = { sample = "s" }'
    assert data(tmp_path, body, rows({"s": [1, 2], "places": [7, 8]})).x == [7.0, 8.0]


def test_series_may_have_places_of_their_own(tmp_path):
    """Where one has no value there is none."""
    body = 'x = [1, 2]\nseries.a = { sample = "a" }\nseries.b = { sample = "b", x = [2, 4] }'
    found = data(tmp_path, body, rows({"a": [5, 6], "b": [7, 8]}))
    assert found.x == [1.0, 2.0, 4.0]
    assert found.series == {"a": [[5.0], [6.0], []], "b": [[], [7.0], [8.0]]}


def test_a_series_may_come_from_another_claim(tmp_path):
    """And the plot names both."""
    body = 'x = [1]\nseries.a = { sample = "s" }\nseries.b = { sample = "s", claim = "shop.dear" }'
    other = {**a_row("shop.dear"), "samples": {"s": [9.0]}}
    found = rows({"s": [5.0]}, **{"shop.dear": other})
    assert data(tmp_path, body, found).series == {"a": [[5.0]], "b": [[9.0]]}
    assert declared(tmp_path, body).claims == {"shop.cheap", "shop.dear"}


def test_a_roof_is_a_number_each(tmp_path):
    """The median of what was measured."""
    body = 'x = [1]\nseries.a = { sample = "s" }\nroof = { bandwidth = { sample = "b" }, peak = { sample = "p" } }'
    found = read(declared(tmp_path, body, "roofline"), rows({"s": [1], "b": [1, 2, 9], "p": [5]}), {})
    assert found.roof == {"bandwidth": 2.0, "peak": 5.0}


# --- what is not there is not drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('x = [1]\nseries.a = { sample = "s", claim = "shop.gone" }', "no row of shop.gone"),
        ('x = [1]\nseries.a = { sample = "t" }', "keeps no sample 't'"),
        ('x = [1]\nseries.a = { sample = "words" }', "is no list of finite numbers"),
        ('x = [1, 2]\nseries.a = { sample = "s" }', "1 values and 2 keys for 2 places"),
        ('x = ["a"]\nkeys = ["a", "b"]\nseries.a = { sample = "s" }', "1 values and 2 keys for 1 places"),
        ('x = [1]\nseries.a = { samples = "t*" }', "keeps no samples 't\\*' of one length"),
        ('x = [1]\nseries.a = { samples = "[sd]*" }', "of one length"),
        ('x = ["f"]\nseries.a = { figures = "{}_p99" }', "measured no figure 'f_p99'"),
        ('x = ["f"]\nseries.a = { figures = "{}", part = 7 }', "has no value number 7"),
        ('x = { given = "rates" }\nseries.a = { sample = "s" }', "gives no list 'rates'"),
        ('y_scale = "log"\nx = [1]\nseries.a = { sample = "nothing" }', "nothing above 0, for a logarithmic scale"),
        ('x_scale = "log"\nx = [0]\nseries.a = { sample = "s" }', "nothing above 0, for a logarithmic scale"),
        ('share = true\nx = [1]\nseries.a = { sample = "debt" }', "less than 0, as a share"),
    ],
)
def test_a_ledger_without_the_numbers_lacks_the_plot(tmp_path, body, said):
    """Missing, of another shape, or not finite: the reason names it."""
    samples = {"s": [1.0], "double": [1.0, 2.0], "words": ["nan"], "nothing": [0.0], "debt": [-1.0]}
    found = rows(samples, {"f": [1.0]})
    with pytest.raises(Lacking, match=said):
        data(tmp_path, body, found)


# --- declarations ---------------------------------------------------------------------------------------------------


def test_a_topic_may_have_no_plots(tmp_path):
    """Most have none."""
    assert load(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[one", "not valid TOML"),
        ("one = 1", "is no table"),
        (HEAD.format(kind="curves") + "x = [1]", "`series` is missing"),
        (HEAD.format(kind="pie") + 'x = [1]\nseries.a = { sample = "s" }', "`kind` is 'pie'; it must be one of bars"),
        (HEAD.format(kind="curves") + 'colour = 1\nx = [1]\nseries.a = { sample = "s" }', "unknown field 'colour'"),
        (HEAD.format(kind="curves") + 'y_scale = "sqrt"\nx = [1]\nseries.a = { sample = "s" }', "linear or log"),
        (HEAD.format(kind="curves") + "x = [1]\nseries.a = {}", "it must name one of figures"),
        (HEAD.format(kind="curves") + 'x = 3\nseries.a = { sample = "s" }', "x is 3; it must be a list, or name"),
        (HEAD.format(kind="curves") + 'x = { of = "s" }\nseries.a = { sample = "s" }', "it must be a list, or name"),
        (HEAD.format(kind="curves") + 'x = [1]\nseries.a = { sample = "s", figure = "f" }', "it must name one of"),
        (HEAD.format(kind="curves") + 'x = [1]\nseries.a = { sample = "s", colour = 1 }', "it must name one of"),
        (HEAD.format(kind="roofline") + 'x = [1]\nseries.a = { sample = "s" }', "a roofline, and nothing else"),
        (HEAD.format(kind="curves") + "x = [1]\nseries = [1]", "`series` is a list, not a table"),
        (HEAD.format(kind="curves") + 'roof = 5\nx = [1]\nseries.a = { sample = "s" }', "`roof` is 5, not a table"),
        (HEAD.format(kind="curves") + 'keys = 5\nx = [1]\nseries.a = { sample = "s" }', "`keys` is 5, not a list"),
        (HEAD.format(kind="curves") + 'keys = [5]\nx = [1]\nseries.a = { sample = "s" }', "5, not a text"),
        (HEAD.format(kind="curves") + 'x_label = 5\nx = [1]\nseries.a = { sample = "s" }', "5, not a text"),
        (HEAD.format(kind="curves") + 'x = [nan]\nseries.a = { sample = "s" }', "not a finite number"),
        (HEAD.format(kind="curves") + 'x = [[1]]\nseries.a = { sample = "s" }', "is a list, not a finite number"),
        (HEAD.format(kind="curves") + "x = { given = 5 }\nseries.a = { sample = 's' }", "5, not a text"),
        (HEAD.format(kind="curves") + "x = [1]\nseries.a = { samples = 5 }", "`samples` is 5, not a text"),
        (HEAD.format(kind="curves") + 'x = [1]\nseries.a = { figure = "f", part = -1 }', "`part` is -1, not a count"),
    ],
)
def test_a_wrong_declaration_is_refused(tmp_path, text, said):
    """The message names the file, the plot and what would be right."""
    (tmp_path / "plots.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ClaimError, match=said):
        load(tmp_path)
