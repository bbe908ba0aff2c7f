"""A decoder-only transformer in NumPy, float32 throughout: prefill and decode over a cache.

Follows: GPT-2 (Radford et al., 2019): learned positions, the norm before each part, GELU between two MLP matrices.
With `kv_heads` and `gated` of its shape it has Llama's grouped queries and three-matrix MLP.
Leaves out: what `weights` leaves out; rotary positions and Llama's own norm; sampling (the largest logit wins); batches
of several sequences.

Shapes are written with n new tokens, w width, h hidden, v vocabulary, k key/value heads, g query heads to each, c
columns of a head.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from implementations.inference.activation import gated, gelu, normalised
from implementations.inference.attention import attend, unmarked
from implementations.inference.cache import Cache
from implementations.inference.float32 import Float32Array, float32_only
from implementations.inference.weights import Layer, Weights


class Decoder:
    """The model; what it has read of a sequence lies in that sequence's `Cache`.

    Args:
        weights: its matrices; `weights.map(watched)` makes one that names the line of a promotion.
        mark: is told which part of the work (`flops.PARTS`) begins: `PartClock().mark`, `Tally().mark`.

    Attributes:
        scale: of the queries; a Python float, so that it leaves float32 alone.
    """

    def __init__(self, weights: Weights, mark: Callable[[str], None] = unmarked) -> None:
        self.weights = weights
        self.shape = weights.shape
        self.mark = mark
        self.scale = self.shape.head_width**-0.5

    def extend(self, tokens: Sequence[int], cache: Cache, every: bool = False) -> Float32Array:
        """Read further tokens of a sequence: all of a prompt, a part of it, or the one that was just written.

        Args:
            tokens: ids, at least one.
            cache: of the sequence; holds what came before, and these tokens afterwards.
            every: logits after each of the tokens and not only after the last.

        Returns:
            Logits (1, v), or (n, v) with `every`.

        Raises:
            ValueError: no token, one beyond the vocabulary, or more than the cache has room for. The cache is then as
                before.
            PromotionError: something that is not float32 came out of a product.
        """
        x = self._looked_up(tokens, cache)  # (n, w)
        for number, layer in enumerate(self.weights.layers):
            self._look_back(number, layer, x, cache)
            self._think(number, layer, x)
        cache.advance(len(x))
        last = normalised(x if every else x[-1:])
        return self._through("head", "logits", last, self.weights.head)  # (n, w) -> (n, v)

    def generate(self, prompt: Sequence[int], most_tokens: int, cache: Cache | None = None) -> Iterator[int]:
        """Write on, the likeliest token at a time.

        The first token comes from the logits of the prompt's last one; after the last nothing more is computed.

        Args:
            prompt: ids, at least one.
            most_tokens: how many to write.
            cache: of the sequence so far; a new one by default.

        Yields:
            Ids.
        """
        cache = cache or Cache(self.shape, min(self.shape.positions, len(prompt) + max(most_tokens, 1)))
        fed = list(prompt)
        for _ in range(most_tokens):
            fed = [int(self.extend(fed, cache)[-1].argmax())]
            yield fed[0]

    def _looked_up(self, tokens: Sequence[int], cache: Cache) -> Float32Array:
        ids = np.asarray(tokens, np.intp)
        start, end = cache.length_tokens, cache.length_tokens + len(ids)
        if ids.ndim != 1 or not len(ids):
            raise ValueError(f"tokens must be a sequence of at least one id, got shape {ids.shape}")
        if ids.min() < 0 or ids.max() >= self.shape.vocabulary:
            wrong = ids[(ids < 0) | (ids >= self.shape.vocabulary)][0]
            raise ValueError(f"token {wrong} is not in the vocabulary, 0 to {self.shape.vocabulary - 1}")
        if end > cache.room_tokens:
            raise ValueError(f"{end} tokens do not fit a cache with room for {cache.room_tokens}")
        self.mark("lookup")
        x = self.weights.embedding[ids]  # (n,) -> (n, w)
        self.mark("other")
        x += self.weights.position[start:end]
        return x

    def _look_back(self, number: int, layer: Layer, x: Float32Array, cache: Cache) -> None:
        """Add to x what attention finds."""
        shape, n = self.shape, len(x)
        qkv = self._through("qkv", f"queries, keys and values of layer {number}", normalised(x), layer.qkv)
        queries = qkv[:, : shape.width] * self.scale
        new = qkv[:, shape.width :].reshape(n, 2, shape.kv_heads, shape.head_width)
        self.mark("cache")
        keys, values = cache.write(number, *new.transpose(1, 2, 0, 3))  # (n, 2, k, c) -> 2 of (k, n, c)
        by_head = queries.reshape(n, shape.kv_heads, -1, shape.head_width).transpose(1, 2, 0, 3)  # -> (k, g, n, c)
        attended = attend(by_head, keys, values, self.mark)
        joined = attended.transpose(2, 0, 1, 3).reshape(n, shape.width)  # (k, g, n, c) -> (n, w)
        x += self._through("out", f"output of attention in layer {number}", joined, layer.out)

    def _think(self, number: int, layer: Layer, x: Float32Array) -> None:
        """Add to x what the MLP makes of it."""
        inner = self._through("up", f"inner MLP of layer {number}", normalised(x), layer.up)  # (n, w) -> (n, h or 2h)
        active = gated(inner) if self.shape.gated else gelu(inner)
        x += self._through("down", f"output of the MLP in layer {number}", active, layer.down)  # (n, h) -> (n, w)

    def _through(self, part: str, name: str, x: Float32Array, matrix: Float32Array) -> Float32Array:
        """x @ matrix, charged to a part and checked: one operand of float64 would show here."""
        self.mark(part)
        product = float32_only(name, x @ matrix)
        self.mark("other")
        return product
