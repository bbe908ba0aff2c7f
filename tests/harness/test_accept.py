import json

import pytest
from click.testing import CliRunner

from runtwice import cli, ledger
from runtwice.accept import accept, declaration
from runtwice.errors import LedgerError, UnknownClaim
from tests.harness.ledger_builders import a_figure, a_figure_row, a_judged_row, a_ledger


@pytest.fixture
def pair(tmp_path):
    """A reference of two claims, and a ledger in which both changed."""
    timing = {"timings": [{"name": "step", "seconds": [0.1], "group": None}]}
    reference = a_ledger(tmp_path / "good.json", a_judged_row(), {**a_judged_row("shop.dear"), **timing})
    rows = [a_figure_row(2.0, verdict="refuted", agreement="moved"), {**a_judged_row("shop.dear", "error"), **timing}]
    return reference, a_ledger(tmp_path / "night.json", *rows, packages={"numpy": "2.5"})


def test_the_row_moves_into_the_reference_and_the_others_stay(pair):
    """With a note of what it was, and in which environment it changed."""
    reference, night = pair
    (one,) = accept(["shop.cheap"], night, reference)
    assert (one.before, one.after) == ("holds", "refuted")
    now = ledger.read(reference.path)
    assert {id_: row["verdict"] for id_, row in now.rows.items()} == {"shop.cheap": "refuted", "shop.dear": "holds"}
    assert len(now.document["benchmarks"]) == 1
    (note,) = now.block["accepted"]
    assert (note["id"], note["before"], note["after"]) == ("shop.cheap", "holds", "refuted")
    accept(["shop.cheap"], night, now)
    assert len(ledger.read(reference.path).block["accepted"]) == 2


def test_durations_move_with_their_claim(tmp_path):
    """Those of the reference go, those of the night come."""
    rows = [
        {**a_judged_row(), "timings": [{"name": "step", "seconds": [seconds], "group": None}]} for seconds in (0.1, 0.2)
    ]
    reference, night = (a_ledger(tmp_path / f"{i}.json", row) for i, row in enumerate(rows))
    accept(["shop.cheap"], night, reference)
    assert ledger.read(reference.path).timings("shop.cheap")[0]["seconds"] == [0.2]


@pytest.mark.parametrize(
    ("row", "condition", "line"),
    [
        (a_judged_row(), "", '@claim("shop.cheap")'),
        (a_judged_row(verdict="recorded", kind="record"), "", '@claim("shop.cheap")'),
        (
            a_judged_row(verdict="refuted", reason="1 is not 2"),
            "",
            '@claim("shop.cheap", expect="refuted", because="1 is not 2")',
        ),
        (
            a_judged_row(verdict="refuted", figures=[a_figure(2.0, agreement="moved")]),
            "numpy>=2.5",
            '@claim("shop.cheap", expect={"numpy>=2.5": "refuted"}, because="price 2 (printed 1.00: moved)")',
        ),
    ],
)
def test_the_declaration_is_ready_to_paste(row, condition, line):
    """It is Python, and says what was measured."""
    assert declaration(row, condition) == line
    compile(f"{line}\ndef test(evidence): pass", "pasted", "exec")


@pytest.mark.parametrize(
    ("change", "id_", "error", "said"),
    [
        ({}, "shop.none", UnknownClaim, "has no claim 'shop.none'"),
        ({}, "shop.dear", LedgerError, "shop.dear is error"),
        ({"processor": "another"}, "shop.cheap", LedgerError, "different machines"),
        ({"blas": "Haswell"}, "shop.cheap", LedgerError, "different machines or processor features"),
    ],
)
def test_what_cannot_be_accepted_leaves_the_reference_as_it_was(pair, tmp_path, change, id_, error, said):
    """Unknown claims, crashes, and other machines."""
    reference, night = pair
    before = reference.path.read_text()
    other = a_ledger(tmp_path / "other.json", *night.rows.values(), **change)
    with pytest.raises(error, match=said):
        accept(["shop.cheap", id_], other, reference)
    assert reference.path.read_text() == before


def test_the_command_prints_the_line_and_moves_the_reference(pair):
    """The line alone on standard output."""
    reference, night = pair
    arguments = ["accept", "shop.cheap", "--ledger", str(night.path), "--reference", str(reference.path)]
    result = CliRunner().invoke(cli.main, [*arguments, "--when", "numpy>=2.5"])
    assert result.exit_code == 0
    assert result.stdout.startswith('@claim("shop.cheap", expect={"numpy>=2.5": "refuted"}, because="price 2 ')
    assert json.loads(reference.path.read_text())["claims"]["accepted"]
    assert CliRunner().invoke(cli.main, [*arguments, "--when", "whenever it rains"]).exit_code == 2
    assert CliRunner().invoke(cli.main, [*arguments[:-1], "none.json"]).exit_code == 2
