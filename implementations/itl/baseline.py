"""What a captured decode step of a given size costs: the yardstick of graph excess.

Follows: the decode-step-stall post: least-squares line of collection-free decode time against captured size.
Leaves out: the cost of padding (a batch of 17 run as 24 counts as a captured step) and of context length,
which the line cannot see; beyond the largest captured size it extrapolates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Baseline:
    """Decode time of a captured step, slope_ms * size + intercept_ms.

    Args:
        slope_ms: ms per sequence.
        intercept_ms: ms at size 0.
        only_size: the one size at which it holds, where a single size was seen.
        identifiable: False where there was nothing to fit; then no excess can be told.

    Raises:
        ValueError: the slope or the intercept is not finite.
    """

    slope_ms: float
    intercept_ms: float
    only_size: int | None = None
    identifiable: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope_ms) and math.isfinite(self.intercept_ms)):
            raise ValueError(f"baseline slope {self.slope_ms}, intercept {self.intercept_ms}: both must be finite")

    @property
    def falling(self) -> bool:
        """Whether larger batches would cost less, which no decode does: the fit is not to be trusted."""
        return self.slope_ms < 0

    def at(self, size: NDArray[np.int64]) -> Floats:
        """Decode ms at each size, as the line has it, below zero too; NaN where it says nothing."""
        predicted = np.asarray(self.slope_ms * size + self.intercept_ms, np.float64)
        if not self.identifiable:
            predicted[:] = math.nan
        elif self.only_size is not None:
            predicted[size != self.only_size] = math.nan
        return predicted


NOT_IDENTIFIABLE = Baseline(0.0, 0.0, identifiable=False)


def fit_line(size: NDArray[np.int64], decode_ms: Floats) -> Baseline:
    """Fits the line to captured steps.

    Args:
        size: captured size of each step, shape (n,).
        decode_ms: collection-free decode time of each step, shape (n,).

    Returns:
        `NOT_IDENTIFIABLE` without steps; a baseline for that size alone where all share one.
    """
    if not len(size):
        return NOT_IDENTIFIABLE
    centre, height = float(size.mean()), float(decode_ms.mean())
    if size.min() == size.max():
        return Baseline(0.0, height, only_size=int(size[0]))
    slope = float((size - centre) @ (decode_ms - height)) / float((size - centre) @ (size - centre))
    return Baseline(slope, height - slope * centre)


@dataclass
class LineFit:
    """The fit of `fit_line` over steps that come in blocks: a line needs no more than count and sum by size."""

    steps: dict[int, int] = field(default_factory=dict)
    total_ms: dict[int, float] = field(default_factory=dict)

    def add(self, size: NDArray[np.int64], decode_ms: Floats) -> None:
        """Takes a block of captured steps, as `fit_line` does."""
        sizes, place = np.unique(size, return_inverse=True)
        steps, total_ms = np.bincount(place), np.bincount(place, decode_ms)
        for one, n, ms in zip(sizes.tolist(), steps.tolist(), total_ms.tolist()):
            self.steps[one] = self.steps.get(one, 0) + n
            self.total_ms[one] = self.total_ms.get(one, 0.0) + ms

    def line(self) -> Baseline:
        """The line over all blocks, equal to that of `fit_line` up to rounding."""
        size = np.array(sorted(self.steps), np.float64)
        n = np.array([self.steps[int(one)] for one in size])
        mean_ms = np.array([self.total_ms[int(one)] for one in size]) / n
        if len(size) < 2:
            return Baseline(0.0, float(mean_ms[0]), only_size=int(size[0])) if len(size) else NOT_IDENTIFIABLE
        centre, height = np.average(size, weights=n), np.average(mean_ms, weights=n)
        slope = float(n * (size - centre) @ (mean_ms - height)) / float(n * (size - centre) @ (size - centre))
        return Baseline(slope, float(height - slope * centre))
