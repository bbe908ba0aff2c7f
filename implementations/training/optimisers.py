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

    Raises:
        ValueError: one of them negative or not finite.
    """

    def __init__(self, rate: float, *, momentum: float = 0.0, weight_decay: float = 0.0) -> None:
        _check(rate=rate, momentum=momentum, weight_decay=weight_decay)
        self.rate = rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self._directions: list[NDArray[np.float32]] | None = None

    def step(self, parameters: Arrays, gradients: Arrays) -> None:
        """Take one step, in place.

        Raises:
            ValueError: gradients of other shapes than the parameters, or other parameters than before.
        """
        parameters, gradients = list(parameters), list(gradients)
        _check_pairs(parameters, gradients, self._directions)
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

    Raises:
        ValueError: one of them negative or not finite, or a decay that is not below 1.
    """

    def __init__(
        self,
        rate: float,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        _check(rate=rate, epsilon=epsilon, weight_decay=weight_decay)
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas {betas}; both must be at least 0 and below 1")
        self.rate = rate
        self.betas = betas
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.steps = 0
        self._means: list[NDArray[np.float32]] = []
        self._squares: list[NDArray[np.float32]] = []

    def step(self, parameters: Arrays, gradients: Arrays) -> None:
        """Take one step, in place.

        Raises:
            ValueError: gradients of other shapes than the parameters, or other parameters than before.
        """
        parameters, gradients = list(parameters), list(gradients)
        _check_pairs(parameters, gradients, self._means if self.steps else None)
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


def _check(**settings: float) -> None:
    for name, value in settings.items():
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} {value}; it must be a finite number of at least 0")


def _check_pairs(parameters: Arrays, gradients: Arrays, kept: Arrays | None) -> None:
    shapes = [one.shape for one in parameters]
    if shapes != [one.shape for one in gradients]:
        raise ValueError(f"gradients of shapes {[one.shape for one in gradients]} for parameters of {shapes}")
    if kept is not None and shapes != [one.shape for one in kept]:
        raise ValueError(f"parameters of shapes {shapes} after {[one.shape for one in kept]}; make a new optimiser")
