"""Scores against the true odds: what a model's accuracy and log loss are expected to be, whoever happens to win.

Follows: the definitions. The expectation over results removes a noise of several tenths of a point at the sizes that
run here.
Leaves out: calibration curves.
"""

from __future__ import annotations

import numpy as np

from implementations.drafts.world import Floats, chance


def expected_accuracy(true_odds: Floats, called_odds: Floats) -> float:
    """Mean probability that the side a model calls wins; log odds of shape (n,) each.

    Raises:
        ValueError: no match, shapes that differ, or NaN.
    """
    _check(true_odds, called_odds)
    return float(np.mean(called_right(true_odds, called_odds)))


def called_right(true_odds: Floats, called_odds: Floats) -> Floats:
    """Probability, match by match, that the side a model calls wins, (n,).

    Raises:
        ValueError: shapes that differ, or NaN.
    """
    if true_odds.shape != called_odds.shape or np.isnan(true_odds).any() or np.isnan(called_odds).any():
        raise ValueError(f"odds of shapes {true_odds.shape} and {called_odds.shape}; give (n,) of each, none NaN")
    return chance(np.where(called_odds > 0, true_odds, -true_odds))


def expected_log_loss(true_odds: Floats, called_odds: Floats) -> float:
    """Mean log loss of a model over the results that the true odds give; log odds of shape (n,) each.

    Raises:
        ValueError: no match, shapes that differ, or NaN.
    """
    _check(true_odds, called_odds)
    return float(np.mean(np.logaddexp(0.0, called_odds) - chance(true_odds) * called_odds))


def _check(true_odds: Floats, called_odds: Floats) -> None:
    if true_odds.ndim != 1 or not len(true_odds):
        raise ValueError(f"odds of shape {true_odds.shape}; give (n,), at least one match")
    called_right(true_odds, called_odds)
