"""One small network trained with its gradients, or its weights, kept in sixteen bits.

The loss is written in a small unit and the learning rate in its inverse, so that in 32 bits nothing changes and the
gradients come out as small as those of a mean over very many terms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from implementations.training.float16 import BFLOAT16, HALF, Format, rounded
from implementations.training.optimisers import Sgd
from implementations.training.two_layer import loss_and_gradients, two_layer

RATE = 0.05
SCALE = 2.0**16
Array = np.ndarray


def final_loss(seed: int, arm: str, steps: int, rows: int, loss_unit: float) -> float:
    """Loss on the training rows after so many steps of gradient descent.

    Args:
        seed: Of the rows and the first weights.
        arm: `float32`, or what is kept how: `float16 gradients`, `scaled float16 gradients`, `bfloat16 weights`, …
        steps: Number of steps.
        rows: Number of rows.
        loss_unit: What the loss is multiplied by; the rate is divided by it.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 8)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.float32)
    network, optimiser = two_layer(rng, 8, 16), Sgd(RATE / loss_unit)
    kept_gradients, kept_weights = _ways(arm)
    for _ in range(steps):
        _, gradients = loss_and_gradients(network, X, y, scale=loss_unit)
        optimiser.step(network.parameters, [kept_gradients(gradient) for gradient in gradients])
        for parameter in network.parameters:
            parameter[...] = kept_weights(parameter)
    return loss_and_gradients(network, X, y)[0]


def _ways(arm: str) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """How gradients, and how weights, are kept."""
    words = arm.split()
    formats = {one.name: one for one in (HALF, BFLOAT16)}
    if arm == "float32":
        return _as_they_are, _as_they_are
    way = _cast(formats[words[-2]], SCALE if words[0] == "scaled" else 1.0)
    return (way, _as_they_are) if words[-1] == "gradients" else (_as_they_are, way)


def _as_they_are(values: Array) -> Array:
    return values


def _cast(to: Format, scale: float) -> Callable[[Array], Array]:
    return lambda values: (rounded(values * scale, to) / scale).astype(np.float32)
