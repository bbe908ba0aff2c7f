"""Attention of new tokens over a cache, in tiles that stay in the processor's cache.

Follows: Vaswani et al. (2017), scaled dot product with a causal mask; grouped queries (Ainslie et al., 2023); the
division by the sum of the weights put off until the values are blended (Dao et al., 2022), where it is over a head's
width and not over all scores.
Leaves out: a running maximum over stretches of the cache; a tile sees all of it at once.

Shapes are written with k key/value heads, g query heads to each, n rows, m rows of a tile, t cached tokens, c columns
of a head.
"""

from collections.abc import Callable, Iterator

import numpy as np

from implementations.inference.float32 import Float32Array

TILE_BYTES = 1 << 19  # scores of a tile; they are passed over five times
TILE_ROWS = 128
FEWEST_ROWS = 16
_LATER = np.triu(np.ones((TILE_ROWS, TILE_ROWS), np.bool_), 1)  # what a row of a tile must not see


def unmarked(part: str) -> None:
    """Takes no note of which part of the work begins."""


def attend(
    queries: Float32Array, keys: Float32Array, values: Float32Array, mark: Callable[[str], None] = unmarked
) -> Float32Array:
    """Blend the values by the softmax of the scores, each row over itself and what came before it.

    Args:
        queries: already scaled, (k, g, n, c): the last n of the t tokens.
        keys: (k, t, c).
        values: (k, t, c).
        mark: is told where reading the cache ("cache") and the softmax ("other") begin.

    Returns:
        (k, g, n, c).

    Raises:
        ValueError: other shapes, no row, or more rows than tokens.
    """
    fits = queries.ndim == 4 and keys.ndim == 3 and keys.shape == values.shape
    fits = fits and (keys.shape[0], keys.shape[2]) == (queries.shape[0], queries.shape[3])
    if not fits or not 1 <= queries.shape[2] <= keys.shape[1]:
        raise ValueError(
            f"queries {queries.shape}, keys {keys.shape}, values {values.shape}; "
            "give (k, g, n, c) and twice (k, t, c), n from 1 to t"
        )
    n, tokens = queries.shape[2], keys.shape[1]
    attended = np.empty_like(queries)
    for heads, rows in _tiles(queries.shape, tokens):
        seen = tokens - n + rows.stop
        tile = queries[heads, :, rows]  # (k, g, m, c)
        attended[heads, :, rows] = _attend_tile(tile, keys[heads, :seen], values[heads, :seen], mark)
    return attended


def _tiles(shape: tuple[int, ...], tokens: int) -> Iterator[tuple[slice, slice]]:
    """Heads and rows of each tile: as many rows as fit, and further heads only where all rows do."""
    kv_heads, group, n, _ = shape
    affordable = TILE_BYTES // (4 * group * tokens)
    step = min(n, max(FEWEST_ROWS, min(TILE_ROWS, affordable)))
    heads_step = max(1, affordable // step)
    for top in range(0, n, step):
        for head in range(0, kv_heads, heads_step):
            yield slice(head, head + heads_step), slice(top, min(top + step, n))


def _attend_tile(
    tile: Float32Array, keys: Float32Array, values: Float32Array, mark: Callable[[str], None]
) -> Float32Array:
    kv_heads, group, rows, _ = tile.shape
    mark("cache")
    by_row = tile.reshape(kv_heads, group * rows, -1)  # (k, g, m, c) -> (k, gm, c)
    scores: Float32Array = by_row @ keys.transpose(0, 2, 1)  # (k, gm, c) @ (k, c, t) -> (k, gm, t)
    mark("other")
    if rows > 1:
        last = scores.reshape(kv_heads, group, rows, -1)[..., -rows:]  # (k, g, m, m)
        np.copyto(last, -np.inf, where=_LATER[:rows, :rows])
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)  # (k, gm, 1)
    mark("cache")
    blended = scores @ values  # (k, gm, t) @ (k, t, c) -> (k, gm, c)
    mark("other")
    blended /= total
    return blended.reshape(tile.shape)
