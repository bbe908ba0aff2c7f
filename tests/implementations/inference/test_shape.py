"""Sizes that fit together, and the published ones."""

from dataclasses import replace

import pytest

from implementations.inference.shape import GPT2_LARGE, GPT2_MEDIUM, GPT2_SMALL, GPT2_XL, LLAMA_31_8B, Shape

# Parameters as published, less what this decoder leaves out: biases (13 w a layer, hidden biases included), gains and
# biases of the norms (4 w a layer, 2 w at the end), 1,024 positions; the output projection is the embedding.
PUBLISHED = {GPT2_SMALL: 124_439_808, GPT2_MEDIUM: 354_823_168, GPT2_LARGE: 774_030_080, GPT2_XL: 1_557_611_200}


@pytest.mark.parametrize(("shape", "published"), PUBLISHED.items())
def test_matrices_of_gpt2_are_the_published_ones(shape, published):
    """Entries of all matrices, from the published number of parameters."""
    biases_and_gains = shape.layers * 13 * shape.width + 2 * shape.width
    assert shape.passed_entries == published - biases_and_gains - shape.positions * shape.width


def test_matrices_of_llama_are_the_published_ones():
    """8,030,261,248 parameters, less the embedding and 65 norms of gains."""
    embedding = LLAMA_31_8B.vocabulary * LLAMA_31_8B.width
    gains = (2 * LLAMA_31_8B.layers + 1) * LLAMA_31_8B.width
    assert LLAMA_31_8B.passed_entries == 8_030_261_248 - embedding - gains


def test_key_and_value_heads_are_the_query_heads_by_default():
    """And the cache is as wide as the model."""
    assert GPT2_SMALL.kv_heads == GPT2_SMALL.heads
    assert GPT2_SMALL.kv_width == GPT2_SMALL.width
    assert LLAMA_31_8B.kv_width == 1024
    assert GPT2_SMALL.cache_bytes_per_token == 73_728


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"vocabulary": -3}, "vocabulary must be at least 1, got -3"),
        ({"width": 8.0}, "width must be a whole number, got 8.0"),
        ({"heads": 7}, "7 heads do not divide a width of 768"),
        ({"kv_heads": 5}, "5 key/value heads do not divide 12 query heads"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(change, message):
    """With the sizes."""
    with pytest.raises(ValueError, match=message):
        replace(GPT2_SMALL, **change)


def test_a_gate_doubles_the_columns_that_enter_the_mlp():
    """Gate and up side by side."""
    shape = Shape(layers=1, width=8, heads=2, hidden=20, vocabulary=3, gated=True)
    assert shape.matrices["up"] == (8, 40)
    assert shape.matrices["down"] == (20, 8)
