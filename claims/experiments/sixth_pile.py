"""Decode steps held up by the operating system: the engine beside other processes on its own processor core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from claims.experiments import engine_runs

BUSY = "while True: pass"
# A forward pass so many times slower than the median one is the post's "five or more times slower than usual".
SLOWER = 5


@dataclass(frozen=True)
class Pile:
    """What a run shows of the gaps that no cause explains and whose forward pass was slow.

    Attributes:
        gaps: how many there are.
        offcpu_share: of their time, spent off the processor; 0 where there are none.
        forward_ms: median forward time of all gaps, time off the processor taken out.
    """

    gaps: int
    offcpu_share: float
    forward_ms: float


def pile(seed: int, competitors: int) -> Pile:
    """One engine run on a single core, alone on it or beside `competitors` busy processes."""
    from implementations.itl.partition import partition
    from implementations.itl.tail import primary_cause

    with _on_one_core() as core, _busy(core, competitors) if competitors else nullcontext():
        log = engine_runs.burst_run(seed, kv_blocks=1000, token_budget=2048)
    found = partition(log.event_log())
    passes = found.parts["forward"] + found.parts["offcpu"]
    slow = (primary_cause(found.gap_ms, found.parts) == "clean") & (passes > SLOWER * np.median(found.parts["forward"]))
    length = found.gap_ms[slow].sum()
    share = float(found.parts["offcpu"][slow].sum() / length) if slow.any() else 0.0
    return Pile(int(slow.sum()), share, float(np.median(found.parts["forward"])))


@contextmanager
def _on_one_core() -> Iterator[int]:
    """This process pinned to one of the cores it may use."""
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _busy(core: int, processes: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        for process in started:
            os.sched_setaffinity(process.pid, {core})
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
