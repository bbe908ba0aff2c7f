"""Small steps of a forward pass in torch, one operation at a time and as the one operation that does it all."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional


def vector(size: int) -> Any:
    """One token's numbers and as many gains, a row each."""
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(1, size, generator=generator) for _ in range(2))


@torch.no_grad()
def gelu_in_steps(x: Any, gain: Any) -> Any:  # noqa: ARG001 - both arms take what `vector` makes
    """GELU in eight operations."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


@torch.no_grad()
def gelu_at_once(x: Any, gain: Any) -> Any:  # noqa: ARG001 - both arms take what `vector` makes
    """GELU in one."""
    return functional.gelu(x, approximate="tanh")


@torch.no_grad()
def norm_in_steps(x: Any, gain: Any) -> Any:
    """Norm, gain and sum in seven operations."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred * centred).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5) * gain + gain


@torch.no_grad()
def norm_at_once(x: Any, gain: Any) -> Any:
    """The same in one."""
    return functional.layer_norm(x, x.shape[-1:], gain[0], gain[0])
