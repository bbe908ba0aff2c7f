"""Where the time of one token goes, by part and by length of the cache, in GPT-2 small with random weights."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from claims.experiments.fresh_process import in_fresh_process
from claims.experiments.repeated_normals import RepeatedNormals

TOKENS = {128: 30, 1024: 10, 8192: 6}  # timed a repetition; a long cache is as good as several short ones
REPEATS = 3
WARM_UP = 2  # tokens


def processes(count: int) -> list[dict[str, Any]]:
    """What `token_times` measures, one a process."""
    return [in_fresh_process("claims.experiments.part_times:token_times", seed=seed) for seed in range(count)]


def token_times(seed: int) -> dict[str, Any]:
    """Milliseconds of a token by length of the cache, in all and by part: the middle one of three repetitions.

    The lengths take turns, so that a slow moment of the machine meets them all.
    """
    from claims.experiments.counted_tokens import gpt2_small
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.part_clock import PartClock
    from implementations.inference.weights import Weights

    normals = RepeatedNormals(seed)
    weights = Weights.random(gpt2_small(), normals)
    cache = Cache(gpt2_small())
    cache.fill(max(TOKENS), normals)
    runs: dict[int, list[dict[str, float]]] = {notes: [] for notes in TOKENS}
    for notes in TOKENS:
        clock = PartClock()
        _feed(Decoder(weights, clock.mark), cache, notes, WARM_UP, clock)
    for _ in range(REPEATS):
        for notes, tokens in TOKENS.items():
            clock = PartClock()
            _feed(Decoder(weights, clock.mark), cache, notes, tokens, clock)
            runs[notes].append({part: 1e3 * seconds / tokens for part, seconds in clock.seconds.items()})
    middle = {
        notes: sorted(found, key=lambda parts: sum(parts.values()))[REPEATS // 2] for notes, found in runs.items()
    }
    return {"parts_ms": {str(notes): parts for notes, parts in middle.items()}, "element_us": element_us()}


def _feed(decoder: Any, cache: Any, notes: int, tokens: int, clock: Any) -> None:
    for token in range(tokens):
        cache.length_tokens = notes - 1  # every token attends to as many
        decoder.extend([token], cache)
        clock.stop()


def element_us() -> dict[str, float]:
    """Microseconds of one elementwise product, by the number of elements."""
    found = {}
    for size in (1, 768):
        a, out = np.ones(size, np.float32), np.empty(size, np.float32)
        rounds = []
        for _ in range(15):
            began = perf_counter()
            for _ in range(2000):
                np.multiply(a, a, out=out)
            rounds.append((perf_counter() - began) / 2000)
        found[str(size)] = 1e6 * median(rounds)
    return found


def repetition_ms(seed: int, tokens: int, repetitions: int) -> list[float]:
    """Milliseconds a token of each of several repetitions of `tokens` passes, in a model of two layers."""
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    rng = np.random.default_rng(seed)
    shape = Shape(layers=2, width=768, heads=12, hidden=3072, vocabulary=256)
    decoder, cache = Decoder(Weights.random(shape, rng)), Cache(shape)
    cache.fill(128, rng)
    found = []
    for _ in range(1 + repetitions):
        began = perf_counter()
        for token in range(tokens):
            cache.length_tokens = 127
            decoder.extend([token], cache)
        found.append(1e3 * (perf_counter() - began) / tokens)
    return found[1:]


def repetitions_by_process(count: int, tokens: int, repetitions: int) -> list[list[float]]:
    """What `repetition_ms` measures, one list a process."""
    target = "claims.experiments.part_times:repetition_ms"
    return [in_fresh_process(target, seed=seed, tokens=tokens, repetitions=repetitions) for seed in range(count)]
