"""The losses that boosting descends: value, first and second derivative, and the best constant to start from.

Follows: Friedman 2001, "Greedy function approximation", sections 4.1 to 4.5. The raw score F is the sum of trees: a
prediction for squared error, log odds for log loss, half log odds for the exponential loss.
Leaves out: losses without a second derivative (absolute, Huber), and more than two classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
# The square of a larger target, or a sum of a few squares, may be infinite.
LARGEST_TARGET = 1e150


class Loss(ABC):
    """A loss of a target `y` and a raw score `raw`, both of shape (n,), one value a row."""

    name: str

    @abstractmethod
    def value(self, y: Floats, raw: Floats) -> Floats:
        """The loss of each row."""

    @abstractmethod
    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """Its derivative by the raw score."""

    @abstractmethod
    def curvature(self, y: Floats, raw: Floats) -> Floats:
        """Its second derivative by the raw score, at least 0."""

    @abstractmethod
    def constant(self, y: Floats, weight: Floats) -> float:
        """The raw score that is best if all rows share one."""

    @abstractmethod
    def response(self, raw: Floats) -> Floats:
        """What the raw score says of the target: its mean, or the probability of class 1."""

    def targets(self, y: ArrayLike) -> Floats:
        """`y` as floats of shape (n,).

        Raises:
            ValueError: empty, not one-dimensional, complex, NaN, infinite or beyond 1e150, or no target of this loss.
        """
        array = reals(y)
        if array.ndim != 1 or array.size == 0:
            raise ValueError(f"targets have shape {array.shape}; give one for each of at least one row, shape (n,)")
        if not np.isfinite(array).all():
            raise ValueError(f"target {array[~np.isfinite(array)][0]} among {array.size}; targets must be finite")
        if np.abs(array).max() > LARGEST_TARGET:
            raise ValueError(
                f"a target of size {np.abs(array).max():g}; scale targets down to at most {LARGEST_TARGET:g}"
            )
        return array


class SquaredError(Loss):
    """Half the squared error, so that the negative gradient is the residual."""

    name = "squared error"

    def value(self, y: Floats, raw: Floats) -> Floats:
        """(y - raw)**2 / 2."""
        return 0.5 * (y - raw) ** 2

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """raw - y."""
        return raw - y

    def curvature(self, y: Floats, raw: Floats) -> Floats:  # noqa: ARG002 - the same for every score
        """1."""
        return np.ones_like(y)

    def constant(self, y: Floats, weight: Floats) -> float:
        """The mean."""
        return float(np.average(y, weights=weight))

    def response(self, raw: Floats) -> Floats:
        """The score itself."""
        return raw


class _TwoClasses(Loss):
    """A loss of labels 0 and 1."""

    def targets(self, y: ArrayLike) -> Floats:
        """`y` as floats, all of them 0 or 1, both present.

        Raises:
            ValueError: other labels, one class only, or what every loss refuses.
        """
        array = super().targets(y)
        labels = np.unique(array)
        if labels.tolist() != [0.0, 1.0]:
            raise ValueError(
                f"labels {labels[:5].tolist()}; {self.name} needs two classes, named 0 and 1, both present"
            )
        return array

    def _log_odds(self, y: Floats, weight: Floats) -> float:
        share = float(np.average(y, weights=weight))
        if not 0.0 < share < 1.0:
            raise ValueError(f"class 1 has a share of {share:g} of the weight; {self.name} needs both classes")
        return math.log(share / (1.0 - share))


class LogLoss(_TwoClasses):
    """Negative log likelihood of a label, the raw score being the log odds of class 1."""

    name = "log loss"

    def value(self, y: Floats, raw: Floats) -> Floats:
        """log(1 + e**raw) - y * raw."""
        return np.logaddexp(0.0, raw) - y * raw

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """p - y."""
        p: Floats = expit(raw)
        return p - y

    def curvature(self, y: Floats, raw: Floats) -> Floats:  # noqa: ARG002 - the same for both labels
        """p * (1 - p), at most a quarter."""
        p: Floats = expit(raw)
        return p * (1.0 - p)

    def constant(self, y: Floats, weight: Floats) -> float:
        """The log odds of class 1."""
        return self._log_odds(y, weight)

    def response(self, raw: Floats) -> Floats:
        """The probability of class 1."""
        p: Floats = expit(raw)
        return p


class ExponentialLoss(_TwoClasses):
    """exp(-margin), AdaBoost's loss; the margin is the raw score with the sign of the label."""

    name = "exponential loss"

    def value(self, y: Floats, raw: Floats) -> Floats:
        """exp(-s * raw) with s = 2 * y - 1."""
        return np.exp((1.0 - 2.0 * y) * raw)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """-s * exp(-s * raw)."""
        return (1.0 - 2.0 * y) * self.value(y, raw)

    def curvature(self, y: Floats, raw: Floats) -> Floats:
        """exp(-s * raw)."""
        return self.value(y, raw)

    def constant(self, y: Floats, weight: Floats) -> float:
        """Half the log odds of class 1."""
        return 0.5 * self._log_odds(y, weight)

    def response(self, raw: Floats) -> Floats:
        """The probability of class 1, whose half log odds the score is."""
        p: Floats = expit(2.0 * raw)
        return p


def reals(values: ArrayLike) -> Floats:
    """`values` as floats.

    Raises:
        ValueError: they are no real numbers.
    """
    if np.iscomplexobj(values):
        raise ValueError(f"complex numbers ({np.asarray(values).dtype}); give real ones")
    return np.asarray(values, dtype=np.float64)


LOSSES: tuple[Loss, ...] = (SquaredError(), LogLoss(), ExponentialLoss())
