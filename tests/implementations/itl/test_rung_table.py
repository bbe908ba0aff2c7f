"""A ladder is read off several logs or off a ledger."""

import json
from dataclasses import replace

import pytest

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl.rung_table import median_and_range, rungs_of_ledger, rungs_of_logs
from tests.implementations.itl.test_findings import findings, lines


@pytest.fixture(scope="module")
def found():
    return findings(lines(engine_log(600)), BASELINE)


def test_logs_of_one_rung_are_its_runs(found):
    """One value a log, rungs in the order they first come."""
    slower = replace(found, percentiles_ms={q: 2 * ms for q, ms in found.percentiles_ms.items()})
    rungs = rungs_of_logs([("b", found), ("a", found), ("b", slower)])
    p99 = found.percentiles_ms[99.0]
    assert [*rungs] == ["b", "a"]
    assert [*rungs["b"]] == ["p50", "p99", "p99.9", "max"]
    assert rungs["b"]["p99"] == [p99, 2 * p99]


def ledger(path, rows):
    path.write_text(json.dumps({"claims": {"rows": rows}}))
    return path


def test_ladder_of_a_ledger(tmp_path):
    """The figures of its ladder claim, by rung and statistic; other figures are passed over."""
    figures = [
        {"name": "baseline_p50", "measured": [3.5, 1.5]},
        {"name": "baseline_p999", "measured": [50, 20]},
        {"name": "all_fixes_max", "measured": 7},
        {"name": "seconds", "measured": 8},
    ]
    path = ledger(
        tmp_path / "run.json", [{"id": "itl.gaps", "figures": []}, {"id": "itl.ladder-table", "figures": figures}]
    )
    assert rungs_of_ledger(path) == {"baseline": {"p50": [3.5, 1.5], "p99.9": [50, 20]}, "all_fixes": {"max": [7]}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a ledger"),
        ("[]", "not a ledger"),
        ('{"claims": {}}', "not a ledger"),
        ('{"claims": {"rows": []}}', "without measured figures"),
        ('{"claims": {"rows": [{"id": "itl.ladder-table", "figures": []}]}}', "without measured figures"),
    ],
)
def test_file_without_a_ladder(tmp_path, text, message):
    """Not JSON, not a ledger, or none of its claims a ladder that was run."""
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{path}: .*{message}"):
        rungs_of_ledger(path)


def test_median_and_range():
    """Of one run all three are that run."""
    assert median_and_range([3, 1, 2]) == (2, 1, 3)
    assert median_and_range([4]) == (4, 4, 4)
