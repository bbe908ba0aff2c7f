"""Which fold a row belongs to, and predictions of each row by a model that never saw its fold.

Follows: k-fold cross-validation (Stone 1974); stratified allocation as in scikit-learn's `StratifiedKFold`, where
sorted labels are dealt round the folds, so that fold sizes differ by one row at most.
Leaves out: groups, time order, repeated folds.

A split is one fold number a row, shape (n,): the form in which a split from elsewhere is passed in as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.ensembles.members import Floats, Member, Method, columns

Folds = NDArray[np.intp]


def assign_folds(n_rows: int, n_folds: int, rng: np.random.Generator | None = None) -> Folds:
    """Folds of as equal a size as can be; the larger ones first.

    Args:
        n_rows: number of rows.
        n_folds: number of folds, at least 2.
        rng: shuffles the rows; without it folds are blocks of consecutive rows.

    Returns:
        The fold of each row, shape (n_rows,).

    Raises:
        ValueError: fewer than 2 folds, fewer rows than folds, or either no whole number.
    """
    _check_counts(n_rows, n_folds)
    folds = np.sort(np.arange(n_rows) % n_folds)
    return folds if rng is None else rng.permutation(folds)


def assign_stratified_folds(labels: ArrayLike, n_folds: int, rng: np.random.Generator | None = None) -> Folds:
    """Folds in which every class has its share, to within one row.

    Args:
        labels: class of each row, shape (n,).
        n_folds: number of folds, at least 2.
        rng: shuffles within each class; without it a class fills its folds in the order of its rows.

    Returns:
        The fold of each row, shape (n,).

    Raises:
        ValueError: fewer than 2 folds, labels that are not of shape (n,) and one type or that are NaN, or a class with
            fewer rows than folds, which some fold would lack.
    """
    given = np.asarray(labels)
    if given.ndim != 1 or (given != given).any():
        raise ValueError(
            f"labels of shape {given.shape}, {int((given != given).sum())} of them NaN; give (n,), none NaN"
        )
    try:
        classes, first, codes = np.unique(given, return_index=True, return_inverse=True)
    except TypeError as fault:  # objects that have no common order
        raise ValueError(f"labels of several types ({fault}); give numbers or texts") from None
    _check_counts(len(codes), n_folds)
    counts = np.bincount(codes)
    if counts.min() < n_folds:
        rare = classes.tolist()[counts.argmin()]
        raise ValueError(f"class {rare!r} has {counts.min()} rows for {n_folds} folds; each fold needs one")
    # Classes are dealt in the order of their first row, which is what decides who gets the larger folds.
    rank = np.argsort(np.argsort(first))
    dealt = np.sort(rank[codes])
    share = np.stack([np.bincount(dealt[fold::n_folds], minlength=len(classes)) for fold in range(n_folds)])
    folds = np.empty(len(codes), np.intp)
    for code in range(len(classes)):
        own = np.repeat(np.arange(n_folds), share[:, rank[code]])
        folds[codes == code] = own if rng is None else rng.permutation(own)
    return folds


def folds_of_splits(splits: Iterable[tuple[ArrayLike, ArrayLike]], n_rows: int) -> Folds:
    """The fold of each row, from (training rows, held-out rows) pairs such as a scikit-learn splitter yields.

    Raises:
        ValueError: a row is held out twice, or never; the model of its fold sees it, or not all others; or something
            that is no row number.
    """
    folds = np.full(n_rows, -1, np.intp)
    for fold, (training, held_out) in enumerate(splits):
        rows = _row_numbers(held_out, n_rows)
        counts = np.bincount(rows, minlength=n_rows) + (folds >= 0)
        if (counts > 1).any():
            raise ValueError(f"row {int(np.argmax(counts > 1))} is held out twice")
        folds[rows] = fold
        if not np.array_equal(np.sort(_row_numbers(training, n_rows)), np.flatnonzero(folds != fold)):
            raise ValueError(
                f"fold {fold} is not trained on all rows but those held out; a fold number cannot say that"
            )
    if (folds < 0).any():
        raise ValueError(f"row {int(np.argmax(folds < 0))} is never held out")
    return folds


def out_of_fold(
    member: Member,
    X: Any,
    y: Any,
    folds: Folds,
    method: Method = "predict",
    classes: NDArray[Any] | None = None,
) -> Floats:
    """Predictions of every row by a model fitted without that row's fold.

    Args:
        member: makes the model; called once a fold.
        X: rows, an array of shape (n, d).
        y: targets, shape (n,).
        folds: the fold of each row, shape (n,).
        method: see `members.columns`.
        classes: every class there is, for `predict_proba`; those of `y` by default.

    Returns:
        Shape (n, columns of one member).

    Raises:
        ValueError: the lengths differ, fold numbers are NaN, there is one fold only, a class is missing from a training
            part, or the member's predictions are refused.
    """
    X, y, folds = np.asarray(X), np.asarray(y), np.asarray(folds)
    numbers = _check_split(len(X), len(y), folds)
    if method == "predict_proba" and classes is None:
        classes = np.unique(y)
    out: Floats | None = None
    for fold in numbers:
        held_out = folds == fold
        if classes is not None:
            _check_classes(y[~held_out], classes, int(fold))
        model = member()
        model.fit(X[~held_out], y[~held_out])
        predicted = columns(model, X[held_out], method, classes)
        if out is None:
            out = np.empty((len(X), predicted.shape[1]))
        out[held_out] = predicted
    return out if out is not None else np.empty((0, 1))


def _check_counts(n_rows: int, n_folds: int) -> None:
    for what, count in (("rows", n_rows), ("folds", n_folds)):
        if not isinstance(count, int | np.integer):
            raise ValueError(f"{count!r} {what}: a whole number is needed")
    if n_folds < 2:
        raise ValueError(f"{n_folds} folds: at least 2 are needed to hold one out")
    if n_rows < n_folds:
        raise ValueError(f"{n_rows} rows for {n_folds} folds: each fold needs one")


def _row_numbers(rows: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or (len(numbers) and (numbers.dtype.kind not in "iu" or not _inside(numbers, n_rows))):
        raise ValueError(f"rows {numbers}; give whole numbers from 0 to {n_rows - 1}")
    return numbers.astype(np.intp)


def _inside(numbers: NDArray[Any], n_rows: int) -> bool:
    return bool((numbers >= 0).all() and (numbers < n_rows).all())


def _check_split(n_rows: int, n_targets: int, folds: Folds) -> NDArray[Any]:
    if not n_rows == n_targets == len(folds):
        raise ValueError(
            f"{n_rows} rows, {n_targets} targets, {len(folds)} fold numbers: there must be as many of each"
        )
    if folds.ndim != 1 or (folds != folds).any():
        raise ValueError(f"fold numbers of shape {folds.shape}, {int((folds != folds).sum())} of them NaN; give (n,)")
    numbers = np.unique(folds)
    if len(numbers) < 2:
        raise ValueError(f"{len(numbers)} fold: at least 2 are needed to hold one out")
    return numbers


def _check_classes(y: NDArray[Any], classes: NDArray[Any], fold: int) -> None:
    missing = np.setdiff1d(classes, y)
    if len(missing):
        raise ValueError(f"without fold {fold} no row of class {missing.tolist()[0]!r} is left; use stratified folds")
