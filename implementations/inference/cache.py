"""The keys and values of one sequence, kept for the tokens to come.

Follows: the cache of Pope et al. (2022), one sequence, with room set aside from the start.
Leaves out: blocks and several sequences (`implementations.itl` has both).
"""

import numpy as np

from implementations.inference.float32 import Float32Array
from implementations.inference.shape import Shape


class Cache:
    """Keys and values of one sequence, each (layers, kv heads, room, head width).

    A head's tokens lie side by side, so that reading a head is one walk through memory.

    Args:
        shape: of the decoder.
        room_tokens: most tokens it can hold; the decoder's positions by default.

    Attributes:
        shape: of the decoder.
        length_tokens: how many it holds.

    Raises:
        ValueError: room for no token, or for more than the decoder has positions.
    """

    def __init__(self, shape: Shape, room_tokens: int | None = None) -> None:
        room = shape.positions if room_tokens is None else room_tokens
        if not 1 <= room <= shape.positions:
            raise ValueError(f"room_tokens must be 1 to {shape.positions}, the decoder's positions; got {room}")
        cells = (shape.layers, shape.kv_heads, room, shape.head_width)
        self.shape = shape
        self.keys: Float32Array = np.zeros(cells, np.float32)
        self.values: Float32Array = np.zeros(cells, np.float32)
        self.length_tokens = 0

    @property
    def room_tokens(self) -> int:
        """Most tokens it can hold."""
        return int(self.keys.shape[2])

    @property
    def used_bytes(self) -> int:
        """Bytes of the tokens it holds, which decoding one more token reads."""
        layers, heads, _, width = self.keys.shape
        return 2 * 4 * int(layers * heads * width) * self.length_tokens

    def write(self, layer: int, keys: Float32Array, values: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Write new tokens of one layer behind those held; `advance` makes them count.

        Args:
            layer: its number.
            keys: (kv heads, n, head width).
            values: the same shape.

        Returns:
            Keys and values of all tokens, the new ones last: views (kv heads, t, head width).

        Raises:
            ValueError: there is no room for them, or they are of another shape.
        """
        cells = (self.keys.shape[1], keys.shape[1], self.keys.shape[3])
        if keys.shape != cells or values.shape != cells:
            raise ValueError(
                f"keys {keys.shape} and values {values.shape} for a cache of {self.keys.shape[1:]} a layer"
            )
        start, end = self.length_tokens, self.length_tokens + keys.shape[1]
        if end > self.room_tokens:
            raise ValueError(f"{end} tokens do not fit a cache with room for {self.room_tokens}")
        self.keys[layer, :, start:end] = keys
        self.values[layer, :, start:end] = values
        return self.keys[layer, :, :end], self.values[layer, :, :end]

    def advance(self, tokens: int) -> None:
        """Count this many written tokens as held.

        Raises:
            ValueError: a negative number, or more than there is room for.
        """
        if not 0 <= tokens <= self.room_tokens - self.length_tokens:
            raise ValueError(f"cannot hold {tokens} more tokens; {self.room_tokens - self.length_tokens} are free")
        self.length_tokens += tokens

    def truncate(self, tokens: int) -> None:
        """Forget all but the first `tokens`.

        Raises:
            ValueError: it holds fewer.
        """
        if not 0 <= tokens <= self.length_tokens:
            raise ValueError(f"cannot keep {tokens} tokens of {self.length_tokens}")
        self.length_tokens = tokens

    def fill(self, tokens: int, rng: np.random.Generator) -> None:
        """Pretend that the first `tokens` were computed: normal numbers, the same in every layer.

        Raises:
            ValueError: there is no room for them.
        """
        if not 0 <= tokens <= self.room_tokens:
            raise ValueError(f"{tokens} tokens do not fit a cache with room for {self.room_tokens}")
        for part in (self.keys, self.values):
            part[:, :, :tokens] = rng.standard_normal(part[0, :, :tokens].shape, dtype=np.float32)
        self.length_tokens = tokens
