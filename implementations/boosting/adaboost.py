"""AdaBoost: after each round the rows its learner got wrong weigh more, and the next learner sees the new weights.

Follows: Freund & Schapire 1997, with the multi-class weight of a learner of Zhu et al. 2009 (SAMME), as scikit-learn.
Leaves out: real-valued learners (SAMME.R).

For two classes this is stagewise descent of the exponential loss: the weight of a row is its loss exp(-margin) up to a
factor, and half the SAMME step is the exact line search along the learner (`margins` are in that unit).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.boosting.exact import SortedColumns, cart
from implementations.boosting.loss import Floats
from implementations.boosting.tree import Flags, Growth, Places, matrix_of, weights_of

# Predicts a class number for each row of a matrix.
Vote = Callable[[ArrayLike], Places]
# Fits the training rows' class numbers under weights; bound to the training matrix.
Learner = Callable[[Places, Floats], Vote]


@dataclass(frozen=True)
class Round:
    """One learner and what it did to the weights.

    Attributes:
        vote: The learner.
        error: Its share of the weight that it got wrong.
        step: The weight of its vote: log((1 - error) / error) + log(classes - 1), times the learning rate.
        wrong: Which training rows it got wrong, shape (n,).
        weight: The training rows' weights after the round, summing to 1, shape (n,).
    """

    vote: Vote
    error: float
    step: float
    wrong: Flags
    weight: Floats


def tree_learner(X: ArrayLike, max_depth: int = 1) -> Learner:
    """Classification trees of two classes, by Gini impurity; stumps by default.

    The Gini impurity of two classes is the variance of labels -1 and 1 up to a factor, so these are regression trees
    whose leaves vote with the sign of their mean.
    """
    columns, growth = SortedColumns.of(X), Growth(max_depth=max_depth)

    def fit(codes: Places, weight: Floats) -> Vote:
        if codes.max() > 1:
            raise ValueError(f"{codes.max() + 1} classes; our trees tell two apart, pass another learner")
        tree = cart(columns, np.where(codes == 1, 1.0, -1.0), weight, growth)
        return lambda X: (tree.predict(X) > 0).astype(np.intp)

    return fit


class AdaBoost:
    """Boosting by reweighting.

    Args:
        learner: Fits a weak learner; stumps on the training matrix where None.
        learning_rate: Multiplies each step.
    """

    def __init__(self, learner: Learner | None = None, learning_rate: float = 1.0) -> None:
        if not (np.isfinite(learning_rate) and learning_rate > 0):
            raise ValueError(f"learning_rate is {learning_rate}; it must be a finite number above 0")
        self.learner = learner
        self.learning_rate = learning_rate
        self.classes: NDArray[np.generic] = np.empty(0)
        self.rounds: list[Round] = []

    def fit(self, X: ArrayLike, y: ArrayLike, n_rounds: int, weight: ArrayLike | None = None) -> AdaBoost:
        """Fit up to `n_rounds` learners; fewer where one makes no error, or is no better than chance.

        Args:
            X: Shape (n, features).
            y: Labels, shape (n,), at least two different ones.
            n_rounds: Rounds.
            weight: Weights to start from, at least 0; equal ones where None.

        Raises:
            ValueError: bad data, one class, or a first learner no better than chance.
        """
        matrix = matrix_of(X)
        labels = np.asarray(y)
        if labels.shape != (len(matrix),):
            raise ValueError(f"labels have shape {labels.shape}; give one for each of the {len(matrix)} rows")
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError(f"label {labels[~np.isfinite(labels)][0]}; labels must be finite")
        self.classes, codes = np.unique(labels, return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError(f"every label is {self.classes[0]!r}; give at least two classes")
        weights = weights_of(weight, len(matrix))
        self.rounds = []
        self._boost(matrix, codes, weights / weights.sum(), n_rounds)
        return self

    def _boost(self, X: Floats, codes: Places, weight: Floats, n_rounds: int) -> None:
        learner = self.learner or tree_learner(X)
        for _ in range(n_rounds):
            vote = learner(codes, weight)
            wrong = vote(X) != codes
            error = float(weight[wrong].sum())
            if error <= 0:
                self.rounds.append(Round(vote, 0.0, 1.0, wrong, weight))
                return
            if error >= 1 - 1 / len(self.classes):
                if not self.rounds:
                    raise ValueError(f"the first learner errs on {error:.0%} of the weight; that is chance or worse")
                return
            step = self.learning_rate * (math.log((1 - error) / error) + math.log(len(self.classes) - 1))
            weight = weight * np.exp(step * wrong)
            weight = weight / weight.sum()
            self.rounds.append(Round(vote, error, step, wrong, weight))

    def votes(self, X: ArrayLike, n_rounds: int | None = None) -> Floats:
        """Sum of steps behind each class, shape (n, classes)."""
        tally = np.zeros((len(np.asarray(X)), len(self.classes)))
        for one in self.rounds[:n_rounds]:
            tally[np.arange(len(tally)), one.vote(X)] += one.step
        return tally

    def margins(self, X: ArrayLike, n_rounds: int | None = None) -> Floats:
        """For two classes, F = sum of half steps times votes in {-1, 1}, shape (n,).

        Raises:
            ValueError: more than two classes.
        """
        if len(self.classes) != 2:
            raise ValueError(f"{len(self.classes)} classes; a margin needs two")
        tally = self.votes(X, n_rounds)
        return 0.5 * (tally[:, 1] - tally[:, 0])

    def predict(self, X: ArrayLike, n_rounds: int | None = None) -> NDArray[np.generic]:
        """The class with the most votes, the first of equals, shape (n,)."""
        predicted: NDArray[np.generic] = self.classes[self.votes(X, n_rounds).argmax(axis=1)]
        return predicted
