"""The pool of KV-cache blocks: which are free, and nothing about what they hold.

Follows: Kwon et al., PagedAttention (2023), section 4.2: fixed-size blocks handed out one by one.
Leaves out: sharing a block between requests (reference counts, copy on write).
"""

import heapq
from collections.abc import Iterable


class BlockPool:
    """Blocks numbered from 0. The lowest free one goes first, which keeps the used part of the cache compact.

    Args:
        size: number of blocks.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"a pool needs at least one block, got {size}")
        self.size = size
        self._free = list(range(size))  # ascending, so already a heap
        self._is_free = bytearray(b"\x01" * size)

    @property
    def n_free(self) -> int:
        """How many blocks nobody holds."""
        return len(self._free)

    def take(self, count: int) -> list[int]:
        """Hand out the ``count`` lowest free blocks.

        Raises:
            ValueError: if fewer are free.
        """
        if count > len(self._free):
            raise ValueError(f"{count} blocks wanted, {len(self._free)} of {self.size} free")
        taken = [heapq.heappop(self._free) for _ in range(count)]
        for block in taken:
            self._is_free[block] = 0
        return taken

    def give_back(self, blocks: Iterable[int]) -> None:
        """Return blocks to the pool.

        Raises:
            ValueError: if one of them is free already.
        """
        for block in blocks:
            if self._is_free[block]:
                raise ValueError(f"block {block} is free already")
            self._is_free[block] = 1
            heapq.heappush(self._free, block)

    def check(self, held: Iterable[list[int]]) -> None:
        """Verify that free and held blocks are together the whole pool, each once.

        Args:
            held: the block table of every holder.

        Raises:
            ValueError: naming how many blocks are lost or held twice.
        """
        tables = [block for table in held for block in table]
        if len(set(tables)) != len(tables):
            raise ValueError(f"{len(tables) - len(set(tables))} blocks are held twice")
        if len(tables) + self.n_free != self.size or any(self._is_free[block] for block in tables):
            raise ValueError(
                f"{self.n_free} free + {len(tables)} held blocks do not make up the {self.size} of the pool"
            )
