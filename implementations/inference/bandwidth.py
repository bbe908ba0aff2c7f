"""What this machine can do at most: bytes read a second, and float32 operations of a matrix product a second.

Follows: the roofline model (Williams et al., 2009). A ceiling is the *fastest* of several ways and of all rounds, so
that what is held against it is not flattered by a slow moment of the machine. Threads are whatever BLAS was given.
Leaves out: writes, strides, latencies, and a ceiling that is known from the processor's data sheet.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from implementations.inference.float32 import Float32Array

MIB = 1 << 20


class ReadCeiling:
    """Reads a buffer in three ways: a dot product of its halves, a product with a vector, and a maximum.

    Args:
        n_bytes: size of the buffer; as large as what is held against the ceiling, since caches differ with size.

    Attributes:
        bytes_per_s: the most seen so far; 0 before the first round.

    Raises:
        ValueError: a buffer below a MiB.
    """

    COLUMNS = 4096

    def __init__(self, n_bytes: int) -> None:
        if n_bytes < MIB:
            raise ValueError(f"n_bytes must be at least {MIB}, got {n_bytes}")
        rows = n_bytes // (4 * self.COLUMNS)
        # Ones and not zeros: pages never written share one page of zeros, which would be read from the cache.
        self._buffer = np.ones((rows - rows % 2, self.COLUMNS), np.float32)
        self._vector = np.ones(self.COLUMNS, np.float32)
        self.bytes_per_s = 0.0

    def round(self) -> float:
        """Read it in each way once.

        Returns:
            Bytes a second of the fastest.
        """
        first, second = self._buffer.reshape(2, -1)
        seconds = (
            _seconds(np.dot, first, second),
            _seconds(np.matmul, self._buffer, self._vector),
            _seconds(np.max, self._buffer),
        )
        found = self._buffer.nbytes / min(seconds)
        self.bytes_per_s = max(self.bytes_per_s, found)
        return found


class ProductCeiling:
    """Multiplies matrices of a few shapes: squares, and whatever the caller adds.

    Args:
        shapes: further (rows, inner, columns) to try.

    Attributes:
        flops_per_s: the most seen so far; 0 before the first round.

    Raises:
        ValueError: a size below one.
    """

    SQUARES = ((1024, 1024, 1024), (2048, 2048, 2048))

    def __init__(self, *shapes: tuple[int, int, int]) -> None:
        if any(min(shape) < 1 for shape in shapes):
            raise ValueError(f"shapes {shapes}; every size must be at least 1")
        rng = np.random.default_rng(0)
        self._pairs = [
            (rng.random((rows, inner), dtype=np.float32), rng.random((inner, columns), dtype=np.float32))
            for rows, inner, columns in (*self.SQUARES, *shapes)
        ]
        self.flops_per_s = 0.0

    def round(self) -> float:
        """Multiply each pair once.

        Returns:
            Operations a second of the fastest.
        """
        rates = (2 * left.size * right.shape[1] / _seconds(np.matmul, left, right) for left, right in self._pairs)
        found = float(max(rates))
        self.flops_per_s = max(self.flops_per_s, found)
        return found


def _seconds(work: Callable[..., object], *operands: Float32Array) -> float:
    began = perf_counter()
    work(*operands)
    return perf_counter() - began
