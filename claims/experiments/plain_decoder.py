"""A decoder written the direct way, as the post's: whole score matrices, a cube by `**`, results in new arrays.

What it is for: the post's own arithmetic, its limits and its share of matrix work, beside `implementations.inference`,
which computes the same in place and in tiles.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from claims.experiments.repeated_normals import RepeatedNormals

if TYPE_CHECKING:
    from implementations.inference.weights import Weights

GELU_INNER = (2 / np.pi) ** 0.5


class PlainDecoder:
    """One sequence; nothing is checked.

    Args:
        weights: without gates and grouped queries.
        room_tokens: of the cache.
        masked: whether a token may not see later ones.

    Attributes:
        table_s: seconds in products with weights and with the cache.
    """

    def __init__(self, weights: Weights, room_tokens: int, masked: bool = True) -> None:
        shape = weights.shape
        self.weights, self.masked = weights, masked
        cells = (shape.layers, shape.heads, room_tokens, shape.head_width)
        self.keys, self.values = np.zeros(cells, np.float32), np.zeros(cells, np.float32)
        self.held = 0
        self.table_s = 0.0

    def __call__(self, tokens: Any) -> Any:
        """Scores (vocabulary,) after further tokens."""
        ids = np.array(tokens)
        end = self.held + len(ids)
        x = self.weights.embedding[ids] + self.weights.position[self.held : end]
        for number, layer in enumerate(self.weights.layers):
            heads = self._product(_unit(x), layer.qkv).reshape(len(ids), 3, self.weights.shape.heads, -1)
            x = x + self._product(self._blend(number, heads.transpose(1, 2, 0, 3), end), layer.out)
            x = x + self._product(_gelu(self._product(_unit(x), layer.up)), layer.down)
        self.held = end
        return self._product(_unit(x[-1:]), self.weights.head)[0]

    def _blend(self, number: int, heads: Any, end: int) -> Any:
        queries, self.keys[number, :, self.held : end], self.values[number, :, self.held : end] = heads
        keys, values = self.keys[number, :, :end], self.values[number, :, :end]
        scores = self._product(queries, keys.transpose(0, 2, 1)) * queries.shape[-1] ** -0.5
        if self.masked:
            seen = np.tri(queries.shape[1], end, self.held, dtype=bool)
            scores = np.where(seen, scores, -1e9)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        return self._product(shares, values).transpose(1, 0, 2).reshape(queries.shape[1], -1)

    def _product(self, a: Any, b: Any) -> Any:
        began = perf_counter()
        product = a @ b
        self.table_s += perf_counter() - began
        return product


def _unit(x: Any) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def _gelu(inner: Any) -> Any:
    return inner * 0.5 * (np.tanh(GELU_INNER * (inner + 0.044715 * inner**3)) + 1)


def table_share(seed: int, tokens: int) -> float:
    """Share of the time of one pass over `tokens` tokens that goes into products; the middle one of three passes."""
    from claims.experiments.request_times import shape
    from implementations.inference.weights import Weights

    weights = Weights.random(shape(), RepeatedNormals(seed))
    shares = []
    for _ in range(4):
        model = PlainDecoder(weights, tokens)
        began = perf_counter()
        model([0] * tokens)
        shares.append(model.table_s / (perf_counter() - began))
    return sorted(shares[1:])[1]


def table_shares(processes: int, tokens: int) -> list[float]:
    """What `table_share` measures, one a process."""
    from claims.experiments.fresh_process import in_fresh_process

    target = "claims.experiments.plain_decoder:table_share"
    return [in_fresh_process(target, seed=seed, tokens=tokens) for seed in range(processes)]
