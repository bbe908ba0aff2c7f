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
from numpy.typing import NDArray

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
        self._cells = self.shape.layers, self.shape.kv_heads, self.shape.head_width

    def extend(self, tokens: Sequence[int], cache: Cache, every: bool = False) -> Float32Array:
        """Read further tokens of a sequence: all of a prompt, a part of it, or the one that was just written.

        Args:
            tokens: ids, at least one.
            cache: of the sequence; holds what came before, and these tokens afterwards.
            every: logits after each of the tokens and not only after the last.

        Returns:
            Logits (1, v), or (n, v) with `every`.

        Raises:
            ValueError: no token, one beyond the vocabulary or no whole number, more than the cache has room for, or a
                cache of another decoder. The cache is then as before.
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

        Raises:
            ValueError: a negative number of tokens, more than there is room for, or what `extend` refuses.
        """
        if most_tokens < 0:
            raise ValueError(f"most_tokens must be at least 0, got {most_tokens}")
        held = cache.length_tokens if cache else 0
        room = cache.room_tokens if cache else self.shape.positions
        if held + len(prompt) + most_tokens - 1 > room:
            raise ValueError(f"{held + len(prompt)} tokens and {most_tokens} to write do not fit in {room} positions")
        cache = cache or Cache(self.shape, min(self.shape.positions, len(prompt) + max(most_tokens, 1)))
        fed = list(prompt)
        for _ in range(most_tokens):
            fed = [int(self.extend(fed, cache)[-1].argmax())]
            yield fed[0]

    def _looked_up(self, tokens: Sequence[int], cache: Cache) -> Float32Array:
        ids = self._checked(tokens, cache)
        start = cache.length_tokens
        self.mark("lookup")
        x = self.weights.embedding[ids]  # (n,) -> (n, w)
        self.mark("other")
        x += self.weights.position[start : start + len(ids)]
        return x

    def _checked(self, tokens: Sequence[int], cache: Cache) -> NDArray[np.intp]:
        given = np.asarray(tokens)
        if given.ndim != 1 or not len(given):
            raise ValueError(f"tokens must be a sequence of at least one id, got shape {given.shape}")
        if given.dtype.kind not in "iu":
            raise ValueError(f"tokens must be whole numbers, got {given.dtype}, as {given[0]!r}")
        if given.min() < 0 or given.max() >= self.shape.vocabulary:
            wrong = given[(given < 0) | (given >= self.shape.vocabulary)][0]
            raise ValueError(f"token {wrong} is not in the vocabulary, 0 to {self.shape.vocabulary - 1}")
        if (cache.keys.shape[0], cache.keys.shape[1], cache.keys.shape[3]) != self._cells:
            raise ValueError(f"a cache of {cache.shape} for a decoder of {self.shape}")
        room, end = min(cache.room_tokens, self.shape.positions), cache.length_tokens + len(given)
        if end > room:
            raise ValueError(f"{end} tokens do not fit a cache with room for {room}")
        return given.astype(np.intp, copy=False)

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
