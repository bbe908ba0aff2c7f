"""A small network in PyTorch, trained on the CPU in float32 with the library's scaler and without.

Nothing is cast here, so that every difference between two runs is the scaler's, or the order's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

Make = Callable[[Any], torch.optim.Optimizer]


def adamw(parameters: Any) -> torch.optim.Optimizer:
    """The optimiser of these runs."""
    return torch.optim.AdamW(parameters, lr=0.01)


@dataclass
class Case:
    """A network, its optimiser, and rows of two classes.

    Attributes:
        seen: The gradients each step of the optimiser saw, in one row a step.
    """

    make: Make = adamw
    seed: int = 0
    seen: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
            self.X = torch.randn(64, 6)
        self.y = (self.X[:, :1] * self.X[:, 1:2] > 0).float()
        self.optimiser = self.make(self.network.parameters())
        self.optimiser.register_step_pre_hook(lambda *_: self.seen.append(self.gradients))

    @property
    def weights(self) -> Tensor:
        """All weights, in one row."""
        return torch.cat([p.detach().flatten() for p in self.network.parameters()])

    @property
    def gradients(self) -> Tensor:
        """All gradients, in one row."""
        return torch.cat([p.grad.flatten() for p in self.network.parameters() if p.grad is not None])

    def loss(self) -> Tensor:
        """Mean log loss of all rows."""
        return nn.functional.binary_cross_entropy_with_logits(self.network(self.X), self.y)

    def backward(self, scale: float = 1.0) -> None:
        """Fresh gradients of the loss times `scale`."""
        self.optimiser.zero_grad()
        (scale * self.loss()).backward()

    def clip(self, max_norm: float) -> Tensor:
        """Clip the gradients as they are; their norm before."""
        return nn.utils.clip_grad_norm_(self.network.parameters(), max_norm)


def new_scaler(**options: Any) -> torch.amp.GradScaler:
    """The library's scaler on the CPU."""
    return torch.amp.GradScaler("cpu", **options)


def run_plain(case: Case, steps: int, max_norm: float | None = None) -> Case:
    """Train without a scaler."""
    for _ in range(steps):
        case.backward()
        if max_norm is not None:
            case.clip(max_norm)
        case.optimiser.step()
    return case


def run_scaled(case: Case, steps: int, max_norm: float | None = None, *, unscale_first: bool = True) -> Case:
    """Train with a scaler of 65,536, its gradients divided before the clip or after."""
    scaler = new_scaler()
    for _ in range(steps):
        case.optimiser.zero_grad()
        scaler.scale(case.loss()).backward()
        if unscale_first:
            scaler.unscale_(case.optimiser)
        if max_norm is not None:
            case.clip(max_norm)
        scaler.step(case.optimiser)
        scaler.update()
    return case


def one_bad_step(case: Case, scaler: torch.amp.GradScaler, value: float, max_norm: float | None = None) -> float:
    """A scaled iteration in which one gradient is `value`; the norm the clip saw, or 0."""
    case.optimiser.zero_grad()
    scaler.scale(case.loss()).backward()
    first = next(case.network.parameters())
    if first.grad is not None:
        first.grad[0, 0] = value
    norm = 0.0
    if max_norm is not None:
        scaler.unscale_(case.optimiser)
        norm = float(case.clip(max_norm))
    scaler.step(case.optimiser)
    scaler.update()
    return norm
