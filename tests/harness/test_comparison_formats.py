import json

import pytest

from runtwice import ledger
from runtwice.compare import compare
from runtwice.comparison_formats import FORMATS
from tests.harness.ledger_builders import a_figure_row, a_judged_row, a_ledger
from tests.harness.test_compare import compared


@pytest.fixture
def found(tmp_path):
    """A comparison with something of everything."""
    before = [
        a_figure_row(1.0, claim_id="shop.cheap"),
        a_judged_row("shop.dear"),
        a_judged_row("shop.slow", settings={"rate": 1}),
        a_figure_row(1.0, claim_id="shop.near"),
        a_judged_row("shop.gone"),
        a_judged_row("shop.loud", verdict="undecided", reason="noisy machine: load 9"),
    ]
    after = [
        a_figure_row(1.5, claim_id="shop.cheap", distributions={"numpy": "2.5"}),
        a_judged_row("shop.dear", "not run", reason="needs a|b,\nc: d"),
        a_judged_row("shop.slow", "refuted", settings={"rate": 2}),
        a_figure_row(1.001, claim_id="shop.near", warnings=["DeprecationWarning: soon"]),
        a_judged_row("shop.loud"),
        a_judged_row("shop.new"),
    ]
    return compared(tmp_path, before, after, None, {"packages": {"numpy": "2.5", "narwhals": "2"}})


def test_the_table_says_all_of_it(found):
    """What was compared, what changed, what does not count and why, what only one has."""
    text = FORMATS["table"](found)
    for part in (
        "compared 5 claims on one machine: a processor (2 cores, 16 GiB)",
        "packages: + narwhals 2, numpy 2.4.6 → 2.5",
        "changed (2)",
        "shop.cheap  price 1 → 1.5 (+50 printed units)  [numpy 2.4.6 → 2.5]",
        "shop.dear   holds, and no longer judged: needs a|b, c: d",
        "not counted: measuring settings changed (1)",
        "shop.slow  holds → refuted  [setting 'rate'",
        "below the printed precision: 1 figure of 1 claim\n",
        "left undecided by a noisy machine in one of them: shop.loud",
        "only in old.json (1): shop.gone",
        "only in new.json (1): shop.new",
        "new warning in shop.near: DeprecationWarning: soon",
    ):
        assert part in text, text
    assert "nothing changed" not in text


def test_nothing_is_said_to_be_nothing(tmp_path):
    """In one line, with what the two have in common."""
    text = FORMATS["table"](compared(tmp_path, a_judged_row(), a_judged_row()))
    assert text.splitlines()[-2:] == ["  same packages, settings and processor", "nothing changed"]


def test_json_is_strict_and_says_whether_anything_changed(found):
    """For tools: every change with its standing."""
    document = json.loads(FORMATS["json"](found), parse_constant=pytest.fail)
    assert (document["changed"], document["compared"]) == (True, 5)
    assert {change["standing"] for change in document["changes"]} >= {"changed", "measuring settings changed"}


def test_markdown_survives_a_bar(found):
    """A row of the table stays one row."""
    (row,) = [line for line in FORMATS["markdown"](found).splitlines() if line.startswith("| `shop.dear`")]
    assert "needs a\\|b, c: d" in row


def test_annotations_are_one_line_each_and_point_at_the_test(found):
    """An error for what counts, a notice for the rest."""
    lines = FORMATS["github"](found).splitlines()
    assert all(line.startswith("::") for line in lines)
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == 2
    assert errors[1].startswith("::error file=claims/shop/test_a.py,title=shop.dear%3A changed::holds, and no longer")
    assert "needs a|b, c: d" in errors[1]


def test_across_machines_their_ceilings_stand_beside(tmp_path):
    """What was measured of them, or that it was not."""
    controls = {"ceilings": {"copy_bytes_per_s": 1.5e10, "float64_flops_per_s": 5e10, "float32_flops_per_s": 1e11}}
    found = compared(tmp_path, a_judged_row(), a_judged_row(), {"controls": controls}, {"processor": "another"})
    text = FORMATS["table"](found)
    assert "across machines: a processor (2 cores, 16 GiB), and another (2 cores, 16 GiB)" in text
    assert "copy (GB/s): 15.0 beside not measured" in text
    assert "cores: 2 beside 2" in text


def test_a_partial_ledger_says_so(tmp_path):
    """What it lacks was not run."""
    row = a_judged_row()
    a_ledger(tmp_path / "part.json", row, partial=True)
    found = compare(ledger.read(tmp_path / "part.json"), a_ledger(tmp_path / "b.json", row))
    assert "part.json is partial, 1 of 1" in FORMATS["table"](found)
