"""How fast this machine can copy memory and multiply matrices, on as many threads as everything else here.

Kept in the ledger of a run that timed something, so that a comparison of two machines can put beside a ratio what the
machines themselves can do. Not a benchmark: a fifth of a second, the best of a few goes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

COPY_BYTES = 64 * 2**20  # beyond the caches of most processors
ORDER = 384
_GOES = 5


def measure() -> dict[str, float]:
    """Bytes moved a second by a copy (read and written), and floating-point operations a second of a product."""
    source, target = np.ones(COPY_BYTES // 8), np.empty(COPY_BYTES // 8)
    return {
        "copy_bytes_per_s": 2 * COPY_BYTES / _best_s(lambda: np.copyto(target, source)),
        "float64_flops_per_s": _product_flops_per_s(np.float64),
        "float32_flops_per_s": _product_flops_per_s(np.float32),
    }


def _product_flops_per_s(dtype: type[np.floating]) -> float:
    matrix, out = np.ones((ORDER, ORDER), dtype), np.empty((ORDER, ORDER), dtype)
    return 2 * ORDER**3 / _best_s(lambda: np.matmul(matrix, matrix, out=out))


def _best_s(action: Callable[[], object]) -> float:
    action()  # pages are touched and kernels chosen outside the timed part
    return min(_seconds(action) for _ in range(_GOES))


def _seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return max(time.perf_counter() - begin, 1e-9)
