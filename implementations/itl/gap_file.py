"""Gaps on disk: one row a gap, read back in blocks, and the order statistics of their lengths.

Follows: radix selection. The bits of floats that are not negative are in the order of the floats, so four passes
that count 16 bits at a time find a rank exactly, whatever the number of gaps.
Leaves out: an order among gaps; they come in that of their last token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from implementations.itl.timeline import BLOCK, LABELS, Floats

GAP = np.dtype(
    [
        ("request", "i8"),  # by number
        ("start_s", "f8"),
        ("end_s", "f8"),
        ("gap_ms", "f8"),
        ("parts_ms", "f8", (len(LABELS),)),
        ("skipped_steps", "i4"),
        ("emitted_while_evicted", "?"),
    ]
)
DIGIT_BITS = 16
DIGITS = 1 << DIGIT_BITS

Gaps = NDArray[np.void]


class GapFile:
    """Rows of `GAP` in a file, and their lengths in another, so that percentiles read an eighth of them.

    Args:
        folder: where the two files go.
    """

    def __init__(self, folder: Path) -> None:
        self._rows = (folder / "gaps").open("w+b")
        self._lengths = (folder / "lengths").open("w+b")
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def __enter__(self) -> GapFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def append(self, gaps: Gaps) -> None:
        """Adds a block of gaps."""
        self._rows.write(gaps.tobytes())
        self._lengths.write(gaps["gap_ms"].tobytes())
        self._n += len(gaps)

    def blocks(self) -> Iterator[Gaps]:
        """Reads the gaps, in the order they were added."""
        self._rows.flush()
        for first in range(0, self._n, BLOCK):
            self._rows.seek(first * GAP.itemsize)
            yield np.frombuffer(self._rows.read(BLOCK * GAP.itemsize), GAP)

    def lengths_ms(self) -> Iterator[Floats]:
        """Reads their lengths, in the same order."""
        self._lengths.flush()
        for first in range(0, self._n, BLOCK):
            self._lengths.seek(8 * first)
            yield np.frombuffer(self._lengths.read(8 * BLOCK), np.float64)

    def percentiles(self, q: Sequence[float]) -> dict[float, float]:
        """Percentiles of the length in ms, interpolated linearly, exact and in bounded memory.

        Raises:
            ValueError: there are no gaps, or a percentile outside 0 to 100.
        """
        if not self._n:
            raise ValueError("no percentile of no gaps: the log has no request with two emissions")
        for percent in q:
            if not 0 <= percent <= 100:
                raise ValueError(f"percentile {percent} is not between 0 and 100")
        rank = (self._n - 1) * np.asarray(q, np.float64) / 100
        below, above = np.floor(rank).astype(int), np.ceil(rank).astype(int)
        found = order_statistics(self.lengths_ms, sorted({*below.tolist(), *above.tolist()}))
        between = [
            float(np.quantile([found[low], found[high]], part)) for low, high, part in zip(below, above, rank - below)
        ]
        return dict(zip(q, between))

    def close(self) -> None:
        """Closes the files; the folder is the caller's."""
        self._rows.close()
        self._lengths.close()


def order_statistics(blocks: Callable[[], Iterable[Floats]], ranks: Sequence[int]) -> dict[int, float]:
    """The values that would stand at some ranks if all blocks were sorted together.

    Args:
        blocks: gives the values anew at each call, float64, none negative or NaN.
        ranks: from 0, each below the number of values.
    """
    prefix = dict.fromkeys(ranks, 0)  # leading bits of the value at each rank
    left = {rank: rank for rank in ranks}  # its rank among the values with those bits
    for shift in range(64 - DIGIT_BITS, -1, -DIGIT_BITS):
        counts = {bits: np.zeros(DIGITS, np.int64) for bits in set(prefix.values())}
        for block in blocks():
            _count_digits(block, shift, counts)
        for rank in ranks:
            up_to = np.cumsum(counts[prefix[rank]])
            digit = int(np.searchsorted(up_to, left[rank], side="right"))
            left[rank] -= int(up_to[digit - 1]) if digit else 0
            prefix[rank] = prefix[rank] << DIGIT_BITS | digit
    return {rank: float(np.array(bits, np.int64).view(np.float64)) for rank, bits in prefix.items()}


def _count_digits(block: Floats, shift: int, counts: dict[int, NDArray[np.int64]]) -> None:
    """Counts the 16 bits from `shift` up, among the values with each prefix above them."""
    upper = block.view(np.int64) >> shift
    for bits, count in counts.items():
        digits = upper[upper >> DIGIT_BITS == bits] & (DIGITS - 1)
        count += np.bincount(digits, minlength=DIGITS)
