"""What the printed accuracies by bracket say, given that each is a share of so many matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

DRAWS = 10_000


def standard_error(accuracy_pct: float, matches: float) -> float:
    """Of one accuracy, in points."""
    share = accuracy_pct / 100
    return float(100 * np.sqrt(share * (1 - share) / matches))


def pooled_pct(accuracies_pct: Sequence[float], matches: Sequence[float]) -> float:
    """Accuracy of several brackets together."""
    return float(np.average(accuracies_pct, weights=matches))


def z_between(a_pct: float, a_matches: float, b_pct: float, b_matches: float) -> float:
    """Difference of two accuracies in standard errors."""
    spread = np.hypot(standard_error(a_pct, a_matches), standard_error(b_pct, b_matches))
    return float((a_pct - b_pct) / spread)


def chance_of(z: float) -> float:
    """Probability, in per cent, of a difference this large in this direction where there is none."""
    return float(100 * norm.sf(z))


def range_by_chance(accuracies_pct: Sequence[float], matches: Sequence[float], quantile: float) -> float:
    """A quantile of largest less smallest accuracy, in points, where all brackets are equally predictable."""
    rng = np.random.default_rng(0)
    share = pooled_pct(accuracies_pct, matches) / 100
    drawn = rng.binomial(np.array(matches, dtype=int), share, size=(DRAWS, len(matches))) / np.array(matches)
    return float(100 * np.quantile(np.ptp(drawn, axis=1), quantile))


def falling_fit(values: Sequence[float], weights: Sequence[float]) -> np.ndarray:
    """The nearest series that never rises, by weighted squares (pool adjacent violators)."""
    blocks: list[list[float]] = []  # mean, weight, length
    for value, weight in zip(values, weights):
        blocks.append([float(value), float(weight), 1])
        while len(blocks) > 1 and blocks[-1][0] > blocks[-2][0]:
            (a, wa, na), (b, wb, nb) = blocks[-2:]
            blocks[-2:] = [[(a * wa + b * wb) / (wa + wb), wa + wb, na + nb]]
    return np.concatenate([np.full(int(n), mean) for mean, _, n in blocks])


def chance_of_a_rise(accuracies_pct: Sequence[float], matches: Sequence[float]) -> float:
    """How often a falling truth leaves the nearest falling series as far behind as the printed one does, in per cent.

    The truth is that nearest falling series itself; distance is in squared standard errors.
    """
    values = np.array(accuracies_pct, dtype=float)
    errors = np.array([standard_error(a, n) for a, n in zip(values, matches)])
    truth = falling_fit(values, errors**-2)

    def distance(series: np.ndarray) -> float:
        return float((((series - falling_fit(series, errors**-2)) / errors) ** 2).sum())

    drawn = np.random.default_rng(0).normal(truth, errors, size=(DRAWS, len(values)))
    return float(100 * np.mean([distance(series) >= distance(values) for series in drawn]))
