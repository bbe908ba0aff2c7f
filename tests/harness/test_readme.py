"""What the README shows is true: its worked example runs, its tables name what there is."""

import re
from pathlib import Path

import click
import pytest

from runtwice import cli
from runtwice.verdict import Verdict

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(language, after):
    """The first block of code in this language after a heading."""
    return re.search(rf"```{language}\n(.*?)```", README.partition(after)[2], re.DOTALL)[1]


def test_the_worked_example_runs(project):
    """Data and test as they are printed give a verdict that holds, with its figure at the printed digits."""
    project.write("claims/sums/claims.toml", block("toml", "## Adding a claim"))
    project.write("claims/sums/test_sums.py", block("python", "## Adding a claim"))
    run = project.run("-k", "sums")
    assert (run.code, run.row["verdict"]) == (0, "holds")
    assert [figure["agreement"] for figure in run.row["figures"]] == ["exact"]


def test_every_verdict_is_explained():
    """In the table, and in the words that the code uses."""
    table = README.partition("## What a verdict means")[2].partition("##")[0]
    assert set(re.findall(r"^\| `([\w ]+)` \|", table, re.MULTILINE)) == set(map(str, Verdict))


def test_every_command_is_named():
    """In the README's table of commands."""
    table = README.partition("## Commands")[2].partition("##")[0]
    named = set(re.findall(r"^\| `runtwice (\w+)", table, re.MULTILINE))
    assert set(cli.main.list_commands(click.Context(cli.main))) <= named


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_links_lead_to_files(text):
    """Of the repository."""
    targets = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in targets if not (ROOT / link).exists()] == []
