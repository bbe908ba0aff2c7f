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
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.boosting.exact import SortedColumns, cart
from implementations.boosting.loss import Floats
from implementations.boosting.tree import Flags, Growth, Places, Tree, is_count, matrix_of, weights_of

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

    Raises:
        ValueError: a bad matrix or depth.
    """
    return partial(_fitted, SortedColumns.of(X), Growth(max_depth=max_depth))


def _fitted(columns: SortedColumns, growth: Growth, codes: Places, weight: Floats) -> Vote:
    if codes.max() > 1:
        raise ValueError(f"{codes.max() + 1} classes; our trees tell two apart, pass another learner")
    return partial(_side, cart(columns, np.where(codes == 1, 1.0, -1.0), weight, growth))


def _side(tree: Tree, X: ArrayLike) -> Places:
    return (tree.predict(X) > 0).astype(np.intp)


class AdaBoost:
    """Boosting by reweighting.

    Args:
        learner: Fits a weak learner; stumps on the training matrix where None.
        learning_rate: Multiplies each step.

    Raises:
        ValueError: a learning rate that is no finite number above 0.
    """

    def __init__(self, learner: Learner | None = None, learning_rate: float = 1.0) -> None:
        if not (np.isfinite(learning_rate) and learning_rate > 0):
            raise ValueError(f"learning_rate is {learning_rate}; it must be a finite number above 0")
        self.learner = learner
        self.learning_rate = learning_rate
        self.classes: NDArray[np.generic] = np.empty(0)
        self.rounds: list[Round] = []
        self._n_features = 0

    def fit(self, X: ArrayLike, y: ArrayLike, n_rounds: int, weight: ArrayLike | None = None) -> AdaBoost:
        """Fit up to `n_rounds` learners; fewer where one makes no error, or is no better than chance.

        What is refused leaves an earlier fit as it was.

        Args:
            X: Shape (n, features).
            y: Labels, shape (n,), at least two different ones, all of one type.
            n_rounds: Rounds, at least 1.
            weight: Weights to start from, at least 0; equal ones where None.

        Raises:
            ValueError: bad data, one class, no round, or a first learner no better than chance.
        """
        if not is_count(n_rounds, 1):
            raise ValueError(f"n_rounds is {n_rounds}; it must be a whole number of at least 1")
        matrix = matrix_of(X)
        labels = np.asarray(y)
        if labels.shape != (len(matrix),):
            raise ValueError(f"labels have shape {labels.shape}; give one for each of the {len(matrix)} rows")
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError(f"label {labels[~np.isfinite(labels)][0]}; labels must be finite")
        try:
            classes, codes = np.unique(labels, return_inverse=True)
        except TypeError as fault:  # objects that have no common order
            raise ValueError(f"labels of several types ({fault}); give numbers or texts") from None
        if len(classes) < 2:
            raise ValueError(f"every label is {classes.tolist()[0]!r}; give at least two classes")
        weights = weights_of(weight, len(matrix))
        rounds = self._boosted(matrix, codes, weights / weights.sum(), n_rounds, len(classes))
        self.classes, self.rounds, self._n_features = classes, rounds, matrix.shape[1]
        return self

    def _boosted(self, X: Floats, codes: Places, weight: Floats, n_rounds: int, n_classes: int) -> list[Round]:
        learner, rounds = self.learner or tree_learner(X), list[Round]()
        for _ in range(n_rounds):
            vote = learner(codes, weight)
            wrong = vote(X) != codes
            error = float(weight[wrong].sum())
            if error <= 0:
                return [*rounds, Round(vote, 0.0, 1.0, wrong, weight)]
            if error >= 1 - 1 / n_classes:
                if not rounds:
                    raise ValueError(f"the first learner errs on {error:.0%} of the weight; that is chance or worse")
                return rounds
            step = self.learning_rate * (math.log((1 - error) / error) + math.log(n_classes - 1))
            weight = weight * np.exp(step * wrong)
            weight = weight / weight.sum()
            rounds.append(Round(vote, error, step, wrong, weight))
        return rounds

    def votes(self, X: ArrayLike, n_rounds: int | None = None) -> Floats:
        """Sum of steps behind each class, after the first `n_rounds` (all where None), shape (n, classes).

        Raises:
            ValueError: nothing was fitted yet, a matrix of another number of columns than that fitted to, or a negative
                `n_rounds`.
        """
        if not self.rounds:
            raise ValueError("nothing to predict with; call fit first")
        if n_rounds is not None and not is_count(n_rounds, 0):
            raise ValueError(f"n_rounds is {n_rounds}; it must be a whole number of at least 0")
        matrix = matrix_of(X)
        if matrix.shape[1] != self._n_features:
            raise ValueError(f"{matrix.shape[1]} columns for a model of {self._n_features}")
        tally = np.zeros((len(matrix), len(self.classes)))
        for one in self.rounds[:n_rounds]:
            tally[np.arange(len(tally)), one.vote(matrix)] += one.step
        return tally

    def margins(self, X: ArrayLike, n_rounds: int | None = None) -> Floats:
        """For two classes, F = sum of half steps times votes in {-1, 1}, shape (n,).

        Raises:
            ValueError: more than two classes, or as in `votes`.
        """
        if len(self.classes) > 2:
            raise ValueError(f"{len(self.classes)} classes; a margin needs two")
        tally = self.votes(X, n_rounds)
        return 0.5 * (tally[:, 1] - tally[:, 0])

    def predict(self, X: ArrayLike, n_rounds: int | None = None) -> NDArray[np.generic]:
        """The class with the most votes, the first of equals, shape (n,); the refusals are those of `votes`."""
        predicted: NDArray[np.generic] = self.classes[self.votes(X, n_rounds).argmax(axis=1)]
        return predicted
