"""A network of one hidden layer for two classes, its gradients written out, in float32 throughout.

Follows: Rumelhart, Hinton and Williams 1986: tanh units, logistic loss, the chain rule layer by layer.
Leaves out: mini-batches, any other loss.

The gradient of a scaled loss is asked for by its scale, which enters where backpropagation starts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True)
class TwoLayer:
    """Weights of the network.

    Attributes:
        inner: Shape (d, h).
        shift: Shape (h,).
        outer: Shape (h,).
        bias: Shape (1,).
    """

    inner: Array
    shift: Array
    outer: Array
    bias: Array

    @property
    def parameters(self) -> list[Array]:
        """All arrays, in the order of their gradients."""
        return [self.inner, self.shift, self.outer, self.bias]

    def copy(self) -> TwoLayer:
        """The same weights in arrays of their own."""
        return TwoLayer(*(array.copy() for array in self.parameters))


def two_layer(rng: np.random.Generator, n_inputs: int, n_hidden: int) -> TwoLayer:
    """A network with random weights, each layer's outputs about as large as its inputs.

    Raises:
        ValueError: no input or no hidden unit.
    """
    if n_inputs < 1 or n_hidden < 1:
        raise ValueError(f"{n_inputs} inputs and {n_hidden} hidden units; there must be at least 1 of each")
    inner = rng.normal(scale=n_inputs**-0.5, size=(n_inputs, n_hidden))
    outer = rng.normal(scale=n_hidden**-0.5, size=n_hidden)
    zeros = np.zeros(n_hidden), np.zeros(1)
    return TwoLayer(*(np.asarray(one, dtype=np.float32) for one in (inner, zeros[0], outer, zeros[1])))


def loss_and_gradients(network: TwoLayer, X: Array, y: Array, scale: float = 1.0) -> tuple[float, list[Array]]:
    """Mean logistic loss, and the gradients of `scale` times it.

    Args:
        network: Its weights.
        X: Rows, shape (n, d).
        y: Classes 0 and 1, shape (n,).
        scale: What the loss is multiplied by before backpropagation.

    Returns:
        The loss itself, and one gradient a parameter.

    Raises:
        ValueError: no row, other shapes, or a class that is neither 0 nor 1.
    """
    if X.ndim != 2 or not len(X) or X.shape[1] != len(network.inner) or y.shape != X.shape[:1]:
        raise ValueError(f"rows {X.shape} and classes {y.shape}; give (n, {len(network.inner)}) and (n,), n at least 1")
    if not ((y == 0) | (y == 1)).all():
        raise ValueError(f"class {y[~((y == 0) | (y == 1))][0]}; classes are 0 and 1")
    hidden = np.tanh(X @ network.inner + network.shift)  # (n, d) -> (n, h)
    score = hidden @ network.outer + network.bias  # (n,)
    loss = float(np.mean(np.logaddexp(0, score) - y * score))
    with np.errstate(over="ignore", invalid="ignore"):
        upstream = (sigmoid(score) - y) * np.float32(scale / len(y))  # (n,): where the scale comes in
        before = np.outer(upstream, network.outer) * (1 - hidden * hidden)  # (n, h)
        gradients = [X.T @ before, before.sum(axis=0), hidden.T @ upstream, upstream.sum(keepdims=True)]
    return loss, [np.ascontiguousarray(gradient, dtype=np.float32) for gradient in gradients]


def sigmoid(score: Array) -> Array:
    """The logistic function, without overflow."""
    half = np.float32(0.5)
    return np.asarray(half * (1 + np.tanh(half * score)), dtype=np.float32)
