"""Weights are float32 and of the sizes of their shape."""

from dataclasses import replace

import numpy as np
import pytest

from implementations.inference.float32 import PromotionError
from implementations.inference.weights import SCALE, Weights
from tests.implementations.inference.models import GROUPED, SMALL, weights


@pytest.mark.parametrize("shape", [SMALL, GROUPED])
def test_random_weights_have_the_shapes_sizes_and_gpt2s_scale(shape):
    """Every matrix, in float32; the same for the same seed."""
    found = Weights.random(shape, np.random.default_rng(3))
    for layer in found.layers:
        assert {name: getattr(layer, name).shape for name in shape.matrices} == shape.matrices
    assert found.embedding.shape == found.head.T.shape == (50, 32)
    assert found.layers[0].up.std() == pytest.approx(SCALE, rel=0.05)
    assert found.passed_bytes == 4 * shape.passed_entries
    again = Weights.random(shape, np.random.default_rng(3))
    np.testing.assert_array_equal(again.layers[1].down, found.layers[1].down)


def test_an_array_that_is_not_float32_is_named():
    """On construction."""
    found = weights()
    wide = replace(found.layers[1], up=found.layers[1].up.astype(np.float64))
    with pytest.raises(PromotionError, match=r"layers\[1\]\.up is float64"):
        replace(found, layers=(found.layers[0], wide))


def test_map_changes_every_array_and_keeps_the_original():
    """Named as in the messages."""
    found = weights()
    doubled = found.map(lambda array: array * np.float32(2))
    for (name, before), (same, after) in zip(found.named(), doubled.named(), strict=True):
        assert name == same
        np.testing.assert_array_equal(after, 2 * before)


@pytest.mark.parametrize("name", ["embedding", "position", "head"])
def test_an_array_of_another_shape_is_named(name):
    """With what it must be."""
    whole = weights()
    with pytest.raises(ValueError, match=f"{name} has shape"):
        replace(whole, **{name: getattr(whole, name)[:, :3]})


def test_layers_must_be_those_of_the_shape():
    """Their number, and each of their matrices."""
    whole = weights()
    with pytest.raises(ValueError, match="1 layers for a decoder of 2"):
        replace(whole, layers=whole.layers[:1])
    cut = replace(whole.layers[1], up=whole.layers[1].up[:, :3])
    with pytest.raises(ValueError, match=r"layers\[1\].up has shape"):
        replace(whole, layers=(whole.layers[0], cut))
