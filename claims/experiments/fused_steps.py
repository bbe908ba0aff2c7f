"""Small steps of a forward pass in torch, one operation at a time and as the one operation that does it all."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from claims.experiments.fresh_process import in_fresh_process

ROUNDS, CALLS = 25, 400


def processes(count: int, hidden: int, width: int) -> list[dict[str, float]]:
    """What `ratios` measures, one a process."""
    target = "claims.experiments.fused_steps:ratios"
    return [in_fresh_process(target, seed=seed, hidden=hidden, width=width) for seed in range(count)]


def ratios(seed: int, hidden: int, width: int) -> dict[str, float]:
    """Time in steps over time at once, of the curve on `hidden` numbers and of the norm on `width`, by turns."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    with torch.no_grad():
        pairs = {
            "gelu": (gelu_in_steps, gelu_at_once, torch.randn(1, hidden)),
            "norm": (norm_in_steps, norm_at_once, torch.randn(1, width)),
        }
        return {name: _ratio(*pair) for name, pair in pairs.items()}


def gelu_in_steps(x: Any) -> Any:
    """GELU in nine operations."""
    import torch

    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def gelu_at_once(x: Any) -> Any:
    """GELU in one."""
    from torch.nn import functional

    return functional.gelu(x, approximate="tanh")


def norm_in_steps(x: Any) -> Any:
    """Norm in seven operations."""
    import torch

    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred * centred).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5)


def norm_at_once(x: Any) -> Any:
    """Norm in one."""
    from torch.nn import functional

    return functional.layer_norm(x, x.shape[-1:])


def _ratio(slow: Callable[[Any], Any], fast: Callable[[Any], Any], x: Any) -> float:
    seconds: dict[Any, list[float]] = {slow: [], fast: []}
    for number in range(1 + ROUNDS):
        for call in (slow, fast) if number % 2 else (fast, slow):
            began = perf_counter()
            for _ in range(CALLS):
                call(x)
            if number:  # the first round warms up
                seconds[call].append(perf_counter() - began)
    return median(seconds[slow]) / median(seconds[fast])
