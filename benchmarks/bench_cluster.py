"""A sweep of 64 independent seeds on one local Dask worker and on two.

Run with `pytest benchmarks/bench_cluster.py -o python_files='bench_*.py'` on a machine with nothing else to do; with -s
it prints how many times faster two workers are.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

from runtwice.sweep import Cluster, Sweep

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
def cluster(tmp_path):
    """Starts a scheduler and this many workers, as a user would from the command line."""
    processes = []

    def start(what, *words):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{what}",
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            *words,
        ]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        processes.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, env=environment))

    def connect(workers):
        start("scheduler", "--port", "0", "--scheduler-file", str(tmp_path / "scheduler.json"))
        while not (tmp_path / "scheduler.json").exists():
            time.sleep(0.05)
        address = _address(tmp_path / "scheduler.json")
        for _ in range(workers):
            start("worker", address, "--nthreads", "1", "--no-nanny")
        return _connected(address, workers)

    yield connect
    for process in reversed(processes):
        process.kill()
        process.wait()


def _address(place):
    import json

    while not place.stat().st_size:
        time.sleep(0.05)
    return json.loads(place.read_text())["address"]


def _connected(address, workers):
    from distributed import Client

    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=120)
    return Cluster(address)


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
