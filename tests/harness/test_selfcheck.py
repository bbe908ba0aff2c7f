"""The self-check: its counting over injected comparisons, pytest-benchmark's rule, and one tiny real run."""

import io
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_benchmark.stats import Stats
from pytest_benchmark.utils import parse_compare_fail
from rich.console import Console

from runtwice import selfcheck
from runtwice.selfcheck import Comparison, Sizes, exceeds, render, rows, run, spread, target

rounds = st.lists(st.integers(50, 150).map(lambda ms: ms / 1_000), min_size=1, max_size=8)
RULE = "mean:10%, saved runs"


def comparison(extra=0.0, decided="inside", alarm=False, log_ratios=(0.01, -0.01), seconds=1.0, noise=None):
    return Comparison(extra, decided, 1.0 + extra, seconds, len(log_ratios), log_ratios, {RULE: alarm}, noise)


def table(*done):
    return {row["rule"]: row for row in rows(done)}


def report(*done):
    return {
        "rows": rows(done),
        "spread": spread(done),
        "target": target(done),
        "noise": selfcheck.noise(done),
        "seconds": 1.0,
    }


def printed(*done):
    console = Console(width=200, file=io.StringIO())
    render(report(*done), console)
    return console.file.getvalue()


def their_statistics(seconds):
    stats = Stats()
    for value in seconds:
        stats.update(value)
    return {"mean": stats.mean, "median": stats.median}


@settings(deadline=None)
@given(rounds, rounds, st.sampled_from(["mean", "median"]))
def test_the_rule_is_pytest_benchmarks(new, old, statistic):
    """On any two sets of rounds the rule answers as `--benchmark-compare-fail` does."""
    check = parse_compare_fail(f"{statistic}:10%")
    difference = check.compute(their_statistics(new), their_statistics(old))
    if abs(difference - 10) > 1e-9:  # on the threshold itself the two ways to sum may differ in the last bit
        assert exceeds(statistic, new, old, 10) == bool(check.fails(their_statistics(new), their_statistics(old)))


def test_alarms_are_counted_in_both_directions_for_the_harness():
    """Identical arms called above or below are false alarms; inside and undecided are not."""
    row = table(*(comparison(decided=answer) for answer in ("above", "below", "inside", None)))["runtwice"]
    assert (row["false_alarms"]["hits"], row["false_alarms"]["n"]) == (2, 4)


def test_a_slowdown_called_a_speedup_is_not_found():
    """Only above counts as finding a slowdown."""
    row = table(*(comparison(extra=0.1, decided=answer) for answer in ("above", "above", "below", None)))["runtwice"]
    assert row["found"]["10%"]["rate"] == 0.5


def test_each_slowdown_has_its_own_rate():
    """Detections are counted by slowdown and by rule."""
    done = [comparison(0.05, None), comparison(0.2, "above", alarm=True), comparison(0.2, "above")]
    found = table(*done)
    assert [rate["n"] for rate in found["runtwice"]["found"].values()] == [1, 2]
    assert found[RULE]["found"]["20%"]["rate"] == 0.5
    assert found[RULE]["found"]["5%"]["hits"] == 0


def test_rates_carry_the_interval_of_their_count():
    """0 of 60 excludes no rate below 6%, and the report says so."""
    rate = table(*[comparison()] * 60)["runtwice"]["false_alarms"]
    assert (rate["low"], rate["high"]) == (0.0, pytest.approx(0.0596, abs=1e-4))
    assert "false alarms up to 6.0% are not excluded" in printed(*[comparison()] * 60)


def test_nothing_measured_gives_no_rate():
    """Without a comparison there is no rate, no spread and no judgement, and the table still prints."""
    assert rows([])[0]["false_alarms"]["rate"] is None
    assert spread([])["sd"] is None
    assert target([])["met"] is None
    assert "not judged" in printed()


def test_the_spread_is_that_of_identical_arms():
    """Slowed arms do not count, and one disturbed process moves the robust figure little."""
    values = tuple(np.random.default_rng(1).normal(0, 0.02, 400))
    found = spread([comparison(log_ratios=(*values, 1.0)), comparison(0.2, log_ratios=(9.0, -9.0))])
    assert found["sd"] > 0.04
    assert found["robust_sd"] == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize(
    ("changed", "met"),
    [
        ({}, True),
        ({"decided": "below"}, False),
        ({"seconds": 11.0}, False),
        ({"log_ratios": (0.2, -0.2)}, None),
    ],
)
def test_the_target_is_judged_where_the_machine_allows(changed, met):
    """Met, missed by a false alarm, missed by time, and not judged on a machine with too much spread."""
    found = [comparison(0.1, "above")] * 20
    assert target([comparison(**changed)] * 10 + found)["met"] is met


def test_undetected_slowdowns_miss_the_target():
    """Nineteen of twenty is enough, eighteen is not."""
    quiet, found = [comparison()] * 10, comparison(0.1, "above")
    assert target(quiet + [found] * 19 + [comparison(0.1, None)])["met"]
    assert not target(quiet + [found] * 18 + [comparison(0.1, None)] * 2)["met"]


def test_the_table_shows_rule_rate_count_and_noise():
    """A line a rule with its rate, count and interval; a machine that was not quiet is named once."""
    text = printed(comparison(noise="load 9.0 on 2 cores"), comparison(0.1, "above"), comparison(0.1, None))
    assert RULE in text
    assert "1/2" in text
    assert "Not quiet in 1 of 3 comparisons: load 9.0 on 2 cores." in text


def test_a_tiny_run_measures_every_rule(tmp_path, monkeypatch):
    """Real processes: one identical and one doubled comparison give a JSON report with all five rules."""
    sizes = Sizes(identical=1, slowed=1, slowdowns=(1.0,), max_seconds=1.5, steps=1_000)
    told = []
    found = run(True, lambda done, total: told.append((done, total)), sizes=sizes)
    assert told == [(1, 2), (2, 2)]
    assert len(found["rows"]) == 5
    assert json.loads(json.dumps(found, allow_nan=False))["rows"][1]["found"]["100%"]["rate"] == 1.0


def test_no_comparison_starts_after_the_time():
    """With no time nothing is measured, and the report says so."""
    found = run(True, sizes=Sizes(identical=5, slowed=5, most_seconds=0.0))
    assert found["comparisons"] == []


def canned(quick, progress=None, *, sizes=None, seed=0):
    return {**report(comparison(), comparison(0.1, "above")), "quick": quick, "seed": seed}


def test_the_command_prints_and_writes(tmp_path, monkeypatch):
    """`--json` writes the report beside the table; without a terminal there is one line of progress."""
    monkeypatch.setattr(selfcheck, "run", canned)
    path = tmp_path / "selfcheck.json"
    result = CliRunner().invoke(selfcheck.selfcheck, ["--quick", "--seed", "3", "--json", str(path)])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("selfcheck: timing identical and slowed arms, under 3 minutes\n")
    assert (json.loads(path.read_text())["quick"], json.loads(path.read_text())["seed"]) == (True, 3)


def test_the_command_refuses_a_missing_folder_before_measuring(tmp_path, monkeypatch):
    """A report that could not be written is refused at once, with exit status 2."""
    monkeypatch.setattr(selfcheck, "run", lambda *_args, **_keywords: pytest.fail("measured"))
    result = CliRunner().invoke(selfcheck.selfcheck, ["--json", str(tmp_path / "no" / "x.json")])
    assert result.exit_code == 2
    assert "there is no folder" in result.output
