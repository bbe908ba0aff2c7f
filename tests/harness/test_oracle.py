import json
import subprocess
from pathlib import Path

import pytest

from runtwice import catalogue, oracle
from runtwice.errors import RuntwiceError, UnknownClaim
from runtwice.oracle import Oracle
from runtwice.sandbox import Recipe
from tests.harness.sandbox_builders import RELEASE, PlayedBuilder

BODY = f'import os\nevidence.figure("n", int(os.environ["{RELEASE}"]))'


@pytest.fixture
def asked(project):
    """A claim that tells the release it is run with, and needs a package."""
    project.claim("told", BODY, data='required.n = "=3"\nneeds = ["pytest", "quiet-machine"]\n', tier="slow")
    project.claim("other", "raise RuntimeError")
    return oracle.question(project.root, catalogue.read(project.root / "claims"), "shop.told")


def an_oracle(asked, folder, **played):
    """An oracle over played releases."""
    return Oracle(asked, PlayedBuilder(folder / "built", **played), folder / "kept")


def at(release):
    return Recipe(("pytest",), {"played": release})


def test_a_question_needs_what_the_harness_and_the_claim_need(asked):
    """Resources are no packages; the tier is the claim's."""
    assert (asked.needs, asked.tier, "numpy>=1.26" in asked.requirements) == (("pytest",), "slow", True)


@pytest.mark.parametrize(
    ("id_", "said"), [("shop.none", "no claim 'shop.none'"), ("shop.free", "no test to ask: a joke")]
)
def test_what_cannot_be_asked_is_refused(project, id_, said):
    """Unknown claims and those without a test."""
    project.claim("cheap").claim("x", topic="bank")
    project.write(
        "claims/shop/claims.toml", '[free]\nsays = "It is."\nkind = "advice"\npost = "p"\nexempt = "a joke"\n'
    )
    with pytest.raises(UnknownClaim, match=said):
        oracle.question(project.root, catalogue.read(project.root / "claims"), id_)


def test_the_claim_alone_is_run_there_by_this_harness(asked, tmp_path):
    """Its row comes back with what the environment contains, and the ledger stays."""
    seen = an_oracle(asked, tmp_path).observe(at("3"))
    assert (seen.row["verdict"], seen.row["figures"][0]["measured"]) == ("holds", 3)
    assert seen.distributions["played"] == "3"
    (row,) = json.loads(Path(seen.ledger).read_text(encoding="utf-8"))["claims"]["rows"]
    assert row["id"] == "shop.told"


def test_what_was_seen_is_not_run_again(asked, tmp_path):
    """Not even by another oracle, after an interruption; another attempt, or other seeds, are another run."""
    an_oracle(asked, tmp_path).observe(at("3"))
    with (tmp_path / "kept" / "journal.jsonl").open("a", encoding="utf-8") as journal:
        journal.write('\n{"key": "cut of')
    again = an_oracle(asked, tmp_path)
    again.observe(at("3"))
    assert again.runs == 0
    again.observe(at("3"), 2)
    again.observe(at("3"), first_seed=1000)
    assert again.runs == 2


def test_what_does_not_install_or_run_is_seen_as_that(asked, tmp_path, project):
    """With the reason; neither is a verdict."""
    seen = an_oracle(asked, tmp_path, broken=["4"]).observe(at("4"))
    assert (seen.row, seen.fault) == (None, "does not install: no wheel")
    project.write("conftest.py", "raise ImportError('numpy is too old')")
    seen = an_oracle(asked, tmp_path).observe(at("5"))
    assert seen.row is None
    assert "numpy is too old" in seen.fault


def test_the_harness_comes_along_without_the_packages_beside_it(monkeypatch, tmp_path):
    """A folder of its own, made once."""
    monkeypatch.setenv("RUNTWICE_CACHE", str(tmp_path))
    folder = oracle.own_source()
    assert [path.name for path in folder.iterdir()] == ["runtwice"]
    assert oracle.own_source() == folder
    assert not list(tmp_path.glob("harness/.*"))


def test_other_code_is_another_digest(project):
    """A changed experiment is asked anew."""
    project.claim("cheap")
    before = oracle.code_digest(project.root)
    assert oracle.code_digest(project.root) == before
    project.claim("dear")
    assert oracle.code_digest(project.root) != before


def test_a_run_without_end_is_ended(asked, tmp_path, monkeypatch):
    """It took too long."""

    def hang(*args, **kwargs):
        raise subprocess.TimeoutExpired("pytest", 1)

    monkeypatch.setattr(subprocess, "run", hang)
    assert "took more than" in an_oracle(asked, tmp_path).observe(at("3")).fault


def test_the_folder_of_topics_has_its_name(tmp_path):
    """Its parent is the project."""
    assert oracle.project_root(tmp_path / "claims") == tmp_path
    with pytest.raises(RuntwiceError, match="must be called 'claims'"):
        oracle.project_root(tmp_path)
