"""The curves and the norm equal their definitions in doubles."""

import math

import numpy as np
import pytest
from scipy import special

from implementations.inference.activation import BLOCK, gated, gelu, normalised


def gelu_by_tanh(x):
    """As Hendrycks and Gimpel write it."""
    x = np.asarray(x, float)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    """x times the logistic function."""
    return x * special.expit(np.asarray(x, float))


GRID = np.concatenate([np.linspace(-9, 9, 4001), [-1e4, -50.0, -20.0, 20.0, 50.0, 1e4, 0.0]]).astype(np.float32)


def test_gelu_is_the_tanh_form_in_place():
    """Also far out, where an exponential overflows."""
    x = GRID.reshape(1, -1).copy()
    assert gelu(x) is x
    np.testing.assert_allclose(x[0], gelu_by_tanh(GRID), rtol=1e-5, atol=2e-7)


def test_a_gate_is_silu_times_the_other_half():
    """Two halves of the columns."""
    other = np.linspace(-3, 3, len(GRID), dtype=np.float32)
    x = np.concatenate([GRID, other]).reshape(1, -1)
    np.testing.assert_allclose(gated(x)[0], silu(GRID) * other, rtol=2e-5, atol=2e-7)


@pytest.mark.parametrize("curve", [gelu, gated])
def test_blocks_of_rows_are_all_done(curve):
    """Rows of more than one block, one of them not full."""
    columns, rows = BLOCK // 4, 11
    x = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
    alone = [curve(row.reshape(1, -1).copy()) for row in x]
    np.testing.assert_array_equal(curve(x), np.concatenate(alone))


def test_rows_are_normalised_and_the_input_is_kept():
    """Mean 0 and variance 1, up to the epsilon."""
    x = np.float32(3) + 5 * np.random.default_rng(0).standard_normal((4, 300), dtype=np.float32)
    kept = x.copy()
    found = normalised(x).astype(float)
    np.testing.assert_allclose(found.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(found.var(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(x, kept)


def test_a_row_without_spread_is_zero():
    """And no division by zero."""
    assert not normalised(np.full((2, 8), 7, np.float32)).any()


@pytest.mark.parametrize("function", [normalised, gelu, gated])
@pytest.mark.parametrize("shape", [(4,), (3, 0), (2, 2, 2)])
def test_other_shapes_are_refused(function, shape):
    """Rows of at least one column."""
    with pytest.raises(ValueError, match="shape"):
        function(np.ones(shape, np.float32))


def test_a_gate_needs_another_half():
    """An odd number of columns has none."""
    with pytest.raises(ValueError, match="need"):
        gated(np.ones((2, 5), np.float32))
