"""Gaussian-process regression: a prior on functions that observations turn into a mean and an uncertainty.

Follows: Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1 and equation 5.9, with a
squared-exponential kernel of one length an axis. `fit` maximises the marginal likelihood; the posterior standard
deviation is that of the noiseless function.

Leaves out: other kernels, a mean function beyond the average of the values, sparse approximations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize

from implementations.search.space import Floats


@dataclass(frozen=True)
class Kernel:
    """A squared exponential: variance * exp(-0.5 * sum of squared distances in lengths), plus noise on the diagonal.

    Attributes:
        lengths: One an axis, shape (d,).
        variance: Of the function.
        noise: Variance of the observations around it.

    Raises:
        ValueError: a length or variance that is not above 0, or a negative noise.
    """

    lengths: Floats
    variance: float = 1.0
    noise: float = 1e-10

    def __post_init__(self) -> None:
        if not (np.all(self.lengths > 0) and self.variance > 0 and self.noise >= 0):
            raise ValueError(
                f"lengths {self.lengths}, variance {self.variance}, noise {self.noise}; "
                "lengths and variance must be above 0, noise at least 0"
            )

    def between(self, a: Floats, b: Floats) -> Floats:
        """Covariances of the function, (n, d), (m, d) -> (n, m).

        Raises:
            ValueError: points of another number of axes than there are lengths.
        """
        if not a.shape[1:] == b.shape[1:] == self.lengths.shape:
            raise ValueError(f"points {a.shape} and {b.shape} for lengths {self.lengths.shape}; give (n, d), (m, d)")
        left, right = a / self.lengths, b / self.lengths
        squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2.0 * left @ right.T
        covariance: Floats = self.variance * np.exp(-0.5 * np.maximum(squares, 0.0))
        return covariance


class GaussianProcess:
    """The posterior after observing values at points.

    Args:
        points: Shape (n, d).
        values: Shape (n,); their average is the prior mean, unless `mean` is given.
        kernel: With its parameters fixed.
        mean: Prior mean.

    Raises:
        ValueError: shapes that do not match, numbers that are not finite, or points of which two are the same to the
            kernel without noise.
    """

    def __init__(self, points: Floats, values: Floats, kernel: Kernel, mean: float | None = None) -> None:
        _check_observations(points, values)
        self.points, self.kernel = points, kernel
        self.mean = float(values.mean()) if mean is None else mean
        self._covariance = kernel.between(points, points)  # of the function
        try:
            self._factor = np.linalg.cholesky(self._covariance + kernel.noise * np.eye(len(points)))
        except np.linalg.LinAlgError:
            raise ValueError(f"noise {kernel.noise} is too small for points this close; raise it") from None
        self._residual = values - self.mean
        self._weights = cho_solve((self._factor, True), self._residual)

    def __call__(self, points: Floats) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of the function, (m, d) -> (m,), (m,)."""
        cross = self.kernel.between(points, self.points)  # (m, n)
        explained = solve_triangular(self._factor, cross.T, lower=True)  # (n, m)
        variance = self.kernel.variance - (explained**2).sum(axis=0)
        return self.mean + cross @ self._weights, np.sqrt(np.maximum(variance, 0.0))

    def expect(self, points: Floats) -> Floats:
        """The posterior mean alone, which costs a small part of the deviation, (m, d) -> (m,)."""
        return self.mean + self.kernel.between(points, self.points) @ self._weights

    @property
    def log_likelihood(self) -> float:
        """Log marginal likelihood of the values."""
        n = len(self._residual)
        log_determinant = 2.0 * np.log(np.diag(self._factor)).sum()
        return float(-0.5 * (self._residual @ self._weights + log_determinant + n * np.log(2 * np.pi)))

    def gradient(self) -> Floats:
        """Of the log likelihood by the logarithms of lengths, variance and noise, shape (d + 2,)."""
        inverse = cho_solve((self._factor, True), np.eye(len(self.points)))
        slope = 0.5 * (np.outer(self._weights, self._weights) - inverse)  # (n, n): d log p / d covariance
        smooth = slope * self._covariance
        scaled = self.points / self.kernel.lengths
        row, column = smooth.sum(axis=1), smooth.sum(axis=0)
        # sum_ij smooth_ij (x_i - x_j)^2, an axis at a time, without an (n, n, d) array
        by_length = scaled.T**2 @ (row + column) - 2.0 * (scaled * (smooth @ scaled)).sum(axis=0)
        return np.append(by_length, [smooth.sum(), self.kernel.noise * np.trace(slope)])


def fit(points: Floats, values: Floats, *, noise: float | None = None, start: Kernel | None = None) -> GaussianProcess:
    """The Gaussian process whose kernel makes the values most likely.

    Points are scaled to their range and values to unit variance while it searches, from one starting point.

    Args:
        points: Shape (n, d).
        values: Shape (n,).
        noise: Fixed noise variance in units of the values' variance; None to fit it.
        start: Kernel to start from, in those units; a length of a third of each range by default.

    Raises:
        ValueError: shapes that do not match, numbers that are not finite, or a noise that is not above 0.
    """
    _check_observations(points, values)
    if noise is not None and not 0 < noise < np.inf:
        raise ValueError(f"noise {noise}; it must be a finite number above 0, or None to fit it")
    width = np.where((span := np.ptp(points, axis=0)) > 0, span, 1.0)
    scale = float(values.std()) or 1.0
    unit, target = points / width, (values - values.mean()) / scale
    start = start or Kernel(np.full(points.shape[1], 1 / 3), 1.0, 0.01 if noise is None else noise)
    first = np.log(np.append(start.lengths, [start.variance, start.noise]))
    free = np.ones(len(first), bool)
    free[-1] = noise is None

    def lost(theta: Floats) -> tuple[float, Floats]:
        full = first.copy()
        full[free] = theta
        try:
            process = GaussianProcess(unit, target, _kernel(np.exp(full)), 0.0)
        except ValueError:
            return 1e25, np.zeros(len(theta))
        return -process.log_likelihood, -process.gradient()[free]

    bounds = np.array([*[(0.03, 30.0)] * len(start.lengths), (0.01, 100.0), (1e-6, 2.0)])
    found = minimize(lost, first[free], jac=True, bounds=np.log(bounds)[free], method="L-BFGS-B")
    full = first.copy()
    full[free] = found.x
    best = _kernel(np.exp(full))
    kernel = Kernel(best.lengths * width, best.variance * scale**2, best.noise * scale**2)
    return GaussianProcess(points, values, kernel)


def _check_observations(points: Floats, values: Floats) -> None:
    if points.ndim != 2 or values.shape != points.shape[:1] or not points.size:
        raise ValueError(f"points {points.shape} and values {values.shape}; give (n, d) and (n,), both at least 1")
    if not (np.isfinite(points).all() and np.isfinite(values).all()):
        raise ValueError("points and values must be finite; leave out trials that failed")


def _kernel(numbers: Floats) -> Kernel:
    return Kernel(numbers[:-2], float(numbers[-2]), float(numbers[-1]))
