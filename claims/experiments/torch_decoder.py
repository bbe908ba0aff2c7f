"""The same decoder in torch, on the same weights: an oracle, a second counter and a competitor.

It is written as one would write it in torch (linear layers, `layer_norm`, `gelu`, fused attention or its two products),
so that it shares no line with the one in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from implementations.inference.weights import Weights

Tensor = torch.Tensor


class TorchDecoder:
    """Reads stretches of a sequence; keeps keys and values by layer.

    Args:
        weights: of the NumPy decoder; the memory is copied, each matrix as (out, in), which is torch's habit.
        fused: use `scaled_dot_product_attention`, or the two products and the softmax one by one.
        room_tokens: most tokens it can hold.
    """

    def __init__(self, weights: Weights, fused: bool = True, room_tokens: int | None = None) -> None:
        self.shape = shape = weights.shape
        self.fused = fused
        self.embedding, self.position = _tensor(weights.embedding), _tensor(weights.position)
        self.head = _tensor(weights.head.T)
        self.layers = [
            {name: _tensor(getattr(layer, name).T) for name in ("qkv", "out", "up", "down")} for layer in weights.layers
        ]
        cells = (shape.layers, shape.kv_heads, room_tokens or shape.positions, shape.head_width)
        self.keys, self.values = torch.zeros(cells), torch.zeros(cells)
        self.length = 0

    @torch.no_grad()
    def extend(self, tokens: Any, every: bool = False) -> Tensor:
        """Logits after the last token (1, v), or after every one (n, v)."""
        ids = torch.as_tensor(np.asarray(tokens))
        end = self.length + len(ids)
        x = functional.embedding(ids, self.embedding) + self.position[self.length : end]
        for number, layer in enumerate(self.layers):
            x = x + functional.linear(self._attention(number, layer, self._norm(x), end), layer["out"])
            x = x + functional.linear(self._active(functional.linear(self._norm(x), layer["up"])), layer["down"])
        self.length = end
        return functional.linear(self._norm(x if every else x[-1:]), self.head)

    def fill(self, tokens: int, seed: int = 0) -> None:
        """Pretend that so many tokens were read."""
        generator = torch.Generator().manual_seed(seed)
        self.keys.normal_(generator=generator)
        self.values.normal_(generator=generator)
        self.length = tokens

    def _norm(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x, (self.shape.width,), eps=1e-5)

    def _active(self, inner: Tensor) -> Tensor:
        if not self.shape.gated:
            return functional.gelu(inner, approximate="tanh")
        gate, other = inner.chunk(2, dim=-1)
        return functional.silu(gate) * other

    def _attention(self, number: int, layer: dict[str, Tensor], x: Tensor, end: int) -> Tensor:
        shape, n = self.shape, len(x)
        sizes = (shape.width, shape.kv_width, shape.kv_width)
        query, key, value = (
            one.view(n, -1, shape.head_width).transpose(0, 1)
            for one in functional.linear(x, layer["qkv"]).split(sizes, dim=-1)
        )
        self.keys[number, :, self.length : end], self.values[number, :, self.length : end] = key, value
        keys, values = self.keys[number, :, :end], self.values[number, :, :end]
        seen = torch.ones(n, end, dtype=torch.bool).tril(end - n) if n > 1 else None
        if self.fused:
            attended = functional.scaled_dot_product_attention(
                query[None], keys[None], values[None], attn_mask=seen, enable_gqa=shape.kv_heads != shape.heads
            )[0]
        else:
            attended = self._by_products(query, keys, values, seen)
        return attended.transpose(0, 1).reshape(n, shape.width)

    def _by_products(self, query: Tensor, keys: Tensor, values: Tensor, seen: Tensor | None) -> Tensor:
        group = self.shape.heads // self.shape.kv_heads
        keys, values = keys.repeat_interleave(group, dim=0), values.repeat_interleave(group, dim=0)
        scores = query @ keys.transpose(1, 2) / self.shape.head_width**0.5
        if seen is not None:
            scores = scores.masked_fill(~seen, float("-inf"))
        return scores.softmax(dim=-1) @ values


def _tensor(array: Any) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array).copy())
