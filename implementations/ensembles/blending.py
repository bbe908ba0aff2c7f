"""Blending: a weighted mean of the members' probabilities, its weights fitted to rows set aside for it.

Follows: the linear opinion pool (Stone 1961) with weights of least log loss on a holdout.
Leaves out: weights that depend on the row; refitting the members.

Two optimisers stand side by side. `fit_blend` solves the convex problem and says how far from the optimum it can be.
`nelder_mead_weights` is what the posts used, a simplex search over |w| / sum |w|: it has no such proof, and with a
dozen weights it stops well short. The rows a blend was fitted to are spent: its loss there is no estimate of
anything, so `Blend.loss` refuses them and `Blend.loss_on_holdout` is there for who wants to see the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from implementations.ensembles.members import Floats
from implementations.ensembles.simplex import checked, log_loss, minimise_log_loss

# A member that is certain and wrong would make the loss infinite; the posts' code clips at the same place.
CERTAINTY = 1e-9


def likelihoods(probabilities: ArrayLike, labels: ArrayLike) -> Floats:
    """The probability each member gave to what happened.

    Args:
        probabilities: of class 1, shape (n, members), or of every class, shape (n, members, classes).
        labels: class numbers 0, 1, …, shape (n,).

    Returns:
        Shape (n, members), kept within [1e-9, 1 - 1e-9].

    Raises:
        ValueError: the shapes do not match, a probability outside [0, 1] or NaN, a label that is no class number.
    """
    table, codes = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
    if table.ndim not in (2, 3) or codes.shape != table.shape[:1]:
        raise ValueError(
            f"probabilities of shape {table.shape} for {codes.size} labels of shape {codes.shape}; "
            "give (n, members[, classes]) and (n,)"
        )
    _check_range(table)
    if table.ndim == 2:
        table = np.stack([1 - table, table], axis=2)
    stray = ~np.isin(codes, np.arange(table.shape[2]))
    if stray.any():
        raise ValueError(f"label {codes[stray].tolist()[0]!r}; labels are the class numbers 0 to {table.shape[2] - 1}")
    given = table[np.arange(len(codes)), :, codes.astype(np.intp)]  # (n, members)
    return np.clip(given, CERTAINTY, 1 - CERTAINTY)


@dataclass(frozen=True)
class Blend:
    """Weights, and the rows they cost.

    Attributes:
        weights: shape (members,), at least 0, summing to 1.
        holdout_rows: numbers of the rows they were fitted to.
        loss_on_holdout: log loss on those rows, in nats: flattering by construction.
        gap: upper bound on how far that loss lies above the smallest possible.
    """

    weights: Floats
    holdout_rows: NDArray[np.intp]
    loss_on_holdout: float
    gap: float

    def predict_proba(self, probabilities: ArrayLike) -> Floats:
        """The blend of new rows: (n, members[, classes]) -> (n[, classes]).

        Raises:
            ValueError: another number of members, or a probability outside [0, 1] or NaN.
        """
        table = np.asarray(probabilities, dtype=np.float64)
        if table.ndim not in (2, 3) or table.shape[1] != len(self.weights):
            raise ValueError(f"{len(self.weights)} weights for probabilities of shape {table.shape}")
        _check_range(table)
        return np.asarray(np.tensordot(table, self.weights, axes=(1, 0)))

    def loss(self, probabilities: ArrayLike, labels: ArrayLike, rows: ArrayLike) -> float:
        """Log loss on rows the weights have not seen.

        Args:
            probabilities: as in `likelihoods`.
            labels: shape (n,).
            rows: the numbers of these rows, counted as those of the holdout were, shape (n,).

        Raises:
            ValueError: one of the rows was used to fit the weights, there is no row, or another number of row numbers
                than of rows, of rows than of labels, or of members than of weights.
        """
        table = likelihoods(probabilities, labels)
        spent = np.intersect1d(_row_numbers(rows, len(table)), self.holdout_rows)
        if len(spent):
            raise ValueError(
                f"{len(spent)} of the rows, {spent[0]} among them, were used to fit the weights; "
                "report on others (the loss on these is `loss_on_holdout`)"
            )
        if table.shape[1] != len(self.weights):
            raise ValueError(f"{len(self.weights)} weights for {table.shape[1]} members")
        if not len(table):
            raise ValueError("no rows to report on; give at least one")
        return log_loss(self.weights, table)


def fit_blend(probabilities: ArrayLike, labels: ArrayLike, rows: ArrayLike) -> Blend:
    """Weights of the smallest log loss on a holdout.

    Args:
        probabilities: what members that never saw these rows said of them, as in `likelihoods`.
        labels: shape (n,).
        rows: the numbers of these rows, so that they can be refused later, shape (n,).

    Raises:
        ValueError: what `likelihoods` refuses, no row or member, or numbers that are not one for each row, whole and
            each once.
    """
    table = likelihoods(probabilities, labels)
    numbers = _row_numbers(rows, len(table))
    if len(np.unique(numbers)) < len(numbers):
        raise ValueError(
            f"{len(numbers)} row numbers, of which {len(np.unique(numbers))} differ; give each row its own"
        )
    best = minimise_log_loss(table)
    return Blend(best.weights, numbers, best.loss, best.gap)


def nelder_mead_weights(likelihood: ArrayLike, max_iterations: int = 20_000) -> Floats:
    """The posts' optimiser: downhill simplex from equal weights, made weights by |w| / sum |w|.

    Args:
        likelihood: shape (n, members).
        max_iterations: reflections, expansions and contractions before it gives up.

    Returns:
        Shape (members,): where the search stopped, which need not be an optimum.

    Raises:
        ValueError: an empty table, or an entry that is not above 0 and finite.
    """
    table = checked(likelihood)

    def loss(free: Floats, *_: Any) -> float:
        return log_loss(_share(free), table)

    found = minimize(
        loss,
        np.full(table.shape[1], 1 / table.shape[1]),
        method="Nelder-Mead",
        options={"maxiter": max_iterations, "fatol": 1e-12, "xatol": 1e-10},
    )
    return _share(np.asarray(found.x, dtype=np.float64))


def _row_numbers(rows: ArrayLike, n: int) -> NDArray[np.intp]:
    """Numbers by which rows are known; a mask or a fraction would be another row's number."""
    numbers = np.asarray(rows)
    if numbers.shape != (n,) or (n and numbers.dtype.kind not in "iu"):
        raise ValueError(f"{numbers.shape} {numbers.dtype} row numbers for {n} rows; give a whole number a row")
    return numbers.astype(np.intp)


def _check_range(table: Floats) -> None:
    bad = ~((table >= 0) & (table <= 1))
    if bad.any():
        raise ValueError(f"probability {table[bad][0]} in row {int(np.argwhere(bad)[0, 0])}; it must lie in [0, 1]")


def _share(free: Floats) -> Floats:
    size = np.abs(free)
    return np.asarray(size / size.sum())
