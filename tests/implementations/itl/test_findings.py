"""What is said of a partition: the figures of `tail.py`, the longest gaps, and what makes them doubtful."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl.event_lines import header_line, record_line
from implementations.itl.findings import bin_edges, find
from implementations.itl.painter import Scene
from implementations.itl.partition import partition
from implementations.itl.tail import cause_histogram, gap_percentiles, primary_cause, tail_decomposition
from tests.implementations.itl.logs import unhurried
from tests.implementations.itl.streams import lines_of, streamed


def lines(log):
    return [header_line(), *(record_line(table, row) for table, rows in log.to_events().items() for row in rows)]


def findings(text, baseline=None, **options):
    with streamed(text, baseline, window_records=5_000) as (found, split):
        return find(split, "engine.jsonl", found.requests, **options)


@pytest.fixture(scope="module")
def log():
    return engine_log(6_000)


def test_figures_are_those_of_the_partition_in_memory(log):
    """Percentiles, tail and histogram, computed a block at a time."""
    found, split = findings(lines(log), BASELINE, tail_percentile=95), partition(log, BASELINE)
    assert found.gaps == len(split)
    assert found.requests == len(set(log.emissions["request"].tolist()))
    assert found.percentiles_ms == pytest.approx(gap_percentiles(split, list(found.percentiles_ms)))
    tail = tail_decomposition(split, 95)
    assert (found.tail.threshold_ms, found.tail.gaps, found.tail.total_ms) == pytest.approx(
        (tail.threshold_ms, tail.gaps, tail.total_ms)
    )
    assert found.tail.share == pytest.approx(tail.share)
    assert found.tail.count == tail.count
    assert found.histogram == {cause: n.tolist() for cause, n in cause_histogram(split, found.edges_ms).items()}
    assert sum(map(sum, found.histogram.values())) == len(split)


def test_the_longest_gaps_are_named(log):
    """Longest first, with request, stamps, cause and parts that add up."""
    found, split = findings(lines(log), BASELINE, worst=7), partition(log, BASELINE)
    longest = np.argsort(-split.gap_ms, kind="stable")[:7]
    assert [gap.gap_ms for gap in found.worst] == split.gap_ms[longest].tolist()
    assert [gap.request for gap in found.worst] == split.request[longest].tolist()
    assert [gap.cause for gap in found.worst] == primary_cause(split.gap_ms, split.parts)[longest].tolist()
    assert [gap.end_s for gap in found.worst] == log.emissions["time_s"][split.emission[longest]].tolist()
    for gap in found.worst:
        assert sum(gap.parts_ms.values()) == pytest.approx(gap.gap_ms) == pytest.approx(1e3 * (gap.end_s - gap.start_s))


def kinds(scene, baseline=None):
    return [warning.kind for warning in findings(lines_of(scene), baseline).warnings]


STEPS = [(0, 10, 1, 16), (10, 20, 1, 16)]
WORK = [(0, "decode", 0, 10), (1, "decode", 10, 20)]
TOKENS = [(0, 10, 0), (0, 20, 1)]


@pytest.mark.parametrize(
    ("changes", "warnings"),
    [
        ({}, []),
        ({"evictions": [(0, 5, None)]}, ["emitted while evicted"]),
        ({"emissions": [(0, 0, None), (0, 20, 1)]}, ["skipped steps"]),
        ({"steps": [(0, 10, 1, "eager"), (10, 20, 1, "eager")]}, ["baseline not identifiable"]),
        ({"steps": [(0, 10, 4, "eager"), (10, 20, 1, 16)]}, ["baseline not identifiable"]),
        ({"collections": [(1, 5, 0), (2, 6, 0)]}, ["overlapping collections"]),
        ({"segments": [*WORK, (0, "tok", 5, 10)]}, ["overlapping segments"]),
        ({"steps": [(0, 12, 1, 16), (10, 20, 1, 16)]}, ["overlapping steps"]),
        ({"segments": []}, ["much residual"]),
        (
            {
                "steps": [(0, 10, 1, 1), (10, 18, 1, 4), (20, 30, 9, "eager")],
                "segments": [(0, "decode", 0, 10), (1, "decode", 10, 18), (2, "decode", 20, 30)],
                "emissions": [(0, 10, 0), (0, 18, 1)],
            },
            ["falling baseline"],
        ),
    ],
)
def test_each_doubt_has_its_warning(changes, warnings):
    """A sound log has none, and each fault one of its own."""
    scene = Scene(**{"steps": STEPS, "segments": WORK, "emissions": TOKENS, **changes})
    assert kinds(scene) == warnings


def test_baseline_below_zero_is_warned_of():
    """An eager step whose baseline is negative."""
    scene = Scene(steps=[(0, 20, 1, "eager")], segments=[(0, "decode", 0, 20)], emissions=[*TOKENS[:1], (0, 20, 0)])
    assert kinds(scene, (0.0, -1.0)) == ["negative baseline"]


@unhurried
@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_edges_ascend_and_cover_everything(one, other):
    """From 0 to infinity, with an edge near the lowest and one near the highest gap."""
    low, high = sorted((one, other))
    edges = bin_edges(low, high)
    assert edges[0] == 0
    assert edges[-1] == math.inf
    assert all(b > a for a, b in pairwise(edges))
    assert edges[-2] <= max(high, 1e-3)


def test_edges_are_round():
    """Six a decade, those of the decades between included."""
    assert bin_edges(6, 120) == (0, 5, 7, 10, 15, 20, 30, 50, 70, 100, math.inf)


def test_json_form_is_json(log):
    """Plain values, no infinity, percentiles by name."""
    plain = json.loads(json.dumps(findings(lines(log), BASELINE, worst=2).to_json(), allow_nan=False))
    assert list(plain["percentiles_ms"]) == ["p50", "p90", "p99", "p99.9", "max"]
    assert plain["edges_ms"][-1] is None
    assert len(plain["worst"]) == 2
    assert plain["baseline"]["slope_ms"] == BASELINE.slope_ms
