"""Training under a loss scale, with the clip on the right side of the division or on the wrong one.

Follows: the order of PyTorch's examples of automatic mixed precision. Everything stays in float32 here, so that nothing
but the order differs between two runs.
Leaves out: low precision itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from implementations.training.clipping import clip_by_norm
from implementations.training.grad_scaler import GradScaler
from implementations.training.optimisers import Optimiser
from implementations.training.two_layer import TwoLayer, loss_and_gradients


@dataclass(frozen=True)
class ClippedRun:
    """What became of a network.

    Attributes:
        losses: Loss before each step and after the last, shape (steps + 1,).
        distance: How far the weights went, from where they started to where they ended.
        network: The trained weights.
    """

    losses: NDArray[np.float64]
    distance: float
    network: TwoLayer


def train_clipped(
    start: TwoLayer,
    optimiser: Optimiser,
    data: tuple[NDArray[np.float32], NDArray[np.float32]],
    *,
    steps: int,
    max_norm: float,
    unscale_first: bool = True,
    scaler: Callable[[], GradScaler] | None = GradScaler,
) -> ClippedRun:
    """Train a copy of `start` on all rows at once.

    Args:
        start: The first weights.
        optimiser: Takes the steps.
        data: Rows (n, d) and classes (n,).
        steps: Number of steps.
        max_norm: Limit of the clip.
        unscale_first: Whether the gradients are divided before the clip (right) or after it (wrong).
        scaler: Makes the scaler; None trains without one.

    Raises:
        ValueError: a negative number of steps, a limit that is not above 0, or what `loss_and_gradients` refuses.
    """
    if steps < 0:
        raise ValueError(f"{steps} steps; there must be at least 0")
    network, own = start.copy(), scaler() if scaler else None
    losses = []
    for _ in range(steps):
        loss, gradients = loss_and_gradients(network, *data, scale=float(own.scale) if own else 1.0)
        losses.append(loss)
        if own and unscale_first:
            own.unscale(gradients)
        clip_by_norm(gradients, max_norm)

        def take(gradients: list[NDArray[np.float32]] = gradients) -> None:
            optimiser.step(network.parameters, gradients)

        if own is None:
            take()
        else:
            own.step(gradients, take)
            own.update()
    losses.append(loss_and_gradients(network, *data)[0])
    moved = [(end - begin).ravel() for begin, end in zip(start.parameters, network.parameters)]
    return ClippedRun(np.array(losses), float(np.linalg.norm(np.concatenate(moved))), network)
