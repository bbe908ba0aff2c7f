"""Weights that are all zero: for counting, where only shapes matter, without the time to draw numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights


def zero_weights(shape: Shape) -> Weights:
    """Pages that are never written take no memory: each array is a view of its zeros."""
    from implementations.inference.weights import Layer, Weights

    layers = tuple(
        Layer(**{name: np.zeros(size, np.float32) for name, size in shape.matrices.items()})
        for _ in range(shape.layers)
    )
    return Weights(
        shape,
        np.zeros((shape.vocabulary, shape.width), np.float32),
        np.zeros((shape.positions, shape.width), np.float32),
        layers,
        np.zeros((shape.width, shape.vocabulary), np.float32),
    )
