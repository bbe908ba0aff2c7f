"""Decoding with weights of several patterns: whether the numbers that are multiplied matter to the time."""

from __future__ import annotations

from functools import cache
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from claims.experiments.fresh_process import in_fresh_process

if TYPE_CHECKING:
    from implementations.inference.shape import Shape

PATTERNS = ("random", "ones", "low rank", "sparse", "subnormal")
ROUNDS, TOKENS = 9, 4


def pattern(name: str, array: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """An array of the same shape with numbers of another kind, none of them large."""
    rows, columns = array.shape
    if name == "ones":
        return np.full_like(array, 1e-3)
    if name == "low rank":
        left, right = (rng.standard_normal(size, dtype=np.float32) for size in ((rows, 2), (2, columns)))
        return np.float32(0.02) * (left @ right)
    if name == "sparse":
        return np.where(rng.random(array.shape, dtype=np.float32) < 0.9, np.float32(0), array)
    if name == "subnormal":
        return array * np.float32(1e-38)
    return array.copy()


def shape() -> Shape:
    """Four layers of GPT-2 small and a vocabulary of bytes."""
    from implementations.inference.shape import Shape

    return Shape(layers=4, width=768, heads=12, hidden=3072, vocabulary=256, positions=256)


def counts(name: str) -> dict[str, int]:
    """Operations by part of one token with weights of a pattern, in a small model."""
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.flops import PARTS
    from implementations.inference.shape import Shape
    from implementations.inference.tally import Tally
    from implementations.inference.weights import Weights

    rng = np.random.default_rng(0)
    small = Shape(layers=2, width=32, heads=4, hidden=128, vocabulary=64, positions=16)
    weights = Weights.random(small, rng).map(lambda array: pattern(name, array, rng))
    tally, cache = Tally(), Cache(small)
    cache.fill(8, rng)
    Decoder(weights.map(tally.array), tally.mark).extend([0], cache)
    return tally.parts(PARTS)


def processes(count: int) -> list[dict[str, float]]:
    """What `token_ms` measures, one a process; two topics ask for it."""
    return [_process(seed) for seed in range(count)]


@cache
def _process(seed: int) -> dict[str, float]:
    found: dict[str, float] = in_fresh_process("claims.experiments.weight_patterns:token_ms", seed=seed)
    return found


def token_ms(seed: int) -> dict[str, float]:
    """Median milliseconds of a token by pattern, the patterns by turns."""
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.weights import Weights

    rng = np.random.default_rng(seed)
    drawn = Weights.random(shape(), rng)
    cache = Cache(shape())
    cache.fill(128, rng)
    models: dict[str, Any] = {}
    for name in PATTERNS:
        models[name] = Decoder(drawn.map(lambda array, name=name: pattern(name, array, rng)))
    rounds: dict[str, list[float]] = {name: [] for name in PATTERNS}
    for number in range(ROUNDS):
        for name in PATTERNS if number % 2 else reversed(PATTERNS):
            cache.length_tokens = 127
            models[name].extend([0], cache)  # whatever its predecessor left in the caches
            began = perf_counter()
            for token in range(TOKENS):
                cache.length_tokens = 127
                models[name].extend([token], cache)
            rounds[name].append(1e3 * (perf_counter() - began) / TOKENS)
    return {name: median(found) for name, found in rounds.items()}
