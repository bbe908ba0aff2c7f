"""Parzen estimators over mixed parameters: a density as a weighted sum of kernels, one around each observation.

Follows: Bergstra et al. (2011), and Watanabe, "Tree-Structured Parzen Estimator: Understanding Its Algorithm
Components" (2023), with the choices of Optuna 5: kernels are products over the parameters; a number's kernel is a
Gaussian cut off at the support, as wide as the farther of its two neighbours is away; a stepped number's kernel is that
Gaussian's mass in the cell; a category's kernel is a smoothed indicator; one more kernel, the prior, spans the support.

Densities of logarithmic parameters are over the logarithm. Leaves out: categories with a distance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from implementations.search.space import Categorical, Floats, Numeric, Parameter

Places = NDArray[np.intp]
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
FULL_WEIGHTS = 25


def recency(n: int) -> Floats:
    """Weights of observations, oldest first: the newest 25 count fully, older ones ever less, shape (n,)."""
    ramp = np.linspace(1.0 / n, 1.0, n - FULL_WEIGHTS) if n >= FULL_WEIGHTS else np.empty(0)
    return np.append(ramp, np.ones(min(n, FULL_WEIGHTS)))


@dataclass(frozen=True)
class Bandwidths:
    """How kernels are weighted and how wide they are.

    Args:
        prior_weight: Weight of the prior kernel beside an observation's 1, and the smoothing of categories.
        clip: Whether no kernel may be narrower than 1/min(100, n + 2) of the support, for n observations.
        endpoints: Whether the ends of the support count as neighbours of the outermost observations.
        weights: Weights of n observations, oldest first.

    Raises:
        ValueError: a prior weight that is negative or not finite.
    """

    prior_weight: float = 1.0
    clip: bool = True
    endpoints: bool = False
    weights: Callable[[int], Floats] = recency

    def __post_init__(self) -> None:
        if not 0 <= self.prior_weight < np.inf:
            raise ValueError(f"prior_weight {self.prior_weight}; it must be a finite number of at least 0")


def log_mass(a: Floats, b: Floats) -> Floats:
    """Log of the standard Gaussian's mass between a and b, a < b, stable in both tails; shapes broadcast."""
    flip = a > 0
    left, right = np.where(flip, -b, a), np.where(flip, -a, b)
    upper, lower = log_ndtr(right), log_ndtr(left)
    mass: Floats = upper + np.log1p(-np.exp(lower - upper))
    return mass


def widths(centres: Floats, low: float, high: float, choices: Bandwidths) -> Floats:
    """Kernel widths of observations from their neighbours, shape (n,)."""
    n = len(centres)
    order = np.argsort(centres, kind="stable")
    gaps = np.diff(np.concatenate(([low], centres[order], [high])))  # (n + 1,)
    widest = np.maximum(gaps[:-1], gaps[1:])
    if not choices.endpoints and n >= 2:
        widest[0], widest[-1] = gaps[1], gaps[-2]
    found = np.empty(n)
    found[order] = widest
    least = (high - low) / min(100.0, n + 2.0) if choices.clip else 1e-12
    clipped: Floats = np.clip(found, least, high - low)
    return clipped


class GaussianKernels:
    """Cut-off Gaussians of one numeric parameter, one an observation and the prior last.

    Args:
        parameter: Gives support, coordinates and cells.
        values: Observations, shape (n,).
        choices: Widths.
    """

    def __init__(self, parameter: Numeric, values: Floats, choices: Bandwidths) -> None:
        self._parameter = parameter
        self._low, self._high = parameter.support
        centres = parameter.coordinate(values)
        self.centres = np.append(centres, 0.5 * (self._low + self._high))  # (k,)
        self.widths = np.append(widths(centres, self._low, self._high, choices), self._high - self._low)
        self._ends = (self._low - self.centres) / self.widths, (self._high - self.centres) / self.widths
        self._log_inside = log_mass(*self._ends)

    def log_density(self, values: Floats) -> Floats:
        """Log density (for stepped parameters: log probability) under each kernel, (m,) -> (m, k)."""
        if self._parameter.step is None:
            z = (self._parameter.coordinate(values)[:, None] - self.centres) / self.widths
            density: Floats = -0.5 * z**2 - (_LOG_SQRT_2PI + np.log(self.widths) + self._log_inside)
            return density
        distinct, back = np.unique(values, return_inverse=True)
        left, right = ((edge[:, None] - self.centres) / self.widths for edge in self._parameter.cells(distinct))
        mass: Floats = log_mass(left, right) - self._log_inside
        return mass[back]

    def draw(self, kernels: Places, quantiles: Floats) -> Floats:
        """Values at the given quantiles of the given kernels, (m,), (m,) -> (m,)."""
        a, b, inside = (one[kernels] for one in (*self._ends, self._log_inside))
        # In the right tail the quantile is taken from the other end, where the logarithm of the mass is accurate.
        flip = a > 0
        start, share = np.where(flip, -b, a), np.where(flip, 1.0 - quantiles, quantiles)
        with np.errstate(divide="ignore"):
            z = ndtri_exp(np.logaddexp(log_ndtr(start), np.log(share) + inside))
        z = np.where(flip, -z, z)
        return self._parameter.values(np.clip(self.centres[kernels] + z * self.widths[kernels], self._low, self._high))


class PointKernels:
    """A parameter whose support is a single value, which tells no trial from another."""

    def __init__(self, parameter: Numeric, values: Floats) -> None:
        self._value = float(parameter.low)
        self._n = len(values) + 1

    def log_density(self, values: Floats) -> Floats:
        """0 under each kernel, (m,) -> (m, k)."""
        return np.zeros((len(values), self._n))

    def draw(self, kernels: Places, quantiles: Floats) -> Floats:  # noqa: ARG002 - the arguments of all kernels
        """The value, as often as there are kernels, (m,), (m,) -> (m,)."""
        return np.full(len(kernels), self._value)


class CategoryKernels:
    """Smoothed indicators of one categorical parameter, one an observation and the prior last."""

    def __init__(self, parameter: Categorical, values: Floats, choices: Bandwidths) -> None:
        n = len(values)
        table = np.full((n + 1, len(parameter.choices)), choices.prior_weight / (n + 1))  # (k, categories)
        table[np.arange(n), values.astype(int)] += 1.0
        sums = table.sum(axis=1, keepdims=True)
        self.table = np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), 1.0 / table.shape[1])

    def log_density(self, values: Floats) -> Floats:
        """Log probability under each kernel, (m,) -> (m, k)."""
        with np.errstate(divide="ignore"):
            density: Floats = np.log(self.table.T[values.astype(int)])
        return density

    def draw(self, kernels: Places, quantiles: Floats) -> Floats:
        """Indices of the categories at the given quantiles of the given kernels, (m,), (m,) -> (m,)."""
        cumulative = np.cumsum(self.table[kernels], axis=1)  # (m, categories)
        cumulative[:, -1] = 1.0
        index: Floats = (cumulative < quantiles[:, None]).sum(axis=1).astype(float)
        return index


class ParzenDensity:
    """The density over several parameters.

    Args:
        parameters: By name; categories enter and leave as indices.
        observations: Finite values by name, shape (n,) each, oldest first; n may be 0.
        choices: Weights and widths.

    Raises:
        ValueError: weights that are negative, not finite or all zero, or observations of unequal number.
    """

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        observations: Mapping[str, Floats],
        choices: Bandwidths | None = None,
    ) -> None:
        choices = choices or Bandwidths()
        n = _common_length(observations)
        self.weights = _mixture_weights(n, choices)  # (n + 1,)
        self.kernels = {name: _kernels(one, observations[name], choices) for name, one in parameters.items()}

    def log_density(self, values: Mapping[str, Floats]) -> Floats:
        """Log density at m points given by name, (m,)."""
        total = np.log(self.weights, out=np.full(len(self.weights), -np.inf), where=self.weights > 0)
        for name, kernels in self.kernels.items():
            total = total + kernels.log_density(values[name])  # (m, k)
        return _log_sum(total)

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Floats]:
        """`n` points by name: a kernel each, then one quantile a parameter (categories first)."""
        chosen = rng.choice(len(self.weights), p=self.weights, size=n)
        by_kind = sorted(self.kernels, key=lambda name: not isinstance(self.kernels[name], CategoryKernels))
        drawn = {name: self.kernels[name].draw(chosen, rng.random(n)) for name in by_kind}
        return {name: drawn[name] for name in self.kernels}


def _kernels(
    parameter: Parameter, values: Floats, choices: Bandwidths
) -> GaussianKernels | PointKernels | CategoryKernels:
    if isinstance(parameter, Categorical):
        return CategoryKernels(parameter, values, choices)
    low, high = parameter.support
    return GaussianKernels(parameter, values, choices) if low < high else PointKernels(parameter, values)


def _log_sum(logs: Floats) -> Floats:
    """log(sum(exp)) over the last axis; SciPy's own costs more than all the rest of a density."""
    highest = logs.max(axis=-1, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - highest).sum(axis=-1)) + highest[..., 0]
    return total


def _common_length(observations: Mapping[str, Floats]) -> int:
    lengths = {len(values) for values in observations.values()}
    if len(lengths) != 1:
        raise ValueError(f"{sorted(lengths)} observations a parameter; every parameter needs the same number")
    return lengths.pop()


def _mixture_weights(n: int, choices: Bandwidths) -> Floats:
    """Weights of n observations and the prior, adding up to 1, shape (n + 1,)."""
    if n == 0:
        return np.ones(1)
    weights = np.append(np.asarray(choices.weights(n), dtype=float)[:n], choices.prior_weight)
    if len(weights) != n + 1 or not np.isfinite(weights).all() or (weights < 0).any() or weights[:-1].sum() <= 0:
        raise ValueError(f"weights {weights[:-1]} of {n} observations; give {n} numbers, none negative, not all 0")
    normal: Floats = weights / weights.sum()
    return normal
