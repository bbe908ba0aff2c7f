import json
import sys

import pytest

TIMED = """
def test_round(benchmark):
    benchmark.pedantic(lambda: None, rounds=5)
"""


@pytest.fixture
def recorded(project):
    """A claim that records a duration."""
    return project.claim(body="evidence.recorded('step', [0.1, 0.2, 0.3], unit='s', group='steps')", kind="record")


def test_compare_prints_the_claims_id(recorded):
    """pytest-benchmark reads a ledger as one of its own files."""
    path = recorded.run().ledger
    command = [sys.executable, "-m", "pytest_benchmark", "compare", str(path), "--columns=min,median,max,rounds"]
    out = "\n".join(recorded.pytester.run(*command).outlines)
    assert "shop.cheap: step" in out
    assert "benchmark 'steps': 1 tests" in out
    assert "200.0000" in out


def test_claims_need_no_benchmark_plugin(recorded):
    """With `-p no:benchmark` the run and its ledger are the same."""
    with_it, without = recorded.run(), recorded.run("-p", "no:benchmark")
    assert with_it.code == without.code == 0
    assert with_it.document["benchmarks"] == without.document["benchmarks"]
    assert with_it.row["verdict"] == without.row["verdict"] == "recorded"


def test_benchmarks_beside_claims_keep_their_own_file(recorded):
    """`--benchmark-json` is written as ever, with the libraries it lacks, and compares with itself quietly."""
    recorded.write("claims/test_speed.py", TIMED)
    run = recorded.run("--benchmark-json=speed.json", "--benchmark-storage=stored", "--benchmark-save=one")
    assert run.code == 0
    document = json.loads((recorded.root / "speed.json").read_text())
    assert [entry["name"] for entry in document["benchmarks"]] == ["test_round"]
    assert document["machine_info"]["runtwice"]["distributions"]["numpy"]
    assert [entry["fullname"] for entry in run.document["benchmarks"]] == ["shop.cheap"]
    out = recorded.run("--benchmark-storage=stored", "--benchmark-compare").out
    assert "machine_info" not in out


def test_a_claim_may_time_with_the_benchmark_fixture(project):
    """Both plugins wrap the call of one test."""
    run = project.claim(body="evidence.identical(benchmark(lambda: 1), 1)", uses=", benchmark").run()
    assert (run.code, run.row["verdict"]) == (0, "holds")
    assert "site-packages" not in json.dumps(run.row["fingerprint"])


def test_benchmark_only_leaves_claims_not_run(recorded):
    """What pytest-benchmark skips is not run, with its reason, and is no success."""
    run = recorded.run("--benchmark-only")
    assert (run.code, run.row["verdict"]) == (5, "not run")
    assert "benchmark" in run.row["reason"]
