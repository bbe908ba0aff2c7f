import csv
import io
import json
import unicodedata
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from runtwice import cli, comparison_formats, foreign, timeline
from runtwice.compare import compare
from runtwice.history import read, write_csv
from tests.harness.ledger_builders import a_figure_row, a_ledger

EVIL = "<b>|`x`\n::error::boom\r\n# h\x1b[31m\x1b]0;title\x07\u202e\u2028=1+1\x00"


@given(st.text())
def test_any_text_is_one_line_that_steers_nothing(text):
    """Neither the terminal's cursor nor the direction of writing, nor the log that it is printed to."""
    shown = foreign.line(text)
    assert len(shown.splitlines()) <= 1
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs")]


@pytest.mark.parametrize("text", ["größer × 2", "a  b", "नमस्ते", "👩‍🚀", "1 → 2 ≤ 3"])
def test_what_only_shows_something_stays(text):
    """Signs of any alphabet, and the spaces that align a table."""
    assert foreign.line(text) == text


def test_what_steers_is_spelled():
    """So that a reader still sees what was there."""
    assert foreign.line("a\x1b[31mb\tc \n d\u202e") == "a\\x1b[31mb c d\\u202e"


@pytest.mark.parametrize("text", ["=1+1", "+ numpy 2", "-cmd", "@sum", " =1", "\t=1"])
def test_a_formula_is_a_text_in_a_spreadsheet(text):
    """The apostrophe says so, and is not shown there."""
    assert foreign.cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1.5, 0, None, "-1.5", "-inf", "holds", "a=b", True, [1]])
def test_a_number_stays_one_in_a_spreadsheet(value):
    """Whether it came as a number or as its text."""
    assert foreign.cell(value) is value


def test_markdown_shows_a_text_as_it_reads():
    """No cell ends early, no tag, code, link or heading begins."""
    assert foreign.markdown("a|b\n# <i> `x` [y](z)") == r"a\|b # &lt;i&gt; \`x\` \[y\](z)"
    assert foreign.code("a`b|c") == r"`a'b\|c`"


# --- where it is shown ------------------------------------------------------------------------------------------


@pytest.fixture
def evil(tmp_path):
    """Two ledgers in which every free text is foreign."""
    fields = {"reason": EVIL, "because": EVIL, "as_declared": False, "name": EVIL, "nodeid": EVIL, "warnings": [EVIL]}
    machine = {"processor": EVIL, "packages": {"numpy": EVIL}}
    old = a_ledger(tmp_path / "old.json", a_figure_row("=1+1", "a", agreement="moved", **fields), **machine)
    machine["packages"] = {"numpy": "2", EVIL: "1"}
    new = a_ledger(
        tmp_path / "new.json", a_figure_row(EVIL, "a", agreement="moved", verdict="refuted", **fields), **machine
    )
    return old, new


def printed(*arguments):
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


@pytest.mark.parametrize("form", ["table", "markdown", "github"])
def test_a_comparison_has_as_many_lines_as_for_any_text(evil, form):
    """Nothing of a ledger begins a line of its own."""
    lines = comparison_formats.FORMATS[form](compare(*evil)).split("\n")
    assert not [line for line in lines if line.startswith(("::error::boom", "# h", "=1"))]
    assert all(map(str.isprintable, lines))


@pytest.mark.parametrize("arguments", [["show"], ["show", "--format", "github"]])
def test_a_shown_ledger_has_no_line_of_its_own(evil, tmp_path, arguments):
    """`show`, as the end of a run, is read in terminals and in the logs of workflows."""
    (tmp_path / "claims").mkdir()
    text = printed(*arguments, "--ledger", evil[1].path, "--claims", tmp_path / "claims")
    assert not [line for line in text.split("\n") if line.startswith(("::error::boom", "# h", "=1"))]
    assert all(map(str.isprintable, text.split("\n")))


def test_a_history_is_printed_drawn_and_written_so(evil, tmp_path):
    """Its picture is well-formed, and none of its cells is a formula."""
    found = read(tmp_path)
    ET.fromstring(timeline.draw(found))
    out = io.StringIO()
    write_csv(found, out)
    cells = [cell for row in csv.reader(io.StringIO(out.getvalue())) for cell in row]
    assert "'=1+1" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
    assert all(map(str.isprintable, printed("history", tmp_path).split("\n")))


def test_tools_get_the_text_itself(evil):
    """JSON has its own way to hold any sign."""
    document = json.loads(comparison_formats.as_json(compare(*evil)))
    assert any(change["after"] == EVIL for change in document["changes"])
