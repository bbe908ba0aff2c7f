"""One decode step of a batch whose caches are filled, by either path of the engine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from implementations.itl.decoder import Decoder

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Batch:
    """A model with `n` requests in its cache: what each feeds next, its cached length and its blocks."""

    model: Decoder
    tokens: list[int]
    lengths: list[int]
    tables: list[list[int]]


@dataclass(frozen=True)
class Outcome:
    """What a decode step leaves: its tokens, and the cache (layers, blocks, 16, width)."""

    tokens: list[int]
    keys: Floats
    values: Floats


def filled(seed: int, batch: int, context_tokens: int | None = None) -> Batch:
    """A batch with contexts of the given length, or of 5 to 60 tokens where none is given."""
    from implementations.itl.config import blocks_for
    from implementations.itl.decoder import Decoder

    rng = np.random.default_rng(seed)
    lengths = [context_tokens or int(rng.integers(5, 60)) for _ in range(batch)]
    sizes = [blocks_for(length + 1) for length in lengths]
    ends = np.cumsum(sizes)
    tables = [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes)]
    model = Decoder(seed=0, kv_blocks=int(ends[-1]))
    tokens = []
    for length, table in zip(lengths, tables):
        prompt = rng.integers(0, model.shape.vocabulary, length).tolist()
        tokens.append(model.prefill(prompt, 0, table) or 0)
    return Batch(model, tokens, lengths, tables)


def decoded(seed: int, batch: int, captured: int | None) -> Outcome:
    """The outcome of one decode step, padded to `captured` rows or (None) one sequence at a time."""
    found = filled(seed, batch)
    tokens = found.model.decode(found.tokens, found.lengths, found.tables, captured)
    return Outcome(tokens, found.model.keys, found.model.values)


def both_paths(seed: int, batch: int) -> tuple[Outcome, Outcome]:
    """The same step by the captured path and one sequence at a time."""
    return decoded(seed, batch, batch), decoded(seed, batch, None)


def decode_seconds(batch: int, context_tokens: int, captured: int | None, rounds: int) -> list[float]:
    """Seconds of each of `rounds` decode steps of the same batch."""
    found = filled(0, batch, context_tokens)
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        found.model.decode(found.tokens, found.lengths, found.tables, captured)
        seconds.append(time.perf_counter() - began)
    return seconds


def filled_for_timing(batch: int, context_tokens: int, captured: bool) -> tuple[Batch, int | None]:
    """The arguments of `decode` for one path of the engine."""
    return filled(0, batch, context_tokens), batch if captured else None


def decode(found: Batch, captured: int | None) -> list[int]:
    """One decode step of a batch."""
    return found.model.decode(found.tokens, found.lengths, found.tables, captured)
