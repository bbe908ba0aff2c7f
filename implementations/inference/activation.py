"""The curves inside the MLP, and the norm before each part of a layer.

Follows: GELU in its tanh form (Hendrycks & Gimpel, 2016), written as x / (1 + exp(-2u)), which is the same number with
one operation fewer; SiLU gates (Shazeer, 2020); layer normalisation (Ba et al., 2016).
Leaves out: the gains and biases of the norm, and the exact GELU by the error function.
"""

import math

import numpy as np

from implementations.inference.float32 import Float32Array

EPSILON = 1e-5
BLOCK = 1 << 16  # elements worked on at a time: they and their copy stay in the second-level cache
# Python floats: they leave float32 alone.
LINEAR = -2 * math.sqrt(2 / math.pi)
CUBIC = 0.044715 * LINEAR


def normalised(x: Float32Array) -> Float32Array:
    """Each row less its mean, over its standard deviation.

    Args:
        x: (n, w).

    Returns:
        A new array (n, w).

    Raises:
        ValueError: another number of axes, or no column.
    """
    blocks = _row_blocks(x)
    share = 1 / x.shape[-1]
    result = np.empty_like(x)
    for top, bottom in blocks:
        rows, centred = x[top:bottom], result[top:bottom]
        np.subtract(rows, rows.sum(axis=-1, keepdims=True) * share, out=centred)
        variance = (centred * centred).sum(axis=-1, keepdims=True) * share
        variance += EPSILON
        centred /= np.sqrt(variance)
    return result


def gelu(x: Float32Array) -> Float32Array:
    """x times a smooth step; in place.

    Args:
        x: (n, h).

    Returns:
        The same array.

    Raises:
        ValueError: another number of axes, or no column.
    """
    with np.errstate(over="ignore"):  # exp of a large number is inf, and x / inf is the 0 it should be
        for top, bottom in _row_blocks(x):
            rows = x[top:bottom]
            inner = rows * rows
            inner *= CUBIC
            inner += LINEAR
            inner *= rows  # -2u, with u = sqrt(2/pi) (x + 0.044715 x^3)
            np.exp(inner, out=inner)
            inner += 1
            rows /= inner
    return x


def gated(x: Float32Array) -> Float32Array:
    """SiLU of the first half of the columns times the second half; in place.

    Args:
        x: (n, 2h).

    Returns:
        A view of its first half (n, h).

    Raises:
        ValueError: another number of axes, or an odd number of columns.
    """
    if x.ndim != 2 or x.shape[1] % 2:
        raise ValueError(f"shape {x.shape}; the gate and the other half need (n, 2h)")
    half = x.shape[1] // 2
    gate, other = x[:, :half], x[:, half:]
    with np.errstate(over="ignore"):
        for top, bottom in _row_blocks(gate):
            rows = gate[top:bottom]
            inner = np.negative(rows)
            np.exp(inner, out=inner)
            inner += 1
            rows /= inner
            rows *= other[top:bottom]
    return gate


def _row_blocks(x: Float32Array) -> list[tuple[int, int]]:
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError(f"shape {x.shape}; give (n, w), w at least 1")
    step = max(1, BLOCK // x.shape[1])
    return [(top, min(top + step, len(x))) for top in range(0, len(x), step)]
