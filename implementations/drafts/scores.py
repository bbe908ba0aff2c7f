"""Scores against the true odds: what a model's accuracy and log loss are expected to be, whoever happens to win.

Follows: the definitions. The expectation over results removes a noise of several tenths of a point at the sizes that
run here.
Leaves out: calibration curves.
"""

from __future__ import annotations

import numpy as np

from implementations.drafts.world import Floats, chance


def expected_accuracy(true_odds: Floats, called_odds: Floats) -> float:
    """Mean probability that the side a model calls wins; log odds of shape (n,) each."""
    return float(np.mean(called_right(true_odds, called_odds)))


def called_right(true_odds: Floats, called_odds: Floats) -> Floats:
    """Probability, match by match, that the side a model calls wins, (n,)."""
    return chance(np.where(called_odds > 0, true_odds, -true_odds))


def expected_log_loss(true_odds: Floats, called_odds: Floats) -> float:
    """Mean log loss of a model over the results that the true odds give; log odds of shape (n,) each."""
    return float(np.mean(np.logaddexp(0.0, called_odds) - chance(true_odds) * called_odds))
