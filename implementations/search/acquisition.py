"""Acquisition: how much a candidate is worth evaluating, from a predicted mean and standard deviation.

Follows: the upper confidence bound, mean + kappa * sd; expected improvement over the best value so far for a Gaussian
prediction, (m - f) Phi(z) + s phi(z) with z = (m - f) / s (Jones, Schonlau & Welch 1998). Large values are good.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from implementations.search.space import Floats


def upper_confidence_bound(mean: Floats, sd: Floats, kappa: float) -> Floats:
    """Mean plus `kappa` standard deviations; shapes (n,).

    Raises:
        ValueError: kappa is negative or not finite.
    """
    check_kappa(kappa)
    return mean + kappa * sd


def expected_improvement(mean: Floats, sd: Floats, best: float) -> Floats:
    """Mean gain over `best`, shapes (n,); where the standard deviation is 0, the gain that is certain."""
    gain = mean - best
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = gain / sd
        expected = gain * ndtr(z) + sd * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.where(sd > 0, expected, np.maximum(gain, 0.0))


def check_kappa(kappa: float) -> None:
    """Refuse a weight that is no weight.

    Raises:
        ValueError: kappa is negative or not finite.
    """
    if not (math.isfinite(kappa) and kappa >= 0):
        raise ValueError(f"kappa {kappa}; it must be a finite number of at least 0")
