"""A regression tree as arrays: walking rows down it, and pruning it by the gain of its splits.

Follows: Breiman et al. 1984 for the tree; Chen & Guestrin 2016 (XGBoost, sections 2.2 and 3.4) for the price of a leaf
and the learned direction of missing values. How trees are grown stands in `exact.py` and `histogram.py`.
Leaves out: categorical splits and splits on several features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.boosting.loss import Floats, reals

Places = NDArray[np.intp]
Flags = NDArray[np.bool_]

LEAF = -1


@dataclass(frozen=True)
class Growth:
    """When a tree stops growing, and what its leaves cost.

    Attributes:
        max_depth: Splits on the longest path; None for no limit.
        min_leaf: Rows a leaf must hold.
        min_curvature: Sum of curvatures a leaf must hold.
        ridge: Added to the curvature of each leaf (lambda).
        min_gain: A split that gains less is not made.

    Raises:
        ValueError: one of them is out of range, or a count that is no whole number.
    """

    max_depth: int | None = 3
    min_leaf: int = 1
    min_curvature: float = 0.0
    ridge: float = 0.0
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        if self.max_depth is not None and not is_count(self.max_depth, 0):
            raise ValueError(f"max_depth is {self.max_depth}; it must be at least 0 and whole, or None for no limit")
        if not is_count(self.min_leaf, 1):
            raise ValueError(f"min_leaf is {self.min_leaf}; a leaf holds at least 1 row, and whole ones")
        for name in ("min_curvature", "ridge", "min_gain"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ValueError(f"{name} is {getattr(self, name)}; it must be a finite number of at least 0")


@dataclass(frozen=True)
class Tree:
    """A binary tree as arrays, one entry a node, the root first and parents before their children.

    Attributes:
        feature: What an inner node looks at; -1 at a leaf.
        threshold: A row goes left where its feature is at most this.
        left: The left child; -1 at a leaf.
        right: The right child; -1 at a leaf.
        value: What the node predicts, or would if it were a leaf.
        gain: What the node's split gained; 0 at a leaf.
        cover: Sum of curvatures of the training rows that reached the node.
        rows: Number of those rows.
        missing_left: Whether a row without the feature goes left.
    """

    feature: Places
    threshold: Floats
    left: Places
    right: Places
    value: Floats
    gain: Floats
    cover: Floats
    rows: Places
    missing_left: Flags

    def apply(self, X: ArrayLike) -> Places:
        """The leaf each row of `X` (n, features) ends in, shape (n,).

        Raises:
            ValueError: another shape, or fewer features than the tree looks at.
        """
        matrix = np.asarray(X, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] <= self.feature.max():
            raise ValueError(
                f"the matrix has shape {matrix.shape}; give (n, at least {self.feature.max() + 1} features)"
            )
        node = np.zeros(len(matrix), dtype=np.intp)
        walking = np.arange(len(matrix))
        while True:
            walking = walking[self.feature[node[walking]] != LEAF]
            if walking.size == 0:
                return node
            at = node[walking]
            x = matrix[walking, self.feature[at]]
            left = np.where(np.isnan(x), self.missing_left[at], x <= self.threshold[at])
            node[walking] = np.where(left, self.left[at], self.right[at])

    def predict(self, X: ArrayLike) -> Floats:
        """The value of each row's leaf, shape (n,)."""
        values: Floats = self.value[self.apply(X)]
        return values

    @property
    def is_leaf(self) -> Flags:
        """Which nodes are leaves."""
        leaves: Flags = self.feature == LEAF
        return leaves

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.is_leaf))

    @property
    def depth(self) -> int:
        """Splits on the longest path."""
        depth = np.zeros(len(self.feature), dtype=np.intp)
        for node in np.flatnonzero(~self.is_leaf):
            depth[[self.left[node], self.right[node]]] = depth[node] + 1
        return int(depth.max())


def pruned(tree: Tree, min_gain: float) -> Tree:
    """`tree` without the splits that gain less than `min_gain`, from the leaves up.

    A split goes only once both its children are leaves: a weak split above a strong one stays.

    Raises:
        ValueError: `min_gain` is negative or not finite.
    """
    if not (np.isfinite(min_gain) and min_gain >= 0):
        raise ValueError(f"min_gain is {min_gain}; it must be a finite number of at least 0")
    leaf = tree.is_leaf.copy()
    for node in np.flatnonzero(~leaf)[::-1]:
        leaf[node] = tree.gain[node] < min_gain and leaf[tree.left[node]] and leaf[tree.right[node]]
    return _cut(tree, leaf)


def _cut(tree: Tree, leaf: Flags) -> Tree:
    """`tree` cut off below the nodes that are now leaves."""
    kept = np.zeros(len(leaf), dtype=np.bool_)
    kept[0] = True
    for node in np.flatnonzero(~leaf):
        kept[[tree.left[node], tree.right[node]]] = kept[node]
    number = np.cumsum(kept) - 1
    ends = leaf[kept]
    return Tree(
        feature=np.where(ends, LEAF, tree.feature[kept]),
        threshold=np.where(ends, 0.0, tree.threshold[kept]),
        left=np.where(ends, LEAF, number[tree.left[kept]]),
        right=np.where(ends, LEAF, number[tree.right[kept]]),
        value=tree.value[kept],
        gain=np.where(ends, 0.0, tree.gain[kept]),
        cover=tree.cover[kept],
        rows=tree.rows[kept],
        missing_left=tree.missing_left[kept] & ~ends,
    )


def matrix_of(X: ArrayLike) -> Floats:
    """`X` as floats of shape (n, features), n and features at least 1, NaN allowed, infinities not.

    Raises:
        ValueError: another shape, empty, or infinite or complex values.
    """
    matrix = reals(X)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"the matrix has shape {matrix.shape}; give (n, features), at least one row and one feature")
    if np.isinf(matrix).any():
        row, feature = np.argwhere(np.isinf(matrix))[0]
        raise ValueError(f"row {row}, feature {feature} is {matrix[row, feature]}; values must be finite, or NaN")
    return matrix


def weights_of(weight: ArrayLike | None, n: int) -> Floats:
    """Row weights as floats of shape (n,); ones where None.

    Raises:
        ValueError: another shape, negative, not finite, too large to be summed, or all of them 0.
    """
    weights = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"weights have shape {weights.shape}; give one for each of the {n} rows")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"weight {bad:g}; weights must be finite and at least 0")
    if not weights.any():
        raise ValueError("every weight is 0; at least one row must count")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError(f"weights of up to {weights.max():g} have no finite sum; scale them down")
    return weights


def is_count(number: object, least: int) -> bool:
    """Whether it is a whole number of at least `least`."""
    return isinstance(number, int | np.integer) and bool(number >= least)
