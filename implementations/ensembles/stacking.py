"""Stacking: a small model that combines the members, fitted to what each said of rows it had not seen.

Follows: Wolpert 1992; Breiman 1996. Members are refitted on all rows for new data, the combiner stays as it is.
Leaves out: passing the original features through, several layers.

`in_fold_matrix` is the mistake the method exists to avoid, kept so that its price can be measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.ensembles.folds import Folds, out_of_fold
from implementations.ensembles.members import Floats, Member, Method, Model, columns


@dataclass(frozen=True)
class Stack:
    """Members fitted on all rows, and the combiner of their columns.

    Attributes:
        members: fitted members, in the order of the combiner's columns.
        combiner: fitted to `meta_features`.
        meta_features: out-of-fold columns, shape (n, members * columns of one member).
        method: what the members were asked for.
        classes: every class, for `predict_proba`.
    """

    members: tuple[Model, ...]
    combiner: Model
    meta_features: Floats
    method: Method = "predict"
    classes: NDArray[Any] | None = None

    def columns(self, X: Any) -> Floats:
        """The members' predictions of new rows, shape (n, k), as the combiner takes them."""
        return np.hstack([columns(member, X, self.method, self.classes) for member in self.members])

    def predict(self, X: Any) -> NDArray[Any]:
        """The combiner's prediction, shape (n,); the refusals are those of `members.columns`."""
        return np.asarray(self.combiner.predict(self.columns(X)))

    def predict_proba(self, X: Any) -> Floats:
        """The combiner's class probabilities, shape (n, classes).

        Raises:
            ValueError: it has none, or what `members.columns` refuses.
        """
        predict_proba = getattr(self.combiner, "predict_proba", None)
        if predict_proba is None:
            raise ValueError(f"combiner {type(self.combiner).__name__} has no predict_proba")
        return np.asarray(predict_proba(self.columns(X)), dtype=np.float64)


def fit_stack(
    members: Sequence[Member], combiner: Member, X: Any, y: Any, folds: Folds, method: Method = "predict"
) -> Stack:
    """Fit members and combiner: members times (folds + 1) fits, and one.

    Args:
        members: what to combine; at least one.
        combiner: learns from their out-of-fold columns.
        X: rows, an array of shape (n, d); members must not change it.
        y: targets or labels, shape (n,).
        folds: the fold of each row, shape (n,).
        method: `predict` for values, `predict_proba` for classes.

    Raises:
        ValueError: no member, or what `folds.out_of_fold` refuses.
    """
    members = tuple(members)
    classes = np.unique(y) if method == "predict_proba" else None
    meta_features = out_of_fold_matrix(members, X, y, folds, method)
    fitted_combiner = combiner()
    fitted_combiner.fit(meta_features, y)
    return Stack(tuple(_fitted(member, X, y) for member in members), fitted_combiner, meta_features, method, classes)


def out_of_fold_matrix(members: Sequence[Member], X: Any, y: Any, folds: Folds, method: Method = "predict") -> Floats:
    """Every member's out-of-fold columns side by side, shape (n, members * columns of one member).

    Raises:
        ValueError: no member, or what `folds.out_of_fold` refuses.
    """
    if not members:
        raise ValueError("no members: a stack needs at least one")
    return np.hstack([out_of_fold(member, X, y, folds, method) for member in members])


def in_fold_matrix(members: Sequence[Member], X: Any, y: Any, method: Method = "predict") -> Floats:
    """The leak: what each member says of the very rows it was fitted to. Same shape, not for a combiner.

    Raises:
        ValueError: no member, or what `members.columns` refuses.
    """
    if not members:
        raise ValueError("no members: a stack needs at least one")
    return np.hstack([columns(_fitted(member, X, y), X, method) for member in members])


def _fitted(member: Member, X: Any, y: Any) -> Model:
    model = member()
    model.fit(X, y)
    return model
