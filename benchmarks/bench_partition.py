"""Speed and memory of the partition on a log that looks like an engine's, beside a plain loop over gaps.

pytest benchmarks/bench_partition.py -o python_files='bench_*.py'
"""

import numpy as np

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
