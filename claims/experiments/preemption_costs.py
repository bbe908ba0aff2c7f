"""What an eviction costs the requests that stay: copying a cache out and back, or computing it again."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np


def seconds_per_token(contexts: Sequence[int], seed: int) -> tuple[float, float]:
    """Seconds that one more token of context adds to a swap (out and back) and to a recomputation.

    Slopes of straight lines through one measurement a context, taken in shuffled order.
    """
    from implementations.itl.config import blocks_for
    from implementations.itl.decoder import Decoder

    rng = np.random.default_rng(seed)
    model = Decoder(kv_blocks=2 * blocks_for(max(contexts)))
    swap, recompute = {}, {}
    for tokens in rng.permutation(contexts).tolist():
        prompt = rng.integers(0, model.shape.vocabulary, tokens).tolist()
        table = list(range(blocks_for(tokens)))
        began = time.perf_counter()
        model.prefill(prompt, 0, table)
        recompute[tokens] = time.perf_counter() - began
        began = time.perf_counter()
        model.copy_in(table, model.copy_out(table, tokens))
        swap[tokens] = time.perf_counter() - began
    return _slope(swap), _slope(recompute)


def _slope(seconds: dict[int, float]) -> float:
    return float(np.polyfit(list(seconds), list(seconds.values()), 1)[0])
