"""Batches of tokens through the tables of GPT-2 small's layers: what one pass over the weights costs, and shares.

A trip is one pass of a batch through all tables, as in the post's test of the bus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claims.experiments.fresh_process import in_fresh_process
from claims.experiments.repeated_normals import RepeatedNormals

TABLES, ROWS, COLUMNS = 36, 768, 3072
SMALL_COLUMNS = 384  # a table of 1.2 MB, which the second-level cache holds
ROUNDS = 3

Floats = NDArray[np.float32]


def tables(count: int = TABLES, columns: int = COLUMNS) -> list[Floats]:
    """Tables of normal numbers, each (768, columns)."""
    normals = RepeatedNormals(0)
    return [normals.standard_normal((ROWS, columns)) for _ in range(count)]


def trip(x: Floats, through: Sequence[Floats]) -> Floats:
    """A batch (b, 768) through every table; the last product (b, columns)."""
    product = x
    for table in through:
        product = x @ table
    return product


def processes(count: int, batches: Sequence[int]) -> list[dict[str, Any]]:
    """What `trip_times` measures, one a process."""
    target = "claims.experiments.weight_trips:trip_times"
    return [in_fresh_process(target, seed=seed, batches=list(batches)) for seed in range(count)]


def trip_times(seed: int, batches: Sequence[int]) -> dict[str, Any]:
    """Median seconds of a trip by batch size, and what bounds that of one token.

    Returns:
        `trip_s`: by batch size; `read_share`: bytes a second of a one-token trip over what this machine reads at most;
        `read_bytes_per_s`, `product_flops_per_s`: those ceilings, of reading and of a product of matrices;
        `small_s`: seconds of as many operations on tables that the second-level cache holds; `half_s`: of a one-token
        trip through half of the tables; `float64_s`: of a one-token trip where all is float64.
    """
    from implementations.inference.bandwidth import ProductCeiling, ReadCeiling

    rng = np.random.default_rng(seed)
    big = tables()
    tokens = {batch: rng.standard_normal((batch, ROWS), dtype=np.float32) for batch in batches}
    one = tokens[1]
    small = tables(1, SMALL_COLUMNS) * (TABLES * COLUMNS // SMALL_COLUMNS)
    wide = [table.astype(np.float64) for table in big[: TABLES // 2]]
    work: dict[str, Callable[[], object]] = {
        **{str(batch): _bound(x, big) for batch, x in tokens.items()},
        "small": _bound(one, small),
        "half": _bound(one, big[: TABLES // 2]),
        "float64": _bound(one.astype(np.float64), wide),
    }
    seconds: dict[str, list[float]] = {name: [] for name in work}
    ceiling, peak = ReadCeiling(sum(table.nbytes for table in big)), ProductCeiling((max(batches), ROWS, COLUMNS))
    for call in work.values():
        call()  # its memory is there afterwards
    for _ in range(ROUNDS):
        ceiling.round()
        peak.round()
        for name, call in work.items():
            seconds[name].append(_timed(call))
    middle = {name: median(found) for name, found in seconds.items()}
    return {
        "trip_s": {str(batch): middle[str(batch)] for batch in batches},
        "read_share": sum(table.nbytes for table in big) / min(seconds["1"]) / ceiling.bytes_per_s,
        "read_bytes_per_s": ceiling.bytes_per_s,
        "product_flops_per_s": peak.flops_per_s,
        "small_s": middle["small"],
        "half_s": middle["half"],
        "half_float64_s": middle["float64"],
    }


def _bound(x: Any, through: Sequence[Any]) -> Callable[[], object]:
    return lambda: trip(x, through)


def _timed(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began


def single_product(promoted: bool) -> tuple[Any, Any]:
    """One token and one table, for `product`; the token in float64 or in float32."""
    x = np.ones((1, ROWS), np.float64 if promoted else np.float32)
    return x, tables(1)[0]


def product(x: Any, table: Any) -> Any:
    """One token through one table."""
    return x @ table
