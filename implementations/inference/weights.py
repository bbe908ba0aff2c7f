"""The weights of a decoder, in float32.

Follows: GPT-2's matrices; random, since arithmetic takes as long on random numbers as on trained ones.
Leaves out: biases, the gains of the norms, tied embeddings, training, and reading a published file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from implementations.inference.float32 import Float32Array, float32_only
from implementations.inference.shape import Shape

SCALE = 0.02  # standard deviation of GPT-2's initial weights


@dataclass(frozen=True)
class Layer:
    """Matrices of one layer: qkv (w, w + 2 kv), out (w, w), up (w, inner), down (h, w)."""

    qkv: Float32Array
    out: Float32Array
    up: Float32Array
    down: Float32Array


@dataclass(frozen=True)
class Weights:
    """Weights of a decoder: embedding (v, w), position (positions, w), its layers, head (w, v).

    Raises:
        PromotionError: an array that is not float32, by name.
        ValueError: an array of another shape than its decoder's, by name, or another number of layers.
    """

    shape: Shape
    embedding: Float32Array
    position: Float32Array
    layers: tuple[Layer, ...]
    head: Float32Array

    def __post_init__(self) -> None:
        if len(self.layers) != self.shape.layers:
            raise ValueError(f"{len(self.layers)} layers for a decoder of {self.shape.layers}")
        for name, array in self.named():
            float32_only(name, array)
            if array.shape != self._size(name):
                raise ValueError(f"{name} has shape {array.shape}; it must be {self._size(name)}")

    def _size(self, name: str) -> tuple[int, int]:
        shape, width = self.shape, self.shape.width
        whole = {"embedding": (shape.vocabulary, width), "position": (shape.positions, width)}
        sizes = {**whole, "head": (width, shape.vocabulary), **shape.matrices}
        return sizes[name.rpartition(".")[2]]

    def named(self) -> Iterator[tuple[str, Float32Array]]:
        """Every array with a name to speak of it by."""
        for name in ("embedding", "position", "head"):
            yield name, getattr(self, name)
        for number, layer in enumerate(self.layers):
            for field in fields(Layer):
                yield f"layers[{number}].{field.name}", getattr(layer, field.name)

    def map(self, change: Callable[[Float32Array], Float32Array]) -> "Weights":
        """The same weights with every array put through `change`, such as `float32.watched`."""
        layers = tuple(
            Layer(**{field.name: change(getattr(one, field.name)) for field in fields(Layer)}) for one in self.layers
        )
        return Weights(self.shape, change(self.embedding), change(self.position), layers, change(self.head))

    @property
    def passed_bytes(self) -> int:
        """Bytes of the matrices that one token is multiplied by."""
        in_layers = (getattr(one, field.name) for one in self.layers for field in fields(Layer))
        return int(self.head.nbytes + sum(matrix.nbytes for matrix in in_layers))

    @classmethod
    def random(cls, shape: Shape, rng: np.random.Generator) -> "Weights":
        """Normal weights of the scale GPT-2 starts from."""

        def matrix(rows: int, columns: int) -> Float32Array:
            drawn = rng.standard_normal((rows, columns), dtype=np.float32)
            drawn *= SCALE
            return drawn

        return cls(
            shape,
            embedding=matrix(shape.vocabulary, shape.width),
            position=matrix(shape.positions, shape.width),
            layers=tuple(
                Layer(**{name: matrix(*size) for name, size in shape.matrices.items()}) for _ in range(shape.layers)
            ),
            head=matrix(shape.width, shape.vocabulary),
        )
