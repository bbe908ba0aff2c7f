"""A decoder's forward pass in loops over single numbers that count what is done with them: it shares no code.

Nothing of it is an array and nothing is a formula of sizes: each multiply and each add of a product with a matrix or
with the cache happens, one at a time, on a number that counts it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from implementations.inference.weights import Layer, Weights

Row = list["Counted"]


class Counted:
    """A number that counts its multiplications and additions.

    Args:
        value: the number.
        ledger: where they are counted, as "multiply" and "add".
    """

    __slots__ = ("ledger", "value")

    def __init__(self, value: float, ledger: Counter[str]) -> None:
        self.value = value
        self.ledger = ledger

    def __mul__(self, other: Counted) -> Counted:
        self.ledger["multiply"] += 1
        return Counted(self.value * other.value, self.ledger)

    def __add__(self, other: Counted) -> Counted:
        self.ledger["add"] += 1
        return Counted(self.value + other.value, self.ledger)


def numbers(values: Iterable[float], ledger: Counter[str]) -> Row:
    """Counted numbers of these values."""
    return [Counted(float(value), ledger) for value in values]


def through_matrix(vector: Row, matrix: Sequence[Row], from_zero: bool = True) -> Row:
    """A vector (r,) through a matrix of r rows: a running total a column.

    Args:
        vector: r numbers.
        matrix: r rows of c numbers.
        from_zero: start each total at 0 and add every product to it (r additions), or start it at the first product
            (r - 1).

    Returns:
        c numbers.
    """
    result = []
    for column in range(len(matrix[0])):
        products = [number * row[column] for number, row in zip(vector, matrix, strict=True)]
        total = Counted(0.0, vector[0].ledger) if from_zero else products.pop(0)
        for product in products:
            total = total + product
        result.append(total)
    return result


def last_token_counts(weights: Weights, tokens: Sequence[int]) -> tuple[list[float], dict[str, int]]:
    """Logits after the last token, and the operations of that token by part: products with tables and cache only.

    Earlier tokens are computed the same way, and their operations dropped.
    """
    model = _Loops(weights)
    logits: list[float] = []
    for position, token in enumerate(tokens):
        model.parts.clear()
        logits = model.read(token, position)
    return logits, dict(model.parts)


class _Loops:
    """The pass of one token after another, with its cache as lists."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.shape = weights.shape
        self.parts: Counter[str] = Counter()
        self.caches: list[tuple[list[list[float]], list[list[float]]]] = [([], []) for _ in weights.layers]

    def read(self, token: int, position: int) -> list[float]:
        x = [float(a) + float(b) for a, b in zip(self.weights.embedding[token], self.weights.position[position])]
        for layer, cache in zip(self.weights.layers, self.caches):
            x = _sum(x, self._attention(layer, _normal(x), *cache))
            inner = [_gelu(one) for one in self._table("up", _normal(x), layer.up)]
            x = _sum(x, self._table("down", inner, layer.down))
        return self._table("head", _normal(x), self.weights.head)

    def _table(self, part: str, vector: Sequence[float], matrix: Iterable[Iterable[float]]) -> list[float]:
        ledger: Counter[str] = Counter()
        rows = [numbers(row, ledger) for row in matrix]
        result = through_matrix(numbers(vector, ledger), rows)
        self.parts[part] += ledger.total()
        return [one.value for one in result]

    def _attention(
        self, layer: Layer, x: Sequence[float], keys: list[list[float]], values: list[list[float]]
    ) -> list[float]:
        width, heads = self.shape.width, self.shape.heads
        qkv = self._table("qkv", x, layer.qkv)
        keys.append(qkv[width : 2 * width])
        values.append(qkv[2 * width :])
        size = width // heads
        joined: list[float] = []
        for head in range(heads):
            columns = slice(head * size, (head + 1) * size)
            query = [one / math.sqrt(size) for one in qkv[:width][columns]]
            joined += self._one_head(query, [row[columns] for row in keys], [row[columns] for row in values])
        return self._table("out", joined, layer.out)

    def _one_head(self, query: list[float], keys: list[list[float]], values: list[list[float]]) -> list[float]:
        scores = self._table("cache", query, list(zip(*keys)))
        weights = [math.exp(score - max(scores)) for score in scores]
        return self._table("cache", [weight / sum(weights) for weight in weights], values)


def _sum(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _normal(x: Sequence[float]) -> list[float]:
    mean = sum(x) / len(x)
    variance = sum((one - mean) ** 2 for one in x) / len(x)
    return [(one - mean) / math.sqrt(variance + 1e-5) for one in x]


def _gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
