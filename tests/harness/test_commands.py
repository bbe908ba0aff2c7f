"""What every command has in common."""

import json
import os
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from runtwice import cli
from tests.harness.builders import a_row
from tests.harness.report.builders import a_ledger

COMMANDS = cli.main.list_commands(click.Context(cli.main))


def run(*arguments):
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name):
    """`--help` says what it is for, and shows it typed."""
    code, out = run(name, "--help")
    assert code == 0
    assert f"runtwice {name}" in out.partition("Example:")[2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_and_ids(project, shell):
    """By click's own means, as the help says; ids are read from the data alone."""
    project.claim("cheap").claim("cheaper").claim("dear")
    typed = {"COMP_WORDS": "runtwice show shop.c", "COMP_CWORD": "2" if shell != "fish" else "shop.c"}
    variables = {**os.environ, **typed, "_RUNTWICE_COMPLETE": f"{shell}_complete"}
    script = "from runtwice.cli import main; main(prog_name='runtwice')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project.root, env=variables, capture_output=True, text=True
    )
    assert "shop.cheap" in done.stdout
    assert "shop.cheaper" in done.stdout
    assert "shop.dear" not in done.stdout


def in_a_shell(line, root, **variables):
    """Exit status, output and complaints of a line in which `runtwice` is the command."""
    command = f"{sys.executable} -m runtwice"
    script = f'set -o pipefail; runtwice() {{ {command} "$@"; }}; {line}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=root, env={**os.environ, **variables}, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def long(project):
    """A project whose claims, listed, are more than a pipe holds."""
    for number in range(20):
        project.claim(f"c{number}", data=f'note = "{"x" * 10_000}"\n')
    text = (project.root / "claims/shop/claims.toml").read_text()
    (project.root / "claims/shop/claims.toml").write_text(text.replace('says = "It is', f'says = "{"x" * 10_000}'))
    return project


def test_a_reader_that_went_away_is_no_verdict(long):
    """Under `pipefail` a `diff` that `head` cut short must not read as `something changed`, nor print a traceback."""
    assert in_a_shell("runtwice list | head -c 1", long.root) == (141, "s", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_is_one_line(long):
    """Exit status 2: whether something changed was not said."""
    code, _, said = in_a_shell("runtwice list > /dev/full", long.root)
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("runtwice: ")
    assert "No space left" in said


def test_a_closed_output_ends_in_no_traceback(project):
    """What nobody can read is not written."""
    project.claim("cheap")
    write(project.root)
    for line in ("runtwice list >&-", "runtwice show --ledger a.json >&-"):
        assert in_a_shell(line, project.root) == (0, "", "")


@pytest.mark.parametrize("columns", ["0", "1", "40", "none"])
def test_a_ledger_is_shown_whatever_the_width(project, columns):
    """A width of nothing is none; a narrow one breaks no word into letters."""
    write(project.root)
    _, out, said = in_a_shell("runtwice show --ledger a.json", project.root, COLUMNS=columns)
    assert said == ""
    assert "shop" in out
    assert max(map(len, out.split("\n"))) > 5


@pytest.mark.parametrize("expression", ["not " * 5000 + "x", "(" * 5000, "not", "()", "a and"])
def test_an_expression_that_is_none_is_one_line(project, expression):
    """However deeply it is nested, and however long it is."""
    project.claim("cheap")
    code, out = run("list", "-k", expression)
    assert (code, out.count("\n")) == (2, 1)
    assert len(out) < 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "does not exist; it lists"),
        (b"ids = 5", "`ids` is 5, not a table"),
        (b"pending = [1]", "`pending[0]` is 1, not a text"),
        (b"[ids]\nshop = 'a'", '`ids.shop` is "a", not a list'),
        (b"\xff", "cannot be read"),
        (b"=", "cannot be read"),
    ],
)
def test_an_inventory_that_is_none_is_one_line(project, text, said):
    """Missing, as in any project of one's own, or malformed."""
    project.claim("cheap")
    if text is not None:
        (project.root / "claims" / "inventory.toml").write_bytes(text)
    code, out = run("completeness")
    assert (code, out.count("\n")) == (2, 1)
    assert said in out


def test_an_empty_folder_of_claims_says_so(project):
    """It is not that nothing matched."""
    (project.root / "claims").mkdir()
    assert run("list") == (2, "runtwice: no claims below 'claims': no folder in it holds a claims.toml\n")


# --- report -----------------------------------------------------------------------------------------------------


def write(folder, name="a.json", *rows):
    found = a_ledger(*(rows or [a_row()]), name=name)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found.document))
    return path


def test_report_writes_pages_and_says_so(project):
    """Their number and size; the claims folder is found by itself."""
    project.claim("cheap")
    write(project.root)
    code, out = run("report", "a.json", "-o", "site")
    assert code == 0
    assert re.fullmatch(r"site/index.html: 2 pages, \d+ kB, the first \d+ kB\n", out)
    assert "It is cheap." in (project.root / "site" / "shop.html").read_text()


def test_report_takes_the_newest_ledger_of_its_own(project):
    """As `show` does."""
    write(project.root, "reports/local/20260101T000000Z.json")
    assert run("report")[0] == 0
    assert (project.root / "reports" / "site" / "index.html").is_file()


def test_report_takes_a_folder_of_ledgers(project):
    """What is no ledger is passed over, and named."""
    write(project.root, "ledgers/a.json")
    (project.root / "ledgers" / "selfcheck.json").write_text("{}")
    code, out = run("report", "ledgers", "-o", "site")
    assert code == 0
    assert "passed over: ledgers/selfcheck.json is not a runtwice ledger" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.json"], "gone.json does not exist"),
        (["empty"], "no ledger in empty"),
        ([], "no ledger in reports/local"),
        (["a.json", "-o", "a.json/site"], "the pages cannot be written"),
    ],
)
def test_report_refuses_in_one_line(project, arguments, said):
    """Exit status 2, no traceback."""
    write(project.root)
    (project.root / "empty").mkdir()
    code, out = run("report", *arguments)
    assert code == 2
    assert said in out
    assert out.count("\n") == 1


def test_report_passes_over_a_folder_without_ledgers(project):
    """`reports/*/` takes in `local/`, where there may be none."""
    write(project.root)
    (project.root / "empty").mkdir()
    code, out = run("report", "empty", "a.json", "-o", "site")
    assert (code, out.split("\n")[0]) == (0, "passed over: no ledger in empty")


def test_report_says_what_it_needs(project, monkeypatch):
    """Without the libraries that draw, the other commands work and this one is one line."""
    write(project.root)
    for name in [name for name in sys.modules if name.startswith("runtwice.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, out = run("report", "a.json")
    assert code == 2
    assert out.startswith("runtwice: report needs Jinja and Matplotlib (")
    assert "pip install 'runtwice[report]'" in out


def test_report_says_what_it_could_not_draw(project):
    """A plot whose numbers the ledger does not hold."""
    project.claim("cheap")
    head = 'title = "Prices"\nkind = "curves"\nclaim = "shop.cheap"\nx = [1]\nseries.ours = { sample = "s" }\n'
    project.write("claims/shop/plots.toml", f"[prices]\n{head}")
    write(project.root)
    assert "not drawn: shop.prices (shop.cheap keeps no sample 's')" in run("report", "a.json", "-o", "site")[1]


def test_show_annotates_a_workflow_run(project):
    """One line for what is not as declared, of all claims or of one."""
    project.claim("cheap").claim("dear")
    rows = [a_row(verdict="refuted"), a_row("shop.dear", "error")]
    write(project.root, "a.json", *rows)
    code, out = run("show", "--ledger", "a.json", "--format", "github")
    assert (code, out.count("::error ")) == (0, 2)
    assert "file=claims/shop/test_shop.py,line=" in out
    assert run("show", "shop.dear", "--ledger", "a.json", "--format", "github")[1].count("::error ") == 1
    assert run("show", "shop.gone", "--ledger", "a.json", "--format", "github")[0] == 2
