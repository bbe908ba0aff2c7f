import csv
import io
import json
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from runtwice import cli, history, timeline
from runtwice.errors import LedgerError, UnknownClaim
from tests.harness.ledger_builders import a_figure_row, a_judged_row, a_ledger


def at(day):
    return f"2026-01-{day:02d}T00:00:00+00:00"


@pytest.fixture
def folder(tmp_path):
    """Three nights of one machine and one of another, and a JSON file that is no ledger."""
    a_ledger(tmp_path / "c.json", a_judged_row(), a_figure_row(1.0, claim_id="shop.dear"), created=at(1))
    a_ledger(tmp_path / "a" / "a.json", a_figure_row(1.0, claim_id="shop.dear"), created=at(2))
    newest = {"packages": {"numpy": "2.5"}, "created": at(3)}
    rows = a_judged_row(verdict="refuted"), a_figure_row(3.0, claim_id="shop.dear")
    a_ledger(tmp_path / "b.json", *rows, **newest)
    a_ledger(tmp_path / "d.json", a_judged_row(verdict="refuted"), created=at(2), processor="another")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / ".hidden.json").write_text("{")
    return tmp_path


def test_a_claim_is_compared_with_the_run_that_had_it_last(folder):
    """In the order of time, not of names, and machine by machine."""
    found = history.read(folder)
    assert [path.name for path in found.passed_over] == ["other.json"]
    assert [(entry.id, entry.created[:10], len(entry.changes)) for entry in found.entries] == [
        ("shop.cheap", "2026-01-01", 0),
        ("shop.cheap", "2026-01-03", 1),
        ("shop.cheap", "2026-01-02", 0),
        ("shop.dear", "2026-01-01", 0),
        ("shop.dear", "2026-01-02", 0),
        ("shop.dear", "2026-01-03", 1),
    ]
    assert {entry.packages for entry in found.changes} == {("numpy 2.4.6 → 2.5",)}


def test_the_table_has_a_line_a_figure(folder):
    """With what changed and which packages did."""
    file = io.StringIO()
    history.write_csv(history.read(folder), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert len(rows) == 6
    last = [row for row in rows if row["claim"] == "shop.dear"][-1]
    assert (last["figure"], last["measured"], last["packages"]) == ("price", "3.0", "numpy 2.4.6 → 2.5")
    assert last["change"] == "price: 1.0 → 3.0"


def test_the_picture_has_a_square_a_run_and_a_ring_where_something_changed(folder):
    """It is well-formed, and names each machine where there are two."""
    root = ElementTree.fromstring(timeline.draw(history.read(folder)))
    squares = [one for one in root.iter() if one.tag.endswith("rect") and list(one)]
    assert len(squares) == 6
    assert sum("stroke" in one.attrib for one in squares) == 2
    texts = [one.text for one in root.iter() if one.tag.endswith("text")]
    assert len([text for text in texts if text.startswith("shop.cheap (")]) == 2
    assert any("another (2 cores" in text for text in texts)


def test_only_matching_claims_are_shown(folder):
    """By glob."""
    assert {entry.id for entry in history.read(folder, ["*.dear"]).entries} == {"shop.dear"}
    with pytest.raises(UnknownClaim, match=r"no claim in .* matches bank"):
        history.read(folder, ["bank.*"])


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "is no folder of ledgers"),
        ({}, "no ledger in"),
        ({"a.json": "{}"}, "no ledger in .*, of 1 JSON files"),
        ({"a.json": '{"claims": {"ro'}, "was cut off"),
        ({"a.json": json.dumps({"claims": {"schema": 99, "rows": []}})}, "schema 99 is newer"),
    ],
)
def test_a_folder_that_cannot_be_read_is_refused(tmp_path, files, said):
    """A ledger that was cut off is no foreign file."""
    folder = tmp_path / "ledgers"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    with pytest.raises(LedgerError, match=said):
        history.read(folder)


def test_the_command_tells_the_changes_and_writes_both_files(folder, tmp_path):
    """A file that cannot be written is one line and exit status 2."""
    table, plot = tmp_path / "out.csv", tmp_path / "out.svg"
    result = CliRunner().invoke(cli.main, ["history", str(folder), "--csv", str(table), "--plot", str(plot)])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "2 claims in 4 ledgers, 2 times something changed"
    assert "holds → refuted" in result.stdout
    assert table.exists()
    assert plot.read_text().startswith("<svg")
    result = CliRunner().invoke(cli.main, ["history", str(folder), "--csv", str(tmp_path / "no" / "out.csv")])
    assert (result.exit_code, "cannot be written" in result.stderr) == (2, True)
