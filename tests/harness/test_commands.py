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
