"""Gradient descent with momentum, and AdamW: the first follows the gradient's size, the second hardly sees it.

Follows: Sutskever et al. 2013 (as PyTorch writes it: the rate stands outside the momentum); Loshchilov and Hutter
2019, with bias correction.
Leaves out: Nesterov's look-ahead, AMSGrad, groups of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Arrays = Sequence[NDArray[np.float32]]


class Optimiser(Protocol):
    """Moves parameters by their gradients."""

    def step(self, parameters: Arrays, gradients: Arrays) -> None:
        """Take one step, in place."""


class Sgd:
    """Steps along the gradient, or along a decaying sum of gradients.

    Args:
        rate: Step size.
        momentum: Share of the last direction that is kept.
        weight_decay: Share of the weights added to the gradient.
    """

    def __init__(self, rate: float, *, momentum: float = 0.0, weight_decay: float = 0.0) -> None:
        self.rate = rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self._directions: list[NDArray[np.float32]] | None = None

    def step(self, parameters: Arrays, gradients: Arrays) -> None:
        """Take one step, in place."""
        pulled = [g + np.float32(self.weight_decay) * p for p, g in zip(parameters, gradients)]
        if self._directions is None:
            self._directions = pulled
        else:
            kept = np.float32(self.momentum)
            self._directions = [kept * old + new for old, new in zip(self._directions, pulled)]
        for parameter, direction in zip(parameters, self._directions):
            parameter -= np.float32(self.rate) * direction


class AdamW:
    """Steps along the mean gradient divided by its root mean square, and shrinks the weights beside it.

    Args:
        rate: Step size.
        betas: Decay of the mean and of the mean square.
        epsilon: Added to the root; below it a gradient's size shows.
        weight_decay: Share of the weights taken off, times the rate.
    """

    def __init__(
        self,
        rate: float,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        self.rate = rate
        self.betas = betas
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.steps = 0
        self._means: list[NDArray[np.float32]] = []
        self._squares: list[NDArray[np.float32]] = []

    def step(self, parameters: Arrays, gradients: Arrays) -> None:
        """Take one step, in place."""
        if self.steps == 0:
            self._means = [np.zeros_like(p) for p in parameters]
            self._squares = [np.zeros_like(p) for p in parameters]
        self.steps += 1
        first, second = self.betas
        for p, g, mean, square in zip(parameters, gradients, self._means, self._squares):
            p *= np.float32(1 - self.rate * self.weight_decay)
            mean += np.float32(1 - first) * (g - mean)
            square *= np.float32(second)
            square += np.float32(1 - second) * g * g
            root = np.sqrt(square) / np.float32(np.sqrt(1 - second**self.steps)) + np.float32(self.epsilon)
            p -= np.float32(self.rate / (1 - first**self.steps)) * mean / root
