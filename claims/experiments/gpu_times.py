"""Times of matrix products and of training steps on a device, each table from a fresh process.

`python -m claims.experiments.gpu_times` prints one table as JSON. Precisions take turns, round by round, so that a
drift of the clock meets all of them; a time is the median of its rounds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PRODUCT_SIZES = (2048, 4096, 8192)
WIDTHS = (64, 128, 256, 512)
KINDS = ("float32", "tf32", "float16", "bfloat16")
MATCHES = 1_000_000
Table = dict[str, dict[str, dict[str, float]]]


@cache
def in_fresh_processes(n: int) -> list[Table]:
    """One table a process."""
    return [_from_process() for _ in range(n)]


def _from_process() -> Table:
    command = [sys.executable, "-m", "claims.experiments.gpu_times"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise RuntimeError(f"the timing process ended with {done.returncode}: {done.stderr[-2000:]}")
    table: Table = json.loads(done.stdout.splitlines()[-1])
    return table


def measure(
    device: str = "cuda",
    sizes: Sequence[int] = PRODUCT_SIZES,
    widths: Sequence[int] = WIDTHS,
    *,
    rounds: int = 5,
    steps: int = 10,
    batch: int = 4096,
) -> Table:
    """Seconds of products by size, and of a million matches by width, in each precision.

    Args:
        device: `cuda`, or `cpu` to try the measurement itself.
        sizes: Rows of the square matrices.
        widths: Of the network.
        rounds: Turns of every precision.
        steps: Training steps a turn.
        batch: Matches a step.
    """
    return {
        "products": {str(size): _product_times(device, size, rounds) for size in sizes},
        "steps": {str(width): _step_times(device, width, rounds, steps, batch) for width in widths},
    }


def _product_times(device: str, size: int, rounds: int) -> dict[str, float]:
    import torch

    def product(kind: str) -> Callable[[], object]:
        dtype = torch.float32 if kind in ("float32", "tf32") else getattr(torch, kind)
        left, right = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        return lambda: left @ right

    return _by_turns(device, {kind: product(kind) for kind in KINDS}, rounds, calls=3)


def _step_times(device: str, width: int, rounds: int, steps: int, batch: int) -> dict[str, float]:
    import torch

    from implementations.drafts.rank_transformer import Shape, new_network
    from implementations.training.amp import MixedStep, Precision

    heroes = torch.argsort(torch.rand(batch, 120, device=device), dim=1)[:, :10]
    bracket = torch.randint(7, (batch,), device=device)
    won = torch.randint(2, (batch,), device=device).float()

    def step(kind: str) -> Callable[[], object]:
        network = new_network(Shape(120, 7, width, layers=2, heads=4), 0).to(device)
        precision = Precision.FLOAT32 if kind == "tf32" else Precision(kind)
        optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3)
        take = MixedStep(network, optimiser, torch.nn.functional.binary_cross_entropy_with_logits, precision)
        return lambda: take((heroes, bracket), won)

    seconds = _by_turns(device, {kind: step(kind) for kind in KINDS}, rounds, calls=steps)
    return {kind: one * MATCHES / batch for kind, one in seconds.items()}


def _by_turns(device: str, calls_of: dict[str, Callable[[], object]], rounds: int, calls: int) -> dict[str, float]:
    """Median seconds of a call; the first round warms up and does not count."""
    seconds: dict[str, list[float]] = {kind: [] for kind in calls_of}
    for number in range(rounds + 1):
        kinds = list(calls_of) if number % 2 else list(reversed(calls_of))
        for kind in kinds:
            _allow_tf32(kind == "tf32")
            one = _timed(device, calls_of[kind], calls)
            if number:
                seconds[kind].append(one)
    _allow_tf32(False)
    return {kind: median(values) for kind, values in seconds.items()}


def _allow_tf32(allowed: bool) -> None:
    import torch

    torch.set_float32_matmul_precision("high" if allowed else "highest")


def _timed(device: str, call: Callable[[], Any], calls: int) -> float:
    """Seconds of a call, all work of the device included."""
    import torch

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    wait()
    begun_s = time.perf_counter()
    for _ in range(calls):
        call()
    wait()
    return (time.perf_counter() - begun_s) / calls


if __name__ == "__main__":
    print(json.dumps(measure()))
