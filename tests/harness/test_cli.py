import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from runtwice import cli, ledger
from runtwice.ledger import Journal
from runtwice.session import LOCAL
from tests.harness.builders import Project, a_row

DATA = 'given = { seeds = 5 }\nprinted = { price = "1.0", parts = ["1", "2"] }\nneeds = []\nnote = "mind the gap"\n'


@pytest.fixture
def project(pytester):
    """A project with three claims in two topics, in the current folder."""
    project = Project(pytester)
    project.claim("cheap", 'evidence.figure("price", 1.0)', data=DATA)
    project.claim("deep.dear").claim("cheap", topic="bank", data='exempt = "a joke"\n')
    return project


def run(*arguments):
    """Exit status and output of a command."""
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def kept(path, *rows, ended=True):
    """A ledger (or, of a killed run, its journal) of two selected claims."""
    environment = {"python": "3.11.7"}
    header = ledger.header(
        {"cpu": {"brand_raw": "a processor"}}, {}, environment, ["shop.cheap", "shop.deep.dear"], [], "0.1"
    )
    journal = Journal(path, header)
    for row in rows:
        journal.add(row)
    if ended:
        journal.finish(partial=len(rows) < 2)
    else:
        journal.close()
    return path


# --- list ------------------------------------------------------------------------------------------------------


def test_list_gives_a_line_a_claim(project):
    """Id, tier, kind and what the post says; exempt claims are marked."""
    code, out = run("list")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["bank.cheap", "exempt", "identity"],
        ["shop.cheap", "fast", "identity"],
        ["shop.deep.dear", "fast", "identity"],
    ]
    assert "It is deep.dear." in out


@pytest.mark.parametrize(
    ("expression", "ids"),
    [("shop", 2), ("shop and not deep", 1), ("shop.deep.dear", 1), ("cheap or (dear)", 3), ("SHOP", 2)],
)
def test_list_takes_an_expression(project, expression, ids):
    """As pytest's -k does: words inside the id, joined by and, or, not and brackets."""
    assert len(run("list", "-k", expression)[1].splitlines()) == ids


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("list", "-k", "boat"), "no claim matches 'boat'; `runtwice list` shows all 3"),
        (("list", "-k", "shop and"), "is no expression of words"),
        (("list", "-k", "__import__('os')"), "is no expression of words"),
        (("list", "--claims", "none"), "no folder 'none' here"),
        (("show", "shop.chaep"), "no claim 'shop.chaep' (did you mean 'shop.cheap'?)"),
        (("show", "zzz"), "no claim 'zzz'; `runtwice list` shows all"),
        (("show",), "no ledger in reports/local"),
        (("show", "--ledger", "none.json"), "none.json does not exist"),
        (("show", "--ledger", "claims"), "claims cannot be read"),
        (("show", "--ledger", "empty.json"), "empty.json is empty"),
        (("show", "--ledger", "cut.json"), "cut.json is not JSON, or was cut off"),
        (("show", "--ledger", "future.json"), "schema 99 is newer than this release reads"),
        (("show", "--ledger", "foreign.json"), "is not a runtwice ledger"),
        (("show", "shop.cheap", "--ledger", "cut.json"), "cut.json is not JSON, or was cut off"),
    ],
)
def test_what_is_not_there_or_not_readable_exits_with_two_and_one_line(project, arguments, said):
    """A refusal is one line on standard error that names the thing."""
    for name, text in (
        ("empty.json", ""),
        ("cut.json", '{"claims": {"ro'),
        ("future.json", json.dumps({"claims": {"schema": 99, "rows": []}})),
        ("foreign.json", '{"benchmarks": []}'),
    ):
        project.write(name, text)
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("runtwice: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_broken_data_file_exits_with_two(project):
    """The line names the file and the field."""
    project.write("claims/shop/claims.toml", "[cheap]\nsays = 5\n")
    code, out = run("list")
    assert (code, "claims/shop/claims.toml: shop.cheap: `says` is 5" in out) == (2, True)


# --- show ------------------------------------------------------------------------------------------------------


def test_show_says_what_is_claimed_and_how_it_is_tested(project):
    """Without a ledger there is no evidence yet."""
    code, out = run("show", "shop.cheap")
    assert code == 0
    for part in (
        "says      It is cheap.",
        "post      a-post (identity, fast)",
        "printed   price = 1.0",
        "printed   parts = ['1', '2']",
        "given     seeds = 5",
        "note      mind the gap",
        "tested by claims/shop/test_shop.py:3 test_cheap",
        "evidence  none yet: no ledger in reports/local",
    ):
        assert part in out


def test_show_says_what_was_last_measured(project):
    """The newest ledger is read where none is named."""
    row = a_row(verdict="refuted", reason="1 is not 2", declared="holds")
    path = kept(project.root / LOCAL / "a.json", {**row, "samples": {"a": [1.0, 2.0]}})
    code, out = run("show", "shop.cheap")
    assert code == 0
    assert "verdict   refuted (declared holds): 1 is not 2" in out
    assert "sample    a: 2 values, 1 to 2" in out
    assert str(path.relative_to(project.root)) in out
    assert "evidence  none in" in run("show", "shop.deep.dear")[1]


def test_show_of_a_damaged_newest_ledger_is_an_error(project):
    """It does not pass for having none."""
    (project.root / LOCAL).mkdir(parents=True)
    (project.root / LOCAL / "a.json").write_text("{")
    code, out = run("show", "shop.cheap")
    assert (code, "cut off" in out) == (2, True)


def test_show_of_a_killed_run_says_how_far_it_came(project):
    """The journal stands for the ledger that was never written."""
    kept(project.root / LOCAL / "a.json", a_row(), ended=False)
    code, out = run("show")
    assert (code, "partial, 1 of 2" in out) == (0, True)
    assert "shop" in out


def test_show_of_a_whole_run_prints_its_table(project):
    """Machine, Python, completeness and counts."""
    kept(project.root / "a.json", a_row(), a_row("shop.deep.dear", "refuted"))
    code, out = run("show", "--ledger", "a.json")
    assert (code, "complete, 2 claims" in out, "a processor, Python 3.11.7" in out) == (0, True, True)
    assert "shop.deep.dear  refuted (declared holds)" in out


def test_an_exempt_claim_is_shown_with_its_reason(project):
    """It has no tier and no test."""
    assert "exempt    a joke" in run("show", "bank.cheap")[1]


# --- the command itself ----------------------------------------------------------------------------------------


def test_commands_of_other_rooms_are_loaded_when_called(monkeypatch, project):
    """An entry point of `runtwice.commands` is a command; listing it does not import it."""

    class Entry:
        name = "partition"

        def load(self):
            return click.Command("partition", callback=lambda: click.echo("loaded"))

    monkeypatch.setattr(cli, "entry_points", lambda group, name=None: [Entry()] if name in (None, "partition") else [])
    assert "partition" in cli.main.list_commands(None)
    assert run("partition") == (0, "loaded\n")


def test_a_terminal_that_lacks_a_sign_gets_the_rest(project):
    """Output in ASCII escapes what it cannot print, and does not end in a traceback."""
    kept(project.root / "a.json", a_row(reason="größer – ×"))
    command = [sys.executable, "-m", "runtwice", "show", "--ledger", "a.json"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "shop" in done.stdout
    assert "\x1b[" not in done.stdout


def test_the_version_is_told():
    """`--version` names the program."""
    assert run("--version")[1].startswith("runtwice, version ")
