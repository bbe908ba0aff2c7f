"""A streamed log has the gaps of the same log in memory, however it is cut and in whatever order its lines come."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl.event_lines import header_line, record_line
from implementations.itl.painter import Scene
from implementations.itl.partition import partition
from implementations.itl.stream import windows
from implementations.itl.timeline import LABELS
from tests.implementations.itl.logs import log_ms, unhurried
from tests.implementations.itl.streams import (
    gaps_in_order,
    lines_of,
    loaded,
    long_scenes,
    spilled,
    streamed,
)

ROOT = Path(__file__).parents[3]
GIVEN = (0.001, 0.01)  # ms; the scenes' ticks are microseconds


def assert_same(whole, request, gaps, atol=0.0):
    """Gap by gap, bit by bit."""
    assert request.tolist() == whole.request.tolist()
    if not len(whole):
        return
    assert gaps["gap_ms"].tolist() == whole.gap_ms.tolist()
    in_memory = np.transpose([whole.parts[label] for label in LABELS])
    np.testing.assert_allclose(gaps["parts_ms"], in_memory, rtol=0, atol=atol)
    assert gaps["skipped_steps"].tolist() == whole.skipped_steps.tolist()
    assert gaps["emitted_while_evicted"].tolist() == whole.emitted_while_evicted.tolist()


@unhurried
@given(long_scenes(), st.randoms(use_true_random=False), st.integers(1, 6))
def test_stream_equals_the_whole_log(scene, random, window_records):
    """Records in any order, cut as often as can be: the same gaps and parts to the bit, the same counts."""
    lines = lines_of(scene, random)
    whole = partition(loaded(lines), GIVEN)
    with streamed(lines, GIVEN, window_records) as (found, split):
        assert_same(whole, *gaps_in_order(found, split))
        assert split.unjudged_steps == len(whole.unjudged_steps)
        assert split.negative_baseline_steps == len(whole.negative_baseline_steps)
        assert split.emitting == len(set(whole.log.emissions["request"].tolist()))


@unhurried
@given(long_scenes())
def test_fitted_baseline_is_that_of_the_whole_log(scene):
    """The fit over windows is the fit over all steps up to rounding, and so are the parts."""
    lines = lines_of(scene)
    whole = partition(loaded(lines))
    with streamed(lines) as (found, split):
        assert split.baseline.identifiable == whole.baseline.identifiable
        assert split.baseline.only_size == whole.baseline.only_size
        assert split.baseline.slope_ms == pytest.approx(whole.baseline.slope_ms, abs=1e-12)
        assert split.baseline.intercept_ms == pytest.approx(whole.baseline.intercept_ms, abs=1e-12)
        assert_same(whole, *gaps_in_order(found, split), atol=1e-9)


def test_engine_like_log_in_windows_of_all_sizes():
    """Thousands of steps with evictions over many of them, cut into few and into many windows."""
    log = engine_log(6_000)
    lines = [header_line(), *(record_line(table, row) for table, rows in log.to_events().items() for row in rows)]
    whole = partition(log, BASELINE)
    for window_records in (20, 1 << 15):
        with streamed(lines, BASELINE, window_records) as (found, split):
            assert_same(whole, *gaps_in_order(found, split))


@unhurried
@given(long_scenes())
def test_windows_hold_every_record_once(scene):
    """Between quiet instants lie all steps and collections, and all segments but empty ones at the seams."""
    with spilled(lines_of(scene)) as found:
        logs = [window.log for window in windows(found, 1)]
    assert sum(len(log.steps) for log in logs) == len(scene.steps)
    assert sum(len(log.collections) for log in logs) == len(scene.collections)
    lasting = sum(b > a for _, _, a, b, _ in scene.segments)
    assert sum(np.count_nonzero(log.segments["end_s"] > log.segments["start_s"]) for log in logs) == lasting


def test_a_log_is_cut_where_nothing_is_under_way():
    """Not inside a step, a collection across two steps, or a step whose segment comes later than itself."""
    scene = Scene(
        steps=[(0, 10, 1, 16), (10, 20, 1, 16), (30, 40, 1, 16), (50, 60, 1, 16), (70, 80, 1, 16)],
        segments=[(2, "decode", 55, 65)],
        collections=[(15, 32, 0)],
    )
    with spilled(lines_of(scene)) as found:
        assert [round(1e6 * window.begin_s) for window in [*windows(found, 1)][1:]] == [10, 70]


def test_log_that_is_never_quiet_is_refused():
    """Steps that overlap without end are read up to a limit, and the refusal says since when."""
    scene = Scene(steps=[(0, 5, 1, 16), *((t, t + 20, 1, 16) for t in range(10, 100, 10))], emissions=[(0, 1, None)])
    with pytest.raises(ValueError, match=r"engine\.jsonl: from 1e-05 s on, more than 8 records without an instant"):
        with streamed(lines_of(scene), GIVEN, records=8):
            pass
    with streamed(lines_of(scene), GIVEN, records=9):
        pass


@pytest.mark.parametrize(("limit", "most"), [("requests", 1), ("evictions", 2)])
def test_what_stays_in_memory_is_limited(limit, most):
    """Requests and evictions are counted against a limit."""
    scene = Scene(emissions=[(0, 1, None), (1, 2, None)], evictions=[(0, 1, 2), (0, 3, 4), (1, 1, 2)])
    with pytest.raises(ValueError, match=f"more than {most} {limit}"):
        with spilled(lines_of(scene), **{limit: most}):
            pass


def test_gap_longer_than_any_window():
    """A request that waits through hundreds of windows is charged for all of them."""
    steps = [(10 * i, 10 * i + 10, 1, 16) for i in range(300)]
    segments = [(i, "prefill" if i % 2 else "decode", 10 * i, 10 * i + 9) for i in range(300)]
    log = log_ms(steps, segments, gaps=[(0, 3000)], evictions=[(100, 1100)])
    lines = [header_line(), *(record_line(table, row) for table, rows in log.to_events().items() for row in rows)]
    with streamed(lines, GIVEN) as (found, split):
        request, gaps = gaps_in_order(found, split)
        assert_same(partition(log, GIVEN), request, gaps)
        assert gaps["parts_ms"][0][LABELS.index("preempt")] == pytest.approx(1000)
        assert gaps["parts_ms"][0][LABELS.index("residual")] == pytest.approx(200)


def test_log_without_records_has_no_gaps():
    """The header alone is a log."""
    with streamed([header_line()]) as (_, split):
        assert (len(split.gaps), split.emitting, split.baseline.identifiable) == (0, 0, False)


GENERATE = """
import sys
steps, lanes = int(sys.argv[2]), 30
with open(sys.argv[1], "w") as file:
    file.write('{"format": "runtwice-events", "schema": 1}\\n')
    for i in range(steps):
        t = i * 0.01
        work = f'"start_s": {t:.6f}, "end_s": {t + 0.008:.6f}'
        file.write(f'{{"record": "segment", "step": {i}, "kind": "decode", {work}}}\\n')
        file.write(f'{{"record": "step", "n_decode": 30, "captured": 32, {work}}}\\n')
        token, first = f'"time_s": {t + 0.009:.6f}, "step": {i}', lanes * (i // 400)
        file.writelines(f'{{"record": "emission", "request": {first + lane}, {token}}}\\n' for lane in range(lanes))
"""
SPLIT = """
import resource, sys
from click.testing import CliRunner
from implementations.itl.command import partition
result = CliRunner().invoke(partition, [sys.argv[1]], catch_exceptions=False)
assert result.exit_code == 0, result.output
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def run_python(script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def test_memory_does_not_grow_with_the_log(tmp_path):
    """A log of 50 MB takes hardly more memory than one of a fifth of that, and far less than its own size."""
    peak_mb = {}
    for steps in (4_400, 22_000):
        path = tmp_path / f"{steps}.jsonl"
        run_python(GENERATE, path, steps)
        peak_mb[path.stat().st_size >> 20] = float(run_python(SPLIT, path))
    (small, small_peak), (large, large_peak) = peak_mb.items()
    assert large >= 50
    assert large >= 5 * small - 5
    assert large_peak - small_peak < 0.2 * (large - small)
