"""Voting: decisions of several classifiers joined by a rule without parameters.

Follows: hard voting as the most frequent label, ties to the smallest one; soft voting as the mean probability
(both as in scikit-learn's `VotingClassifier`, weights included).
Leaves out: fitting the members; what enters is what they said.

Members are always axis 1: labels (n, members), probabilities (n, members) of class 1 or (n, members, classes).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.ensembles.members import ROUNDING, Floats


def hard_vote(labels: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.generic]:
    """The most frequent label of each row; a tie goes to the smallest.

    Args:
        labels: shape (n, members).
        weights: votes of each member, shape (members,); one each by default.

    Returns:
        Shape (n,).

    Raises:
        ValueError: not two axes, no member, a NaN, labels of several types, or weights that are not one a member, at
            least 0 and finite, with a sum above 0.
    """
    classes, votes = _tally(labels, weights)
    winners: NDArray[np.generic] = classes[votes.argmax(axis=1)]
    return winners


def tied_rows(labels: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.bool_]:
    """Where no label has more votes than every other, shape (n,)."""
    _, votes = _tally(labels, weights)
    tied: NDArray[np.bool_] = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return tied


def soft_vote(probabilities: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """The mean probability over members.

    Args:
        probabilities: shape (n, members) for class 1, or (n, members, classes).
        weights: shape (members,); equal by default.

    Returns:
        Shape (n,) or (n, classes).

    Raises:
        ValueError: one axis only, no member, a probability outside [0, 1] or NaN, or weights as in `hard_vote`.
    """
    table = np.asarray(probabilities, dtype=np.float64)
    if table.ndim not in (2, 3) or table.shape[1] == 0:
        raise ValueError(f"probabilities of shape {table.shape}; give (n, members) or (n, members, classes)")
    if np.isnan(table).any():
        raise ValueError(f"a NaN in row {int(np.argwhere(np.isnan(table))[0, 0])} of the probabilities")
    outside = (table < 0) | (table > 1 + ROUNDING)
    if outside.any():
        raise ValueError(
            f"probability {table[outside][0]} in row {int(np.argwhere(outside)[0, 0])}; it must lie in [0, 1]"
        )
    return np.asarray(np.average(table, axis=1, weights=_checked(weights, table.shape[1])), dtype=np.float64)


def _tally(labels: ArrayLike, weights: ArrayLike | None) -> tuple[NDArray[np.generic], Floats]:
    """The classes, and the votes each gets: (n, members) -> (n, classes)."""
    table = np.asarray(labels)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"labels of shape {table.shape}; give (n, members), at least one of each")
    if (table != table).any():
        raise ValueError(f"a NaN in row {int(np.argwhere(table != table)[0, 0])} of the labels")
    share = _checked(weights, table.shape[1])
    try:
        classes = np.unique(table)
    except TypeError as fault:  # objects that have no common order
        raise ValueError(f"labels of several types ({fault}); give numbers or texts") from None
    return classes, np.stack([(table == label) @ share for label in classes], axis=1)


def _checked(weights: ArrayLike | None, n_members: int) -> Floats:
    if weights is None:
        return np.ones(n_members)
    share = np.asarray(weights, dtype=np.float64)
    if share.shape != (n_members,):
        raise ValueError(f"weights of shape {share.shape} for {n_members} members")
    with np.errstate(over="ignore"):
        total = share.sum()
    if not (share >= 0).all() or not 0 < total < np.inf:
        raise ValueError(f"weights {share.tolist()}: each must be at least 0, and their sum above 0 and finite")
    return share
