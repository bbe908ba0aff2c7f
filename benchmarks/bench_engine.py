"""Tokens a second of the engine beside one whose model is as the post describes it.

    pytest benchmarks/bench_engine.py      both models on one burst, as two benchmark entries
    python benchmarks/bench_engine.py      the two interleaved on seven, and the ratio of each pair

Both run under the same loop, scheduler, trace, pool and model size; what differs is the model's arithmetic: float64
weights and a Python loop over requests against float32 and a walk over the blocks. BLAS gets one thread.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import random
import statistics
import sys
import time

import numpy as np
import pytest

from implementations.itl.config import EngineConfig
from implementations.itl.decoder import Decoder, Shape
from implementations.itl.engine import Engine
from implementations.itl.trace import arrivals

SECONDS, OFFERED_PER_S = 1.5, 30.0
PAIRS = 7


class DescribedDecoder:
    """Weights promoted to float64 by a NumPy scalar, each request's cache in arrays of its own, attended one by one.

    A request is recognised by its first block, which nobody else holds while it runs.
    """

    def __init__(self, seed: int = 0, shape: Shape | None = None) -> None:
        self.shape = shape = shape or Shape()
        rng = np.random.default_rng(seed)
        self.embedding = rng.standard_normal((shape.vocabulary, shape.width), dtype=np.float32)
        self.layers = [
            {
                "qkv": self._matrix(rng, shape.width, 3 * shape.width),
                "out": self._matrix(rng, shape.width, shape.width),
                "up": self._matrix(rng, shape.width, shape.hidden),
                "down": self._matrix(rng, shape.hidden, shape.width),
            }
            for _ in range(shape.layers)
        ]
        self.mask = np.triu(np.full((shape.positions, shape.positions), -1e9, np.float32), k=1)
        self.caches: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def prefill(self, tokens, start, table, last=True):
        """One dense masked product over everything cached so far; the whole square is computed."""
        end = start + len(tokens)
        keys, values = self._cache(table, start, end)
        hidden = self.embedding[list(tokens)]
        for number, layer in enumerate(self.layers):
            query, key, value = np.split(hidden @ layer["qkv"], 3, axis=1)
            keys[number, start:end], values[number, start:end] = key, value
            scores = query @ keys[number, :end].T * (1 / np.sqrt(self.shape.width))
            scores += self.mask[start:end, :end]
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores /= scores.sum(axis=1, keepdims=True)
            hidden = self._rest(layer, hidden, scores @ values[number, :end])
        return int(self._tokens(hidden[-1:])[0]) if last else None

    def decode(self, tokens, lengths, tables, captured):
        """A padded batch, or every request by itself; attention loops over the requests either way."""
        caches = [self._cache(table, length, length + 1) for table, length in zip(tables, lengths)]
        if captured is None:
            alone = zip(tokens, lengths, caches)
            return [self._batch([token], [length], [cache])[0] for token, length, cache in alone]
        filler = captured - len(tokens)
        rows = [part + part[:1] * filler for part in (list(tokens), list(lengths), caches)]
        return self._batch(*rows)[: len(tokens)]

    def copy_out(self, table, tokens):
        """Copy the used part."""
        return tuple(cache[:, :tokens].copy() for cache in self.caches.pop(table[0]))

    def copy_in(self, table, saved):
        """Copy it into new arrays with room to grow."""
        room = [np.zeros((part.shape[0], 2 * part.shape[1], part.shape[2]), np.float32) for part in saved]
        for array, part in zip(room, saved):
            array[:, : part.shape[1]] = part
        self.caches[table[0]] = tuple(room)

    @staticmethod
    def _matrix(rng, rows, columns):
        return rng.standard_normal((rows, columns), dtype=np.float32) * (1 / np.sqrt(np.float64(rows)))

    def _cache(self, table, start, end):
        if start == 0:
            shape = (self.shape.layers, 2 * max(256, end), self.shape.width)
            self.caches[table[0]] = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        keys, values = self.caches[table[0]]
        if keys.shape[1] < end:
            grow = ((0, 0), (0, end), (0, 0))
            keys, values = self.caches[table[0]] = np.pad(keys, grow), np.pad(values, grow)
        return keys, values

    def _batch(self, tokens, lengths, caches):
        hidden = self.embedding[tokens]
        for number, layer in enumerate(self.layers):
            query, key, value = np.split(hidden @ layer["qkv"], 3, axis=1)
            attended = np.empty_like(query)
            for row, ((keys, values), length) in enumerate(zip(caches, lengths)):
                keys[number, length], values[number, length] = key[row], value[row]
                scores = keys[number, : length + 1] @ query[row] * (1 / np.sqrt(self.shape.width))
                shares = np.exp(scores - scores.max())
                attended[row] = (shares / shares.sum()) @ values[number, : length + 1]
            hidden = self._rest(layer, hidden, attended)
        return self._tokens(hidden)

    @staticmethod
    def _rest(layer, hidden, attended):
        hidden = hidden + attended @ layer["out"]
        return hidden + np.maximum(hidden @ layer["up"], 0) @ layer["down"]

    def _tokens(self, hidden):
        sums = hidden[:, :8].sum(axis=1)
        return (np.abs(sums * 1000).astype(np.int64) % self.shape.vocabulary).tolist()


MODELS = {"ours": Decoder, "described": DescribedDecoder}


def serve(model: str, seed: int) -> tuple[float, float]:
    """Serve a burst that no model keeps up with; tokens a second, of the wall and of the processor."""
    engine = Engine(EngineConfig(), MODELS[model](), arrivals(seed, SECONDS, OFFERED_PER_S))
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    tokens = len(engine.run().emission["time_s"])
    return tokens / (time.perf_counter() - wall_s), tokens / (time.process_time() - cpu_s)


@pytest.mark.parametrize("model", MODELS)
def test_saturated_burst(benchmark, model):
    """Time to serve the burst; tokens a second in the entry's extra information."""
    speeds = []
    benchmark.pedantic(lambda: speeds.append(serve(model, seed=1)[0]), rounds=3)
    benchmark.extra_info["tokens_per_s"] = statistics.median(speeds)


def main() -> None:
    """Print each pair and the median ratios."""
    ratios: dict[str, list[float]] = {"wall": [], "processor": []}
    for pair in range(PAIRS):
        order = random.Random(pair).sample(list(MODELS), 2)
        speeds = {model: serve(model, seed=pair + 1) for model in order}
        line = [f"{order[0]} first"]
        for name, ours, described in zip(ratios, speeds["ours"], speeds["described"]):
            ratios[name].append(ours / described)
            line.append(f"{name} {ours:.0f} / {described:.0f} = {ours / described:.2f}")
        sys.stdout.write("   ".join(line) + "\n")
    for name, found in ratios.items():
        sys.stdout.write(f"{name}: median {statistics.median(found):.2f}, {min(found):.2f} to {max(found):.2f}\n")


if __name__ == "__main__":
    main()
