"""The newcomer's path: the wheel is built and installed, and an empty folder becomes claims, a ledger and pages."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytest.importorskip("hatchling", reason="needs hatchling to build the wheel: pip install hatchling")


def output(command, folder, **variables):
    """What a command prints; it must succeed."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The `bin` folder of a fresh virtual environment with the wheel in it.

    The libraries it needs are those of this environment, reached by a path file, so that none is fetched; the wheel's
    own package comes before this checkout's.
    """
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    keep = shutil.ignore_patterns(".*", "reports", "tests", "claims", "__pycache__")
    shutil.copytree(ROOT, source, ignore=keep)
    build = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"
    wheel = output([sys.executable, "-c", build, folder], source).split()[-1]
    output([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], folder)
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--prefix", folder / "venv"]
    output([*install, "--ignore-installed", folder / wheel], folder)
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    script = folder / "venv" / "bin" / "runtwice"
    script.write_text(f"#!{folder}/venv/bin/python\n" + script.read_text().partition("\n")[2])
    return folder / "venv" / "bin"


def test_an_empty_folder_becomes_claims_a_ledger_and_pages(installed, tmp_path):
    """`runtwice init`, `pytest claims/`, `runtwice show` and `runtwice report`, as the README has them."""
    where = output([installed / "python", "-c", "import runtwice; print(runtwice.__file__)"], tmp_path)
    assert str(installed.parent) in where
    assert "wrote claims/sorting/claims.toml" in output([installed / "runtwice", "init"], tmp_path)
    out = output([installed / "python", "-m", "pytest", "claims/", "-p", "no:cacheprovider"], tmp_path)
    assert "2 holds" in out
    (ledger,) = (tmp_path / "reports" / "local").glob("*.json")
    rows = json.loads(ledger.read_text())["claims"]["rows"]
    assert {row["id"]: row["verdict"] for row in rows} == {
        "sorting.sorted-input-is-cheap": "holds",
        "sorting.shuffled-input": "holds",
    }
    assert "verdict   holds" in output([installed / "runtwice", "show", "sorting.shuffled-input"], tmp_path)
    output([installed / "runtwice", "report"], tmp_path, MPLCONFIGDIR=str(tmp_path / "matplotlib"))
    page = (tmp_path / "reports" / "site" / "index.html").read_text()
    assert "Shuffled, they take about 8,600 comparisons." in page
    assert (tmp_path / "reports" / "site" / "sorting.html").is_file()


def test_a_claims_folder_alone_is_enough(installed, tmp_path):
    """One claims.toml and one test, no settings: the ledger lies where the command was typed."""
    topic = tmp_path / "claims" / "sums"
    topic.mkdir(parents=True)
    (topic / "claims.toml").write_text(
        '[small]\npost = "p"\nsays = "It adds up."\nkind = "identity"\ntier = "fast"\nrequired = { sum = "=3" }\n'
    )
    (topic / "test_sums.py").write_text(
        "from runtwice import claim\n\n\n@claim('sums.small')\ndef test_sum(evidence):\n"
        "    evidence.figure('sum', 1 + 2)\n"
    )
    out = output([installed / "python", "-m", "pytest", "claims/", "-p", "no:cacheprovider"], tmp_path)
    assert "1 holds" in out
    assert len(list((tmp_path / "reports" / "local").glob("*.json"))) == 1
    assert "sums" in output([installed / "runtwice", "show"], tmp_path)
