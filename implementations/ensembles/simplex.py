"""The mixture of given predictions that makes the labels most likely: a convex problem on the simplex.

minimise  f(w) = -mean_i log(sum_j w_j L_ij)   over  w >= 0, sum w = 1

Follows: constrained Newton steps (Wang 2007, "On fast computation of the non-parametric maximum likelihood estimate
of a mixing distribution"): the quadratic model at w is a least-squares problem on the simplex, which non-negative
least squares solves (Dax 1990), then a line search.
Leaves out: losses other than the log loss.

Optimality is certified, not hoped for. With g_j = mean_i L_ij / (L w)_i, convexity gives f(w) - min f <= max_j g_j - 1,
and w is the optimum exactly where every g_j <= 1 (the Karush-Kuhn-Tucker conditions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from implementations.ensembles.members import Floats

_SUFFICIENT = 1e-4  # of the decrease the slope promises: Armijo's rule
_SHORTEST_STEP = 2.0**-40


@dataclass(frozen=True)
class Optimum:
    """A point on the simplex, with the proof of how good it is.

    Attributes:
        weights: shape (m,), at least 0, summing to 1.
        loss: f(weights).
        gap: upper bound on loss minus the smallest there is.
        steps: Newton steps taken.
    """

    weights: Floats
    loss: float
    gap: float
    steps: int


def log_loss(weights: ArrayLike, likelihoods: ArrayLike) -> float:
    """f(w), in nats a row.

    Args:
        weights: shape (m,).
        likelihoods: the probability each member gave to what happened, shape (n, m), n at least 1.
    """
    return float(-np.log(np.asarray(likelihoods) @ np.asarray(weights)).mean())


def optimality_gap(weights: ArrayLike, likelihoods: ArrayLike) -> float:
    """Upper bound on f(w) - min f: 0 at the optimum and nowhere else."""
    table = np.asarray(likelihoods, dtype=np.float64)
    return float((table / (table @ np.asarray(weights))[:, None]).mean(axis=0).max() - 1)


def minimise_log_loss(likelihoods: ArrayLike, gap: float = 1e-10, max_steps: int = 200) -> Optimum:
    """The best weights on the simplex.

    Args:
        likelihoods: shape (n, m), above 0.
        gap: how far above the smallest loss the result may lie.
        max_steps: Newton steps after which to stop.

    Returns:
        The weights and a bound on what is left to gain; above `gap` only where rounding allows no further step.

    Raises:
        ValueError: an empty table, an entry that is not above 0 and finite, or a gap that is NaN.
    """
    table = checked(likelihoods)
    if np.isnan(gap):
        raise ValueError("gap is nan; it must be a number, as 1e-10")
    weights = np.full(table.shape[1], 1 / table.shape[1])
    steps = 0
    while optimality_gap(weights, table) > gap and steps < max_steps:
        moved = _line_search(weights, _newton_target(weights, table), table)
        if moved is None:
            break
        weights, steps = moved, steps + 1
    return Optimum(weights, log_loss(weights, table), max(0.0, optimality_gap(weights, table)), steps)


def _newton_target(weights: Floats, table: Floats) -> Floats:
    """The simplex point that minimises the quadratic model of f at `weights`, shape (m,)."""
    n, m = table.shape
    scaled = table / (table @ weights)[:, None]  # (n, m), row-wise mean 1 under `weights`
    # sum w = 1 turns |S w - 2| into |(S - 2) w|; the triangle of its QR has the same norms in m rows, not n
    triangle = np.linalg.qr((scaled - 2) / np.sqrt(n), mode="r")
    target, _ = nnls(np.vstack([triangle, np.ones(m)]), np.append(np.zeros(len(triangle)), 1.0))
    total = target.sum()
    return np.asarray(target / total) if total > 0 else weights


def _line_search(weights: Floats, target: Floats, table: Floats) -> Floats | None:
    """The longest of 1, 1/2, 1/4, … of the way to `target` that gains enough; None where none does."""
    direction = target - weights
    start = log_loss(weights, table)
    slope = float(-(table @ direction / (table @ weights)).mean())
    step = 1.0
    while slope < 0 and step > _SHORTEST_STEP:
        moved = weights + step * direction
        if log_loss(moved, table) < start + _SUFFICIENT * step * slope:
            return moved
        step /= 2
    return None


def checked(likelihoods: ArrayLike) -> Floats:
    """A table of likelihoods as floats, shape (n, members).

    Raises:
        ValueError: an empty table, or an entry that is not above 0, finite, and large enough to divide by.
    """
    table = np.asarray(likelihoods, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"likelihoods of shape {table.shape}; give (rows, members), at least one of each")
    bad = ~(np.isfinite(table) & (table >= np.finfo(np.float64).tiny))
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise ValueError(
            f"likelihood {table[bad][0]} in row {row}; each must be finite, above 0 and no subnormal number"
        )
    return table
