"""A sweep of 64 independent seeds on one local Dask worker and on two.

Run with `pytest benchmarks/bench_cluster.py -o python_files='bench_*.py'` on a machine with nothing else to do; with -s
it prints how many times faster two workers are.
"""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

from runtwice.sweep import Cluster, Sweep
from tests.harness.dask_processes import DaskProcesses

ROOT = Path(__file__).parents[1]
SEEDS = range(64)
MEDIANS_S = {}


def a_walk(seed):
    """Some tenths of a second of one core: a walk in a double well, step by step."""
    rng = np.random.default_rng(seed)
    x = 1.0
    for kick in rng.normal(scale=0.05, size=400_000).tolist():
        x += 0.01 * (x - x**3) + kick
    return x


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Starts a scheduler and this many workers, as a user would from the command line."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    dask = DaskProcesses(tmp_path)

    def connect(workers):
        dask.workers(ROOT, workers)
        return Cluster(dask.address)

    yield connect
    dask.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_sweep(benchmark, cluster, workers):
    """Seconds for all seeds; each round begins with nothing kept, the first one loads the module."""
    connected = cluster(workers)
    benchmark.group = "64 seeds"
    try:
        Sweep(ROOT, cluster=lambda: connected)(a_walk, range(1000, 1000 + 4 * workers))
        benchmark.pedantic(lambda: Sweep(ROOT, cluster=lambda: connected)(a_walk, SEEDS), rounds=5)
    finally:
        connected.close()
    if benchmark.stats is not None:  # None under --benchmark-disable
        MEDIANS_S[workers] = benchmark.stats.stats.median
    if {1, 2} <= set(MEDIANS_S):
        benchmark.extra_info["speed_up"] = MEDIANS_S[1] / MEDIANS_S[2]
        print(f"\ntwo workers are {benchmark.extra_info['speed_up']:.2f} times as fast as one")
