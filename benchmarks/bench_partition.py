"""Speed and memory of the partition on a log that looks like an engine's, beside a plain loop over gaps.

Run with `pytest benchmarks/bench_partition.py -o python_files='bench_*.py'`; with -s it prints gaps a second
and bytes a gap.
"""

import tracemalloc
from bisect import bisect_right
from itertools import pairwise

import numpy as np
import pytest

from implementations.itl.baseline import Baseline
from implementations.itl.events import (
    DECODE,
    EAGER,
    KINDS,
    PREFILL,
    SWAP,
    TOK,
    EventLog,
    table_dtype,
)
from implementations.itl.partition import partition
from implementations.itl.timeline import LABELS

LANES = 30
BASELINE = Baseline(slope_ms=0.1, intercept_ms=1.0)


def engine_log(gaps, seed=0):
    """A log of about `gaps` gaps: 30 requests decoding at a time, some 300 tokens each.

    Every step swaps, prefills and decodes for some milliseconds, one in ten tokenises, one in ten runs
    without a captured graph, one in fifteen is hit by a collection, and one request in five is evicted once.
    """
    rng = np.random.default_rng(seed)
    n_steps = gaps // LANES + 10
    steps, segments = _steps(rng, n_steps)
    emissions, evictions = _emissions(rng, steps, segments)
    return EventLog(
        steps, segments, _collections(rng, steps), emissions, evictions, np.zeros(0, table_dtype("requests"))
    )


def _steps(rng, n):
    # (n, kinds): how long each segment and the pause after it take
    took = rng.gamma(2.0, [0.5e-3, 2e-6, 1e-3, 2e-3], (n, len(KINDS)))
    took[rng.random(n) > 0.1, TOK] = 0.0
    end = np.cumsum((took + 3e-6).ravel()).reshape(n, len(KINDS))
    steps = np.zeros(n, table_dtype("steps"))
    steps["start_s"], steps["end_s"] = end[:, 0] - took[:, 0], end[:, -1] + 2e-6
    steps["n_decode"] = LANES
    steps["captured"] = np.where(rng.random(n) < 0.1, EAGER, 32)
    segments = np.zeros(took.size, table_dtype("segments"))
    segments["step"] = np.repeat(np.arange(n), len(KINDS))
    segments["kind"] = np.tile([TOK, SWAP, PREFILL, DECODE], n)
    segments["start_s"], segments["end_s"] = (end - took).ravel(), end.ravel()
    segments["cpu_s"] = took.ravel() * rng.uniform(0.9, 1.1, took.size)
    return steps, segments[took.ravel() > 0]


def _collections(rng, steps):
    hit = np.flatnonzero(rng.random(len(steps)) < 1 / 15)
    collections = np.zeros(len(hit), table_dtype("collections"))
    collections["start_s"] = steps["start_s"][hit] + 1e-3
    collections["end_s"] = collections["start_s"] + rng.gamma(1.0, 2e-3, len(hit))
    return collections


def _emissions(rng, steps, segments):
    """Each lane serves one request after another; an eviction silences its lane for some steps."""
    n = len(steps)
    stamp = segments["end_s"][segments["kind"] == DECODE] + 1e-6
    first = rng.random((LANES, n)) < 1 / 300
    request = np.cumsum(first.ravel()).reshape(LANES, n) + np.arange(LANES)[:, None]
    silent = np.zeros((LANES, n), bool)
    evictions = []
    for lane, step in zip(*np.nonzero(rng.random((LANES, n)) < 1 / 1500)):
        back = min(step + int(rng.integers(1, 40)), n - 1)
        silent[lane, step:back] = True
        evictions.append((request[lane, step], steps["start_s"][step] + 1e-6, steps["start_s"][back]))
    lane, step = np.nonzero(~silent)
    emissions = np.zeros(len(lane), table_dtype("emissions"))
    emissions["request"], emissions["time_s"], emissions["step"] = request[lane, step], stamp[step], step
    return emissions, np.array(evictions, table_dtype("evictions"))


def partition_by_loop(log, baseline):
    """The same partition, a gap at a time over plain lists: what the vectorised one is compared with.

    Takes a well-behaved log: steps and segments one after another, collections and evictions disjoint.
    """
    work = _LoopedLog(log, baseline)
    return [
        work.gap(request, start, end)
        for (request, start, _), (other, end, _) in pairwise(log.emissions.tolist())
        if request == other
    ]


class _LoopedLog:
    """Segments and collections as lists, with the shares of each segment worked out once."""

    def __init__(self, log, baseline):
        self.collections = [(start, end) for start, end, _ in log.collections.tolist()]
        self.gc_ends = [end for _, end in self.collections]
        self.segments = [(KINDS[kind], start, end) for _, kind, start, end, _ in log.segments.tolist()]
        self.ends = [end for _, _, end in self.segments]
        self.shares = [
            self._share(log.steps[step], start, end, cpu, kind == DECODE, baseline)
            for step, kind, start, end, cpu in log.segments.tolist()
        ]
        self.evictions = {}
        for request, start, end in log.evictions.tolist():
            self.evictions.setdefault(request, []).append((start, end))

    def _share(self, step, start, end, cpu, decodes, baseline):
        wall = end - start - self._collected(start, end)
        offcpu = min(max(1 - cpu / wall, 0), 1) if wall > 0 else 0.0
        on_cpu_ms = 1e3 * wall * (1 - offcpu)
        if not decodes or step["captured"] != EAGER or on_cpu_ms <= 0:
            return offcpu, 0.0
        expected = baseline.slope_ms * step["n_decode"] + baseline.intercept_ms
        return offcpu, min(max((on_cpu_ms - expected) / on_cpu_ms, 0), 1)

    def _collected(self, start, end):
        total = 0.0
        i = bisect_right(self.gc_ends, start)
        while i < len(self.collections) and self.collections[i][0] < end:
            total += min(self.collections[i][1], end) - max(self.collections[i][0], start)
            i += 1
        return total

    def gap(self, request, start, end):
        parts = dict.fromkeys(LABELS, 0.0)
        live = start
        for out, back in self.evictions.get(request, []):
            if out < end and back > start:
                self._charge(live, max(out, start), parts)
                parts["preempt"] += 1e3 * (min(back, end) - max(out, start))
                live = min(back, end)
        self._charge(live, end, parts)
        return parts

    def _charge(self, start, end, parts):
        collected = self._collected(start, end)
        parts["gc"] += 1e3 * collected
        parts["residual"] += 1e3 * (end - start - collected)
        i = bisect_right(self.ends, start)
        while i < len(self.segments) and self.segments[i][1] < end:
            kind, first, last = self.segments[i]
            first, last = max(first, start), min(last, end)
            worked = 1e3 * (last - first - self._collected(first, last))
            self._share_out(kind, worked, *self.shares[i], parts)
            i += 1

    @staticmethod
    def _share_out(kind, worked, offcpu, excess, parts):
        parts["residual"] -= worked
        parts["offcpu"] += worked * offcpu
        parts["graph"] += worked * (1 - offcpu) * excess
        label = {"swap": "preempt", "decode": "forward"}.get(kind, kind)
        parts[label] += worked * (1 - offcpu) * (1 - excess)


def cold_caches(*arguments):
    """Sets a round up: a log is split once, by a caller who has just done something else."""

    def setup():
        np.ones(1 << 24).sum()  # 128 MiB through the caches
        return arguments, {}

    return setup


@pytest.mark.parametrize("gaps", [100_000, 1_000_000])
def test_partition(benchmark, gaps):
    """Gaps a second and bytes a gap of the vectorised partition, at two sizes ten apart."""
    log = engine_log(gaps)
    benchmark.group = "partition"
    split = benchmark.pedantic(partition, setup=cold_caches(log, BASELINE), rounds=9)
    tracemalloc.start()
    partition(log, BASELINE)
    benchmark.extra_info["bytes_per_gap"] = tracemalloc.get_traced_memory()[1] / len(split)
    tracemalloc.stop()
    _note_speed(benchmark, len(split))


def test_loop_over_gaps(benchmark):
    """The plain loop, on a fiftieth of the gaps."""
    log = engine_log(20_000)
    benchmark.group = "partition"
    split = benchmark.pedantic(partition_by_loop, setup=cold_caches(log, BASELINE), rounds=3)
    _note_speed(benchmark, len(split))


def _note_speed(benchmark, gaps):
    benchmark.extra_info["gaps"] = gaps
    if benchmark.stats is not None:  # None under --benchmark-disable
        benchmark.extra_info["gaps_per_second"] = gaps / benchmark.stats.stats.median
        benchmark.extra_info["ns_per_gap"] = 1e9 * benchmark.stats.stats.median / gaps
    print(f"\n{benchmark.name}: " + ", ".join(f"{k} {v:,.0f}" for k, v in benchmark.extra_info.items()))
