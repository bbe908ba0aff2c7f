"""The longest gaps after all fixes, beside what a step is made of: one captured decode and one full prefill chunk.

    python benchmarks/bench_tail.py [requests per second]

A chunk fills the token budget where the decodes of its step leave it no more room. What it costs depends on where in
its prompt it lies, since it attends to all that came before; so the bound is printed for the median chunk of the run
and for the costliest twentieth. The rate is the calibrated one unless it is given. BLAS gets one thread.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
from collections import Counter

import numpy as np

from implementations.itl.calibration import calibrate
from implementations.itl.ladder import RUNGS, run_config, rung
from implementations.itl.partition import partition
from implementations.itl.run_log import RunLog
from implementations.itl.tail import primary_cause

SEEDS, SECONDS = (1, 2, 3), 15.0


def segment_ms(log: RunLog, kind: str) -> np.ndarray:
    """Time of each step in segments of a kind, in ms."""
    spent = np.zeros(len(log.step["start_s"]))
    for step, name, start_s, end_s, _ in log.segments:
        if name == kind:
            spent[step] += 1e3 * (end_s - start_s)
    return spent


def report(log: RunLog) -> str:
    """One run in two lines."""
    steps, decode, prefill = log.step, segment_ms(log, "decode"), segment_ms(log, "prefill")
    largest = steps["captured"].max()
    captured = np.median(decode[steps["captured"] == largest])
    room = log.config.token_budget - steps["n_decode"]
    chunks = prefill[(steps["prefill_tokens"] >= 0.9 * room) & (steps["prefill_tokens"] > 0)]
    found = partition(log.event_log())
    p999 = np.percentile(found.gap_ms, 99.9)
    causes = Counter(primary_cause(found.gap_ms, found.parts)[found.gap_ms > p999].tolist())
    bounds = [
        f"{name} chunk {chunk:.2f}: {p999 / (captured + chunk):.2f} times"
        for name, chunk in (("median", np.median(chunks)), ("costliest", np.percentile(chunks, 95)))
    ]
    return (
        f"p99.9 {p999:.2f} ms; decode at {largest:.0f} captured {captured:.2f}; {'; '.join(bounds)}\n"
        f"       causes above p99.9: {dict(causes)}"
    )


def main() -> None:
    """Run the last rung, a seed at a time."""
    rate_per_s = float(sys.argv[1]) if len(sys.argv) > 1 else calibrate().near_capacity_per_s
    sys.stdout.write(f"{rate_per_s:.1f} requests/s\n")
    for seed in SEEDS:
        log = run_config(rung(RUNGS[-1]), seed, SECONDS, rate_per_s)
        sys.stdout.write(f"seed {seed} {report(log)}\n")


if __name__ == "__main__":
    main()
