"""A ledger as other tools read it: pytest-benchmark's `compare`, github-action-benchmark and Bencher.

The two adapters are written in TypeScript and Rust; what they read is checked here field by field, from
github-action-benchmark's `extract.ts` (tool `pytest`) and Bencher's `python/pytest.rs`.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "reports" / "xeon-2-cores" / "itl.json"


@pytest.fixture(params=["reference", "project"])
def document(request, project):
    """The reference ledger, and one of a run with a recorded duration and a timed pair."""
    if request.param == "reference":
        return json.loads(REFERENCE.read_text(encoding="utf-8"))
    project.claim("timed", "evidence.recorded('step', [1.0, 2.0, 4.0], unit='ms')", kind="record")
    project.claim("single", "evidence.recorded('step', 3, unit='us')", kind="record")
    return project.run().document


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def test_github_action_benchmark_finds_what_it_reads(document):
    """A name, a rate with its spread, and the mean with the number of rounds."""
    assert document["benchmarks"]
    for entry in document["benchmarks"]:
        assert isinstance(entry["fullname"], str)
        assert all(is_number(entry["stats"][key]) for key in ("ops", "stddev", "mean", "rounds"))
        assert entry["stats"]["ops"] == pytest.approx(1 / entry["stats"]["mean"])


def test_bencher_finds_what_it_reads(document):
    """Two tables that must be there, a name of at most 1,024 signs, and median and quartile range as numbers."""
    assert isinstance(document["machine_info"], dict)
    assert isinstance(document["commit_info"], dict)
    for entry in document["benchmarks"]:
        assert 0 < len(entry["fullname"]) <= 1024
        assert all(is_number(entry["stats"][key]) for key in ("median", "iqr"))


def test_the_file_is_strict_json(document):
    """Both parsers refuse a bare NaN."""
    json.dumps(document, allow_nan=False)


def test_pytest_benchmarks_own_compare_reads_it(document, tmp_path):
    """The table has a line an entry, of one ledger and of two."""
    for name in ("0001_old.json", "0002_new.json"):
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    for files in (["0001_old.json"], ["0001_old.json", "0002_new.json"]):
        command = [sys.executable, "-m", "pytest_benchmark", "compare", "--columns=median,iqr,rounds", *files]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        for entry in document["benchmarks"]:
            assert entry["name"][:12] in done.stdout
