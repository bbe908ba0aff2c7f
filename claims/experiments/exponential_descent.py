"""Gradient descent on the exponential loss in steps along learners of -1 and 1: AdaBoost without its recipe."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from implementations.boosting.adaboost import tree_learner
from implementations.boosting.loss import ExponentialLoss

Floats = NDArray[np.float64]


def margins(X: Floats, y: Floats, rounds: int) -> Floats:
    """The score of each training row after each round, shape (rounds, n).

    The learner is the stump that points most nearly along the negative gradient; the step is the exact line search.
    """
    loss, learner, score, path = ExponentialLoss(), tree_learner(X), np.zeros(len(y)), []
    for _ in range(rounds):
        descent = -loss.gradient(y, score)
        direction = 2.0 * learner((descent > 0).astype(np.intp), np.abs(descent))(X) - 1.0
        score = score + line_search(y, score, direction) * direction
        path.append(score)
    return np.array(path)


def line_search(y: Floats, score: Floats, direction: Floats) -> float:
    """The step along a direction at which the summed exponential loss is least, by Newton's method from 0."""
    loss, step = ExponentialLoss(), 0.0
    for _ in range(50):
        at = score + step * direction
        change = -(loss.gradient(y, at) @ direction) / (loss.curvature(y, at) @ direction**2)
        step += float(np.clip(change, -1.0, 1.0))
        if abs(change) < 1e-14:
            break
    return step
