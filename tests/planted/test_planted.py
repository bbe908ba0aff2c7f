"""Faults seen in the field, planted: none may come out as holding, and each must say what is wrong with it.

`<verdict>/<fault>/` holds one claim: its data, its test, and in `reason.txt` words its reason must contain.

Not here, since they are no verdicts: a changed measuring setting (a fingerprint's business, see
`tests/harness/test_plugin_ledger.py`), an empty selection and a run that judged nothing (`test_plugin_selection.py`).
Not here, since they take real seconds of a quiet machine: an arm timed against itself, arms exchanged, a machine that
slows down half-way; `runtwice selfcheck` measures those.
"""

import shutil
from pathlib import Path

import pytest

from tests.harness.builders import Project

HERE = Path(__file__).parent
FAULTS = sorted(path.parent for path in HERE.glob("*/*/claims.toml"))


@pytest.fixture
def run_of(pytester):
    """Runs the claims of some folders through the real plugin."""

    def run(*folders):
        project = Project(pytester)
        for folder in folders:
            shutil.copytree(folder, project.root / "claims" / folder.name)
        return project.run()

    return run


@pytest.mark.parametrize("fault", FAULTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_planted_fault_is_found(run_of, fault):
    """The verdict is that of its folder, the reason names the fault, and the run is not green."""
    run = run_of(fault)
    assert run.row["verdict"] == fault.parent.name.replace("_", " ")
    assert (fault / "reason.txt").read_text(encoding="utf-8").strip() in run.row["reason"]
    assert run.code != 0


def test_every_verdict_that_is_no_success_has_faults():
    """Twenty at the least, and each kind of answer among them."""
    assert len(FAULTS) >= 20
    assert {path.parent.name for path in FAULTS} == {"refuted", "undecided", "within_noise", "error", "not_run"}


def test_faults_do_not_hide_one_another(run_of):
    """All of them in one run come out as each does alone."""
    run = run_of(*FAULTS)
    assert run.code == 1
    expected = {f"{path.name}.claim": path.parent.name.replace("_", " ") for path in FAULTS}
    assert run.verdicts == expected
