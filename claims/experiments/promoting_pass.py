"""A forward pass that divides its scores by whatever it is told: by a NumPy scalar, which promotes, or a Python float.

A small rendition of the post's bug on our weights and without our guard: the sums are not written in place, since in
place they would hide it.
"""

from __future__ import annotations

import math
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from claims.experiments.fresh_process import in_fresh_process
from claims.experiments.repeated_normals import RepeatedNormals

if TYPE_CHECKING:
    from implementations.inference.weights import Weights

PROMPT, WRITTEN = 256, 8
ROUNDS = 3


def divisor(name: str, head_width: int) -> Any:
    """The root of the head width, as a "numpy" scalar of float64 or as a "python" float."""
    return np.sqrt(head_width) if name == "numpy" else math.sqrt(head_width)


class PromotingPass:
    """Reads a stretch of a sequence and gives the hidden states after it.

    Args:
        weights: any whose shape has neither grouped queries nor gates.
        divisor: of the scores.
        look: is called with the hidden states before the first layer and after each.
    """

    def __init__(self, weights: Weights, divisor: Any, look: Any = None) -> None:
        self.weights, self.divisor = weights, divisor
        self.look = look or (lambda *_: None)
        shape = weights.shape
        cells = (shape.layers, shape.heads, shape.positions, shape.head_width)
        self.keys, self.values = np.zeros(cells, np.float32), np.zeros(cells, np.float32)
        self.length = 0
        self.table_s = 0.0

    def extend(self, tokens: Any) -> Any:
        """Hidden states (n, w) of further tokens."""
        start, end = self.length, self.length + len(tokens)
        x = self.weights.embedding[np.asarray(tokens)] + self.weights.position[start:end]
        self.look(x, "before the layers")
        for number, layer in enumerate(self.weights.layers):
            mixed = self._mixed(number, self._table(_unit(x), layer.qkv), start, end)
            x = x + self._table(mixed, layer.out)
            x = x + self._table(np.maximum(self._table(_unit(x), layer.up), 0), layer.down)
            self.look(x, f"after layer {number}")
        self.length = end
        return x

    def _table(self, x: Any, matrix: Any) -> Any:
        began = perf_counter()
        product = x @ matrix
        self.table_s += perf_counter() - began
        return product

    def _mixed(self, number: int, qkv: Any, start: int, end: int) -> Any:
        n, heads = end - start, self.weights.shape.heads
        by_head = qkv.reshape(n, 3, heads, -1).transpose(1, 2, 0, 3)  # (3, heads, n, c)
        self.keys[number, :, start:end], self.values[number, :, start:end] = by_head[1], by_head[2]
        scores = by_head[0] @ self.keys[number, :, :end].transpose(0, 2, 1) / self.divisor
        scores = np.where(np.tri(n, end, start, dtype=bool), scores, -1e9)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        blended = shares / shares.sum(axis=-1, keepdims=True) @ self.values[number, :, :end]
        return blended.transpose(1, 0, 2).reshape(n, -1)


def _unit(x: Any) -> Any:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)


def tiny_weights(seed: int = 0) -> Weights:
    """A model small enough to run anywhere."""
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    shape = Shape(layers=2, width=64, heads=4, hidden=256, vocabulary=256, positions=64)
    return Weights.random(shape, np.random.default_rng(seed))


def processes(count: int) -> list[dict[str, Any]]:
    """What `pass_times` measures, one a process."""
    return [in_fresh_process("claims.experiments.promoting_pass:pass_times", seed=seed) for seed in range(count)]


def pass_times(seed: int) -> dict[str, Any]:
    """Milliseconds a token of reading and of writing by either divisor, and how the tables fare beside a bare loop.

    Returns:
        By divisor: `read_ms`; the medians of the rounds of `write_ms` and of `gap`, seconds in the tables of one
        written token over those of the same products in a loop of their own. Who reads first changes with the seed.
    """
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    shape = Shape(layers=12, width=768, heads=12, hidden=3072, vocabulary=256, positions=PROMPT + WRITTEN)
    weights = Weights.random(shape, RepeatedNormals(seed))
    prompt = np.random.default_rng(seed).integers(0, 256, PROMPT)
    names = ("numpy", "python") if seed % 2 else ("python", "numpy")
    models = {name: PromotingPass(weights, divisor(name, shape.head_width)) for name in names}
    read_s = {name: _seconds(model, [prompt]) for name, model in models.items()}
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        for name, model in models.items():
            model.length, model.table_s = PROMPT, 0.0
            write_s = _seconds(model, [[token] for token in range(WRITTEN)])
            rounds[name].append((1e3 * write_s / WRITTEN, model.table_s / WRITTEN / _bare_loop_s(weights)))
    return {
        name: {
            "read_ms": 1e3 * read_s[name] / PROMPT,
            **dict(zip(("write_ms", "gap"), map(median, zip(*rounds[name])))),
        }
        for name in names
    }


def _seconds(model: PromotingPass, stretches: Any) -> float:
    began = perf_counter()
    for tokens in stretches:
        model.extend(tokens)
    return perf_counter() - began


def _bare_loop_s(weights: Weights) -> float:
    """Seconds of one float32 token through the tables of all layers and nothing else, the middle one of five."""
    inputs = {size: np.ones((1, size), np.float32) for size in (weights.shape.width, weights.shape.hidden)}
    tables = [getattr(layer, name) for layer in weights.layers for name in ("qkv", "out", "up", "down")]
    rounds = []
    for _ in range(5):
        began = perf_counter()
        for table in tables:
            inputs[len(table)] @ table
        rounds.append(perf_counter() - began)
    return median(rounds)
