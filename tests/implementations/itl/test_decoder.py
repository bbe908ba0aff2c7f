"""The decoder computes the same whichever way it goes about it, and in float32."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.itl.decoder import BlockWalk, Decoder, Shape, Weights
from implementations.itl.float32 import PromotionError

SHAPE = Shape(layers=2, width=16, hidden=32, vocabulary=64, positions=512)


def softmax_attention(queries, keys, values, tables, lengths):
    """Attention of each row over its own tokens, gathered one by one."""
    rows = []
    for query, table, length in zip(queries, tables, lengths):
        cells = [(table[token // 16], token % 16) for token in range(length)]
        scores = np.array([keys[cell] @ query for cell in cells], np.float64)
        shares = np.exp(scores - scores.max())
        rows.append(sum(share * values[cell] for share, cell in zip(shares, cells)) / shares.sum())
    return np.array(rows)


@st.composite
def batches(draw):
    """Lengths of some requests and disjoint block tables for them, anywhere in a pool of 40 blocks."""
    lengths = draw(st.lists(st.integers(1, 70), min_size=1, max_size=6))
    pool = draw(st.permutations(range(40)))
    tables = []
    for length in lengths:
        tables.append([pool.pop() for _ in range(-(-length // 16) + draw(st.integers(0, 1)))])
    return lengths, tables


@settings(deadline=None)
@given(batch=batches(), gather=st.booleans(), seed=st.integers(0, 99))
def test_walking_the_blocks_attends_like_a_loop_over_tokens(batch, gather, seed):
    """Whether the pool is walked as it lies or gathered, and with blocks that are not filled (or not used at all)."""
    lengths, tables = batch
    rng = np.random.default_rng(seed)
    keys, values = (rng.standard_normal((40, 16, 8), dtype=np.float32) for _ in range(2))
    queries = rng.standard_normal((len(lengths), 8), dtype=np.float32)
    walk = BlockWalk.over(tables, np.array(lengths), gather)
    expected = softmax_attention(queries, keys, values, tables, lengths)
    np.testing.assert_allclose(walk.attend(queries, keys, values), expected, rtol=2e-5, atol=2e-6)


def test_far_scores_do_not_overflow():
    """One row's scores are thousands away from another's."""
    keys = np.zeros((2, 16, 4), np.float32)
    keys[0], keys[1] = 100, -100
    values = np.arange(128, dtype=np.float32).reshape(2, 16, 4)
    queries = np.full((2, 4), 50, np.float32)
    walk = BlockWalk.over([[0], [1]], np.array([16, 16]))
    np.testing.assert_allclose(walk.attend(queries, keys, values), values.mean(axis=1), rtol=1e-6)


def test_a_dense_pool_is_walked_without_a_copy():
    """A batch that owns most of a stretch of the pool reads it as a slice."""
    assert BlockWalk.over([[3, 5], [4, 7]], np.array([30, 20])).blocks == slice(3, 8)
    assert isinstance(BlockWalk.over([[0], [30]], np.array([3, 3])).blocks, np.ndarray)


def prefilled(prompts, seed=0, kv_blocks=64):
    """A decoder that has read some prompts, with their tables and next tokens."""
    model = Decoder(seed, kv_blocks, SHAPE)
    tables = [list(range(8 * number, 8 * number + 8)) for number in range(len(prompts))]
    return model, tables, [model.prefill(prompt, 0, table) for prompt, table in zip(prompts, tables)]


def prompts_of(*lengths, seed=1):
    """Random prompts."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, SHAPE.vocabulary, length).tolist() for length in lengths]


@pytest.mark.parametrize("cut", [1, 15, 16, 17, 59])
def test_prefill_in_chunks_is_prefill(cut):
    """The token after the prompt and the cache are those of one stretch."""
    (prompt,) = prompts_of(60)
    whole, (table,), (token,) = prefilled([prompt])
    parts = Decoder(0, 64, SHAPE)
    assert parts.prefill(prompt[:cut], 0, table, last=False) is None
    assert parts.prefill(prompt[cut:], cut, table) == token
    np.testing.assert_allclose(parts.keys[:, table[:3]], whole.keys[:, table[:3]], rtol=1e-4, atol=1e-5)


def test_prefill_in_tiles_is_prefill(reference):
    """A prompt longer than a tile of rows, against the full-prefix reference."""
    (prompt,) = prompts_of(300)
    model = Decoder(0, 64, SHAPE)
    assert [model.prefill(prompt, 0, list(range(19)))] == reference(model.weights, prompt, 1)


@pytest.mark.parametrize("captured", [None, 5, 8])
def test_decoding_follows_the_reference(reference, captured):
    """Batched, padded or one at a time, ten tokens on."""
    prompts = prompts_of(5, 17, 30, 48, 1)
    model, tables, tokens = prefilled(prompts)
    outputs = [[token] for token in tokens]
    for step in range(9):
        fed, lengths = [output[-1] for output in outputs], [len(prompt) + step for prompt in prompts]
        for output, token in zip(outputs, model.decode(fed, lengths, tables, captured), strict=True):
            output.append(token)
    assert outputs == [reference(model.weights, prompt, 10) for prompt in prompts]


@pytest.mark.parametrize("captured", [4, 7, 12])
def test_filler_rows_change_nothing(captured):
    """Padding leaves the tokens and the rest of the cache alone."""
    prompts = prompts_of(9, 20, 33)
    plain, tables, tokens = prefilled(prompts)
    padded, _, _ = prefilled(prompts)
    lengths = [len(prompt) for prompt in prompts]
    assert padded.decode(tokens, lengths, tables, captured) == plain.decode(tokens, lengths, tables, 3)
    np.testing.assert_allclose(padded.keys, plain.keys, rtol=1e-5, atol=1e-6)


def test_a_cache_copied_out_comes_back_in_other_blocks():
    """After its old blocks were overwritten, the request goes on as if nothing had happened."""
    first, second = prompts_of(40, 60)
    model, (table, _), (token, _) = prefilled([first, second])
    expected = model.decode([token], [40], [table], 1)
    saved = model.copy_out(table, 40)
    model.prefill(second, 0, table)
    model.copy_in([50, 20, 31], saved)
    assert model.decode([token], [40], [[50, 20, 31]], 1) == expected


def test_promoted_weights_are_refused_by_name():
    """The scalar of the post's engine, which NumPy 2 lets promote the array it scales."""
    weights = Weights.random(SHAPE, np.random.default_rng(0))
    promoted = replace(weights.layers[1], up=weights.layers[1].up.astype(np.float64))
    with pytest.raises(PromotionError, match=r"weights\.layers\[1\]\.up is float64"):
        replace(weights, layers=(weights.layers[0], promoted))


def test_a_promotion_on_the_way_is_caught():
    """A cache that has become float64 is found by the first product with it."""
    model, (table,), (token,) = prefilled(prompts_of(12))
    model.values = model.values.astype(np.float64)
    with pytest.raises(PromotionError, match=r"attention over blocks is float64 .*decoder\.py"):
        model.decode([token], [12], [table], 1)


def test_everything_computed_is_float32():
    """Weights, cache and hidden states."""
    model, (table,), (token,) = prefilled(prompts_of(12))
    hidden = model._extend([token], 12, table)
    assert {array.dtype for array in (hidden, model.keys, model.values)} == {np.dtype(np.float32)}


def test_positions_beyond_the_model_are_refused():
    """And the message says how many it has."""
    with pytest.raises(ValueError, match="position 512 is beyond the model's 512"):
        Decoder(0, 64, SHAPE).prefill([1], 512, list(range(33)))
