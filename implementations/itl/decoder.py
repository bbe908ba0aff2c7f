"""A two-layer transformer over a paged KV cache, in NumPy and float32 throughout.

Follows: Vaswani et al. (2017), decoder only, with the cache in blocks (Kwon et al., PagedAttention, 2023) and
the softmax of each request merged from its blocks (Milakov & Gimelshein, 2018).
Leaves out: normalisation, biases, several heads, sampling (the largest logit wins) and training (weights are
random).

Shapes are written with n rows, w width, h hidden, v vocabulary, t cached tokens, k blocks and 16 tokens a
block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from implementations.itl.config import BLOCK_TOKENS, blocks_for
from implementations.itl.float32 import Float32Array, float32_only

IndexArray = NDArray[np.intp]
BlockTable = Sequence[int]
SavedCache = tuple[Float32Array, Float32Array]

PREFILL_TILE = 256
LATER = np.triu(np.ones((PREFILL_TILE, PREFILL_TILE), np.bool_), 1)  # what a row of a tile must not see


@dataclass(frozen=True)
class Shape:
    """Sizes of the model; of the ``vocabulary`` that it reads it emits the first ``outputs`` (all, if it has fewer)."""

    layers: int = 2
    width: int = 128
    hidden: int = 512
    vocabulary: int = 4096
    outputs: int = 512
    positions: int = 3072


@dataclass(frozen=True)
class Layer:
    """Weights of one layer: qkv (w, 3w), out (w, w), up (w, h), down (h, w)."""

    qkv: Float32Array
    out: Float32Array
    up: Float32Array
    down: Float32Array


@dataclass(frozen=True)
class Weights:
    """Weights of the model: embedding (v, w), position (positions, w), layers, unembedding (w, outputs).

    Raises:
        PromotionError: on construction, naming the array that is not float32.
    """

    embedding: Float32Array
    position: Float32Array
    layers: tuple[Layer, ...]
    unembedding: Float32Array

    def __post_init__(self) -> None:
        for name in ("embedding", "position", "unembedding"):
            float32_only(f"weights.{name}", getattr(self, name))
        for number, layer in enumerate(self.layers):
            for name in ("qkv", "out", "up", "down"):
                float32_only(f"weights.layers[{number}].{name}", getattr(layer, name))

    @classmethod
    def random(cls, shape: Shape, rng: np.random.Generator) -> "Weights":
        """Normal weights, each matrix scaled by the root of its inputs."""

        def matrix(rows: int, columns: int, scale: float) -> Float32Array:
            # A Python float leaves the array as it is; np.sqrt would return a float64 that promotes it.
            return rng.standard_normal((rows, columns), dtype=np.float32) * scale

        width, hidden = shape.width, shape.hidden
        layers = tuple(
            Layer(
                qkv=matrix(width, 3 * width, width**-0.5),
                out=matrix(width, width, width**-0.5),
                up=matrix(width, hidden, width**-0.5),
                down=matrix(hidden, width, hidden**-0.5),
            )
            for _ in range(shape.layers)
        )
        return cls(
            embedding=matrix(shape.vocabulary, width, 1.0),
            position=matrix(shape.positions, width, 1.0),
            layers=layers,
            unembedding=matrix(width, min(shape.outputs, shape.vocabulary), width**-0.5),
        )


class Decoder:
    """The model and its cache. Requests are known to it only by their block tables.

    Args:
        seed: of the random weights.
        kv_blocks: blocks in the cache.
        shape: sizes of the model.
        weights: given instead of a seed.
    """

    def __init__(
        self, seed: int = 0, kv_blocks: int = 1000, shape: Shape | None = None, weights: Weights | None = None
    ) -> None:
        self.shape = shape or Shape()
        self.weights = weights or Weights.random(self.shape, np.random.default_rng(seed))
        cells = (self.shape.layers, kv_blocks, BLOCK_TOKENS, self.shape.width)
        # Zeros and not empty: blocks nobody owns are read (and masked), and must not hold NaN.
        self.keys = np.zeros(cells, np.float32)
        self.values = np.zeros(cells, np.float32)

    def prefill(self, tokens: Sequence[int], start: int, table: BlockTable, last: bool = True) -> int | None:
        """Compute a stretch of a prompt whose first ``start`` tokens are cached.

        Args:
            tokens: ids of the stretch.
            start: its position.
            table: blocks of the request, enough for ``start + len(tokens)``.
            last: whether the prompt ends here.

        Returns:
            The token that follows the prompt, or None before its end.
        """
        x = self._extend(tokens, start, table)
        return int(self._next_tokens(x[-1:])[0]) if last else None

    def decode(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        tables: Sequence[BlockTable],
        captured: int | None,
    ) -> list[int]:
        """Compute one more token of each request.

        Args:
            tokens: the token each request feeds.
            lengths: how many tokens each has cached.
            tables: blocks of each, with room for one more token.
            captured: batch size to pad to (the filler rows repeat the first request and are thrown away), or
                None to compute the requests one at a time.

        Returns:
            The token that follows, a request.
        """
        if captured is None:
            alone = zip(tokens, lengths, tables, strict=True)
            hidden = [self._extend([token], length, table) for token, length, table in alone]
            return [int(self._next_tokens(x)[0]) for x in hidden]
        return self._decode_batch(tokens, lengths, tables, captured - len(tokens))

    def copy_out(self, table: BlockTable, tokens: int) -> SavedCache:
        """Copy a request's cache to memory of its own.

        Args:
            table: its blocks.
            tokens: how many tokens of it are cached.
        """
        used = list(table[: blocks_for(tokens)])
        return self.keys[:, used], self.values[:, used]

    def copy_in(self, table: BlockTable, saved: SavedCache) -> None:
        """Write a saved cache into a request's new blocks."""
        keys, values = saved
        into = list(table[: keys.shape[1]])
        self.keys[:, into] = keys
        self.values[:, into] = values

    def _embed(self, tokens: Sequence[int], positions: IndexArray) -> Float32Array:
        if len(positions) and positions[-1] >= self.shape.positions:
            raise ValueError(f"position {positions[-1]} is beyond the model's {self.shape.positions}")
        return self.weights.embedding[np.asarray(tokens, np.intp)] + self.weights.position[positions]

    def _project(self, number: int, layer: Layer, x: Float32Array) -> tuple[Float32Array, Float32Array, Float32Array]:
        width = self.shape.width
        qkv = float32_only(f"projections of layer {number}", x @ layer.qkv)  # (n, w) -> (n, 3w)
        return qkv[:, :width] * width**-0.5, qkv[:, width : 2 * width], qkv[:, 2 * width :]

    def _store(self, number: int, cells: IndexArray, keys: Float32Array, values: Float32Array) -> None:
        width = self.shape.width
        self.keys[number].reshape(-1, width)[cells] = keys
        self.values[number].reshape(-1, width)[cells] = values

    def _attend_prefix(self, number: int, queries: Float32Array, blocks: IndexArray, start: int) -> Float32Array:
        """Causal attention of the rows from ``start`` on, in tiles so that no masked half is computed."""
        width = self.shape.width
        keys = self.keys[number].take(blocks, axis=0).reshape(-1, width)  # (k, 16, w) -> (t, w)
        values = self.values[number].take(blocks, axis=0).reshape(-1, width)
        attended = np.empty_like(queries)
        for top in range(0, len(queries), PREFILL_TILE):
            tile = queries[top : top + PREFILL_TILE]
            end = start + top + len(tile)
            scores = float32_only("scores", tile @ keys[:end].T)  # (n, w) @ (w, t) -> (n, t)
            scores[:, start + top :][LATER[: len(tile), : len(tile)]] = -np.inf
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=1, keepdims=True)
            np.matmul(scores, values[:end], out=attended[top : top + len(tile)])
        return attended

    def _extend(self, tokens: Sequence[int], start: int, table: BlockTable) -> Float32Array:
        """Compute and cache a stretch of one request; returns its last hidden states (n, w)."""
        end = start + len(tokens)
        blocks = np.array(table[: blocks_for(end)], np.intp)  # (k,)
        positions = np.arange(start, end)
        cells = blocks[positions // BLOCK_TOKENS] * BLOCK_TOKENS + positions % BLOCK_TOKENS  # (n,)
        x = self._embed(tokens, positions)  # (n, w)
        for number, layer in enumerate(self.weights.layers):
            queries, keys, values = self._project(number, layer, x)
            self._store(number, cells, keys, values)
            attended = self._attend_prefix(number, queries, blocks, start)
            x = _mix(layer, x, attended)
        return x

    def _decode_batch(
        self, tokens: Sequence[int], lengths: Sequence[int], tables: Sequence[BlockTable], filler: int
    ) -> list[int]:
        rows = len(tokens)
        fed = [*tokens, *[tokens[0]] * filler]
        positions = np.array([*lengths, *[lengths[0]] * filler])
        walk = BlockWalk.over(tables, positions[:rows] + 1)
        repeated = BlockWalk.over([tables[0]] * filler, positions[rows:] + 1, gather=True) if filler else None
        cells = np.array([table[length // BLOCK_TOKENS] for table, length in zip(tables, lengths)])
        cells = cells * BLOCK_TOKENS + positions[:rows] % BLOCK_TOKENS
        x = self._embed(fed, positions)  # (n, w)
        for number, layer in enumerate(self.weights.layers):
            queries, keys, values = self._project(number, layer, x)
            self._store(number, cells, keys[:rows], values[:rows])
            attended = walk.attend(queries[:rows], self.keys[number], self.values[number])
            if repeated is not None:
                thrown_away = repeated.attend(queries[rows:], self.keys[number], self.values[number])
                attended = np.concatenate([attended, thrown_away])
            x = _mix(layer, x, attended)
        following: list[int] = self._next_tokens(x)[:rows].tolist()
        return following

    def _next_tokens(self, x: Float32Array) -> IndexArray:
        logits = float32_only("logits", x @ self.weights.unembedding)  # (n, w) -> (n, outputs)
        likeliest: IndexArray = logits.argmax(axis=1)
        return likeliest


class BlockWalk:
    """The blocks of a batch of requests in the order in which the cache is read.

    Where the batch owns most of a stretch of the pool, the stretch is walked as it lies in memory, each block
    with the query of its owner: no copy is made and no loop over requests. Otherwise the batch's blocks are
    gathered.

    Args:
        blocks: what to read: a slice of the pool, or block numbers (k,).
        owner: row of the batch each block belongs to (k,); blocks of others belong to row 0 and are masked.
        masked: cells that hold nothing to attend to (k, 16).
        by_request: where, in ``blocks``, the blocks of the requests lie, request by request.
        starts: where each request begins in ``by_request``.

    Attributes:
        owned: whether a block (k) belongs to a row (n), as a matrix (n, k) of ones and zeros that sums over blocks.
    """

    def __init__(
        self,
        blocks: slice | IndexArray,
        owner: IndexArray,
        masked: NDArray[np.bool_],
        by_request: slice | IndexArray,
        starts: IndexArray,
    ) -> None:
        self.blocks = blocks
        self.owner = owner
        self.masked = masked
        self.by_request = by_request
        self.starts = starts
        self.owned = np.zeros((len(starts), len(owner)), np.float32)
        self.owned[owner[by_request], np.arange(len(owner))[by_request]] = 1

    @classmethod
    def over(cls, tables: Sequence[BlockTable], lengths: IndexArray, gather: bool = False) -> "BlockWalk":
        """The walk over the first ``lengths`` tokens of each request's blocks (at least one token each).

        Args:
            tables: blocks of each request.
            lengths: (n,) tokens.
            gather: gather the blocks in any case, as where a block belongs to several rows.
        """
        blocks = np.fromiter(chain.from_iterable(tables), np.intp)  # (k,)
        counts = np.array([len(table) for table in tables], np.intp)
        starts = np.cumsum(counts) - counts
        rows = np.repeat(np.arange(len(tables)), counts)
        index = np.arange(len(blocks)) - starts[rows]  # which block of its request
        filled = lengths[rows] - index * BLOCK_TOKENS  # tokens in it, more than 16 where it is full
        low, high = int(blocks.min()), int(blocks.max()) + 1
        if gather or high - low > 2 * len(blocks):
            return cls(blocks, rows, _beyond(filled), slice(None), starts)
        span_owner, span_filled = np.zeros(high - low, np.intp), np.zeros(high - low, np.intp)
        span_owner[blocks - low] = rows
        span_filled[blocks - low] = filled
        return cls(slice(low, high), span_owner, _beyond(span_filled), blocks - low, starts)

    def attend(self, queries: Float32Array, keys: Float32Array, values: Float32Array) -> Float32Array:
        """Attention of each row over its own blocks.

        Args:
            queries: (n, w), already scaled.
            keys: of one layer, (blocks, 16, w).
            values: like ``keys``.

        Returns:
            (n, w).
        """
        by_owner = queries[self.owner][:, :, None]  # (k, w, 1)
        scores = np.matmul(keys[self.blocks], by_owner)[:, :, 0]  # (k, 16, w) @ (k, w, 1) -> (k, 16)
        scores[self.masked] = -np.inf
        peaks = np.maximum.reduceat(scores[self.by_request].ravel(), self.starts * BLOCK_TOKENS)  # (n,)
        scores -= peaks[self.owner][:, None]
        np.exp(scores, out=scores)
        totals = self.owned @ (scores @ np.ones(BLOCK_TOKENS, np.float32))  # (n, k) @ (k,) -> (n,)
        parts = np.matmul(scores[:, None, :], values[self.blocks])[:, 0]  # (k, 16) @ (k, 16, w) -> (k, w)
        return float32_only("attention over blocks", self.owned @ parts / totals[:, None])  # (n, k) @ (k, w) -> (n, w)


def _beyond(filled: IndexArray) -> NDArray[np.bool_]:
    """(k,) tokens held -> (k, 16) whether each cell lies beyond them."""
    return np.arange(BLOCK_TOKENS) >= filled[:, None]


def _mix(layer: Layer, x: Float32Array, attended: Float32Array) -> Float32Array:
    """The rest of a layer: output projection and two-layer perceptron, each added to its input."""
    x = x + attended @ layer.out  # (n, w)
    perceptron = np.maximum(x @ layer.up, 0) @ layer.down  # (n, w) -> (n, h) -> (n, w)
    return float32_only("output of a layer", x + perceptron)
