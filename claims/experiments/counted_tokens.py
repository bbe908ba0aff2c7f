"""Operations of one token on a decoder of a given shape, counted as they run; the weights are zeros."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from claims.experiments.zero_weights import zero_weights

if TYPE_CHECKING:
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

MOST_NOTES = 8192


@cache
def gpt2_small() -> Shape:
    """GPT-2 small with positions for the longest conversation that is counted."""
    from implementations.inference.shape import GPT2_SMALL

    return replace(GPT2_SMALL, positions=MOST_NOTES)


@lru_cache(maxsize=1)
def gpt2_small_weights() -> Weights:
    """Its matrices."""
    return zero_weights(gpt2_small())


@cache
def counted(shape: Shape, notes: int) -> dict[str, int]:
    """Operations by part of one token that attends to `notes` tokens, itself included."""
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.flops import PARTS
    from implementations.inference.tally import Tally

    weights = gpt2_small_weights() if shape == gpt2_small() else zero_weights(shape)
    tally, cache_ = Tally(), Cache(shape, notes)
    cache_.length_tokens = notes - 1
    with np.errstate(invalid="ignore"):  # OpenBLAS may flag what it reads beyond the edge of a narrow matrix
        Decoder(weights.map(tally.array), tally.mark).extend([0], cache_)
    return tally.parts(PARTS)


def small_token(notes: int) -> dict[str, int]:
    """The same for GPT-2 small."""
    return counted(gpt2_small(), notes)


def attention_operations(width: int, heads: int, kv_heads: int, notes: int) -> int:
    """Operations of reading a cache of `notes` tokens once: scores and blend, without the softmax between."""
    from implementations.inference.attention import attend
    from implementations.inference.tally import Tally

    tally, size = Tally(), width // heads
    queries = tally.array(np.zeros((kv_heads, heads // kv_heads, 1, size), np.float32))
    keys = np.zeros((kv_heads, notes, size), np.float32)
    attend(queries, keys, keys, tally.mark)
    return tally.of("cache")
