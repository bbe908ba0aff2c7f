"""Clipping by the global norm: gradients longer than a limit are shortened to it, their direction kept.

Follows: Pascanu et al. 2013, with PyTorch's 1e-6 beside the norm.
Leaves out: other norms than the Euclidean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BESIDE_NORM = 1e-6


def global_norm(gradients: Sequence[NDArray[np.float32]]) -> float:
    """Length of all gradients together, as one vector."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(sum(float(np.sum(np.square(gradient, dtype=np.float64))) for gradient in gradients)))


def clip_by_norm(gradients: Sequence[NDArray[np.float32]], max_norm: float) -> float:
    """Shorten the gradients, in place, to at most `max_norm`.

    Returns:
        Their length before.

    Raises:
        ValueError: `max_norm` is not positive.
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}; it must be above 0")
    gradients = list(gradients)
    norm = global_norm(gradients)
    with np.errstate(over="ignore"):  # a limit beyond float32 shortens nothing
        factor = np.float32(max_norm / (norm + BESIDE_NORM))
    if not factor >= 1:
        with np.errstate(invalid="ignore"):
            for gradient in gradients:
                np.multiply(gradient, factor, out=gradient)
    return norm
