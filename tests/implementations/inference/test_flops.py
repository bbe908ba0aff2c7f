"""Formulas against the count as it runs, against loops over single numbers, and against torch's counter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.inference import attention
from implementations.inference.cache import Cache
from implementations.inference.decoder import Decoder
from implementations.inference.flops import (
    PARTS,
    TABLES,
    attended_pairs,
    cache_majority_notes,
    rule_of_thumb,
    stretch_flops,
    token_flops,
)
from implementations.inference.shape import GPT2_SMALL, LLAMA_31_8B, Shape
from implementations.inference.tally import Tally
from tests.implementations.inference.models import GROUPED, SMALL, tokens, unhurried, weights


def tallied(shape, new, cached=0, every=False):
    """Operations by part as they run."""
    tally, cache = Tally(), Cache(shape)
    cache.fill(cached, np.random.default_rng(0))
    Decoder(weights(shape).map(tally.array), tally.mark).extend(tokens(new, shape), cache, every)
    return tally.parts(PARTS)


@st.composite
def shapes(draw):
    """Any small shape, grouped and gated or not."""
    kv_heads, group, size = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    heads = kv_heads * group
    return Shape(
        layers=draw(st.integers(1, 3)),
        width=heads * size,
        heads=heads,
        hidden=draw(st.integers(1, 30)),
        vocabulary=draw(st.integers(1, 30)),
        positions=64,
        kv_heads=kv_heads,
        gated=draw(st.booleans()),
    )


@unhurried
@given(shape=shapes(), notes=st.integers(1, 60))
def test_a_decoded_token_costs_what_the_formula_says(shape, notes):
    """Every part, the small operations included, to the last one."""
    assert tallied(shape, 1, notes - 1) == token_flops(shape, notes)


@pytest.mark.parametrize("shape", [SMALL, GROUPED])
def test_a_stretch_is_its_tokens_one_by_one(shape):
    """The formula for a stretch against the sum of the formula for tokens."""
    one_by_one = [token_flops(shape, notes) for notes in range(11, 31)]
    together = {part: sum(one[part] for one in one_by_one) for part in PARTS}
    assert stretch_flops(shape, 20, cached=10, logits=20) == together


@pytest.mark.parametrize("shape", [SMALL, GROUPED])
@pytest.mark.parametrize("every", [False, True])
def test_a_stretch_costs_what_the_formula_says_but_for_the_masked_corners(shape, every):
    """Tables to the last operation; attention between the causal charge and the square of a tile."""
    found, expected = tallied(shape, 30, 12, every), stretch_flops(shape, 30, 12, 30 if every else 1)
    assert {name: found[name] for name in TABLES} == {name: expected[name] for name in TABLES}
    square = 4 * shape.width * 30 * 42 * shape.layers
    assert found["cache"] == square  # one tile: it sees all of its 42 tokens
    assert expected["cache"] < square


def test_tiles_leave_most_of_the_masked_half_out(monkeypatch):
    """With tiles of 16 rows a prompt of 400 costs a twentieth more than the causal charge, not twice as much."""
    monkeypatch.setattr(attention, "TILE_BYTES", 1)
    found, causal = tallied(SMALL, 400)["cache"], stretch_flops(SMALL, 400)["cache"]
    assert causal < found < 1.05 * causal


def test_pairs_of_a_causal_mask():
    """256 tokens see 32,896 pairs and not 65,536; a decoded token is not halved."""
    assert attended_pairs(256) == 32_896
    assert attended_pairs(1, 255) == 256
    assert attended_pairs(4, 2) == sum(len(range(3 + row)) for row in range(4))


@pytest.mark.parametrize(("new", "cached"), [(0, 4), (3, -1)])
def test_impossible_stretches_are_refused(new, cached):
    """With both numbers."""
    with pytest.raises(ValueError, match=f"got {new} and {cached}"):
        attended_pairs(new, cached)


def test_tables_and_cache_are_what_loops_over_single_numbers_count():
    """The count that shares nothing with either."""
    from claims.experiments.scalar_loops import last_token_counts

    shape = Shape(layers=2, width=12, heads=3, hidden=48, vocabulary=20, positions=8)
    _, looped = last_token_counts(weights(shape), [3, 1, 4, 1, 5])
    expected = token_flops(shape, 5)
    assert looped == {name: expected[name] for name in looped}
    assert set(looped) == {"cache", *TABLES}


@pytest.mark.parametrize("shape", [SMALL, GROUPED])
def test_torchs_counter_sees_the_rule_of_thumb(shape):
    """With attention by products, where torch counts; grouped queries by their query heads."""
    pytest.importorskip("torch")
    from claims.experiments import torch_counts

    assert torch_counts.token_operations(shape, 77) == rule_of_thumb(shape, 77)
    assert sum(token_flops(shape, 77).values()) - token_flops(shape, 77)["other"] == rule_of_thumb(shape, 77)


def test_torchs_counter_sees_the_square_of_a_prompt():
    """It knows shapes only: a causal mask is twice what it leaves, less the diagonal."""
    pytest.importorskip("torch")
    from claims.experiments import torch_counts
    from claims.experiments.torch_decoder import TorchDecoder

    model = TorchDecoder(weights(), fused=False)
    expected = stretch_flops(SMALL, 40)
    square = 4 * SMALL.width * 40 * 40 * SMALL.layers
    counted = torch_counts.counted(lambda: model.extend(tokens(40)))
    assert counted == sum(expected[name] for name in TABLES) + square


@pytest.mark.parametrize("shape", [GPT2_SMALL, replace(GPT2_SMALL, gated=True), LLAMA_31_8B])
def test_the_majority_is_where_the_cache_passes_half(shape):
    """One note fewer is not enough."""
    first = cache_majority_notes(shape)
    tables = 2 * shape.passed_entries
    assert rule_of_thumb(shape, first) > 2 * tables >= rule_of_thumb(shape, first - 1)


@pytest.mark.parametrize("logits", [-1, 3])
def test_logits_after_more_tokens_than_there_are_are_refused(logits):
    """Or after fewer than none."""
    with pytest.raises(ValueError, match="from 0 to 2"):
        stretch_flops(GPT2_SMALL, 2, 0, logits)


def test_fewer_notes_than_possible_are_refused():
    """A token attends to itself; the rule of thumb needs none."""
    with pytest.raises(ValueError, match="notes = 0"):
        token_flops(GPT2_SMALL, 0)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        rule_of_thumb(GPT2_SMALL, -1)
