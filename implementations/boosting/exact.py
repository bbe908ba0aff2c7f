"""Trees grown exactly: every distinct value of every feature is a candidate threshold.

Follows: Breiman et al. 1984 (CART, variance reduction) and Chen & Guestrin 2016 (XGBoost, sections 2.2, 3.1 and 3.4).
Both are one criterion. A row has a gradient g and a curvature h; a leaf with sums G and H takes the value
-G / (H + ridge), and a split gains GL**2 / (HL + ridge) + GR**2 / (HR + ridge) - G**2 / (H + ridge). With g = -target,
h = 1 and no ridge that is CART, its gain the fall of the squared error.
Leaves out: splits that gain nothing (XOR needs one at its root), ties broken at random (the first feature and its
smallest threshold win), and features drawn anew at each node.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from implementations.boosting.loss import Floats
from implementations.boosting.tree import LEAF, Flags, Growth, Places, Tree, matrix_of

# A gain this small beside the scores it is the difference of is rounding, not a gain.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SortedColumns:
    """A training matrix with the order of each column, found once and used by every tree.

    Attributes:
        values: The matrix by column, shape (features, n).
        order: Rows by rising value, missing ones last, shape (features, n).
    """

    values: Floats
    order: Places

    @classmethod
    def of(cls, X: ArrayLike) -> SortedColumns:
        """Sort the columns of `X`, shape (n, features); NaN means missing.

        Raises:
            ValueError: empty, not two-dimensional, or infinite.
        """
        values = np.ascontiguousarray(matrix_of(X).T)
        return cls(values, np.argsort(values, axis=1, kind="stable"))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.values.shape[1])

    def among(self, rows: Places) -> Places:
        """The order of these rows alone, shape (features, rows)."""
        if len(rows) == self.n:
            return self.order
        wanted = np.zeros(self.n, dtype=np.bool_)
        wanted[rows] = True
        return self.order[wanted[self.order]].reshape(len(self.order), -1)


def grow(
    columns: SortedColumns,
    gradient: Floats,
    curvature: Floats,
    growth: Growth,
    *,
    rows: Places | None = None,
    features: Places | None = None,
) -> Tree:
    """Grow one tree, a level at a time: all nodes, features and thresholds of a level in one pass.

    Args:
        columns: The training matrix.
        gradient: First derivative of each row's loss, shape (n,).
        curvature: Second derivative, shape (n,), at least 0; rows of curvature 0 are left out.
        growth: When to stop.
        rows: The rows to grow on, each once; all where None.
        features: The features to look at, each once; all where None.

    Returns:
        The tree; a leaf of 0 where no row has any curvature.

    Raises:
        ValueError: another number of gradients or curvatures than of rows, some that are not finite, rows or features
            that there are not, or no feature.
    """
    check_derivatives(columns.n, gradient, curvature)
    _check_places("row", rows, columns.n)
    _check_places("feature", features, len(columns.values))
    rows = np.arange(columns.n) if rows is None else rows
    rows = rows[curvature[rows] > 0]
    if len(rows) == 0:
        return _BARE
    if features is not None:
        part = SortedColumns(columns.values[features], columns.order[features])
        return _renumbered(grow(part, gradient, curvature, growth, rows=rows), features)
    level = _Level(columns.values, columns.among(rows), np.array([len(rows)]))
    levels: list[_Nodes] = []
    nodes_before = 0
    while True:
        final = growth.max_depth is not None and len(levels) >= growth.max_depth
        nodes = level.nodes(gradient, curvature, growth, nodes_before, final=final)
        levels.append(nodes)
        if not nodes.split.any():
            return _joined(levels)
        nodes_before += len(nodes.split)
        level = level.divided(nodes)


def cart(columns: SortedColumns, target: Floats, weight: Floats, growth: Growth, rows: Places | None = None) -> Tree:
    """A regression tree of `target` by weighted squared error; a leaf predicts its weighted mean.

    Args:
        columns: The training matrix.
        target: Shape (n,).
        weight: Shape (n,), at least 0; rows of weight 0 are left out.
        growth: When to stop.
        rows: The rows to grow on, each once; all where None.

    Returns:
        The tree; a leaf of 0 where no row has any weight.

    Raises:
        ValueError: another number of targets or weights than of rows, some that are not finite, or rows that there are
            not.
    """
    return grow(columns, -weight * target, weight, growth, rows=rows)


def check_derivatives(n: int, gradient: Floats, curvature: Floats) -> None:
    """Refuse derivatives that no tree can be grown on.

    Raises:
        ValueError: other shapes than (n,), or a number that is not finite.
    """
    for name, amount in (("gradient", gradient), ("curvature", curvature)):
        if amount.shape != (n,):
            raise ValueError(f"{name} of shape {amount.shape} for {n} rows; give one for each")
        if not np.isfinite(amount).all():
            row = int(np.argmin(np.isfinite(amount)))
            raise ValueError(
                f"{name} {amount[row]} in row {row}; it must be finite (a lower learning_rate may keep it so)"
            )


def _check_places(what: str, places: Places | None, n: int) -> None:
    if places is None:
        return
    wrong = places.dtype.kind not in "iu" or (places < 0).any() or (places >= n).any()
    if wrong or len(np.unique(places)) < len(places) or (what == "feature" and not len(places)):
        raise ValueError(f"{what}s {places}; give numbers from 0 to {n - 1}, each once")


@dataclass(frozen=True)
class _Sums:
    """Gradient, curvature and rows of one side of a split, at each place a split could be, or of each node."""

    g: Floats
    h: Floats
    n: Places

    def plus(self, other: _Sums) -> _Sums:
        return _Sums(self.g + other.g, self.h + other.h, self.n + other.n)

    def minus(self, other: _Sums) -> _Sums:
        return _Sums(self.g - other.g, self.h - other.h, self.n - other.n)

    def at(self, places: Any) -> _Sums:
        return _Sums(self.g[places], self.h[places], self.n[places])

    def score(self, ridge: float) -> Floats:
        # a side without rows divides by 0 or by rounding; its split is barred for its lack of rows
        with np.errstate(divide="ignore", invalid="ignore"):
            scores: Floats = self.g * self.g / (self.h + ridge)
        return scores

    def large_enough(self, growth: Growth) -> Flags:
        return (self.n >= growth.min_leaf) & (self.h >= growth.min_curvature)


@dataclass(frozen=True)
class _Split:
    """The best split of each node of a level, and the column of the last row on its left; gain 0 where none is."""

    gain: Floats
    feature: Places
    last: Places


@dataclass(frozen=True)
class _Nodes:
    """A level's nodes as the tree will hold them, and which of them split."""

    arrays: tuple[NDArray[np.generic], ...]
    split: Flags

    @property
    def tree(self) -> Tree:
        return Tree(*self.arrays)  # type: ignore[arg-type] # in the order of its fields


@dataclass(frozen=True)
class _Level:
    """The open nodes of one depth.

    Attributes:
        values: The training matrix by column, shape (features, n).
        order: Rows by node and, inside a node, by value, shape (features, m). A node owns the same columns of it in
            every feature.
        sizes: Rows of each node, shape (nodes,).
    """

    values: Floats
    order: Places
    sizes: Places

    @cached_property
    def starts(self) -> Places:
        """The first column of each node, shape (nodes,)."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def node(self) -> Places:
        """The node of each column, shape (m,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def x(self) -> Floats:
        """The values in order, shape (features, m)."""
        return np.take_along_axis(self.values, self.order, axis=1)

    def nodes(self, gradient: Floats, curvature: Floats, growth: Growth, nodes_before: int, *, final: bool) -> _Nodes:
        """The level's nodes; children are numbered after the level, and a final level has none."""
        total = self._totals(gradient, curvature)
        split, missing_left = self._best(gradient, curvature, total, growth)
        inner = (split.gain > 0) & (not final)
        left = nodes_before + len(inner) + 2 * (np.cumsum(inner) - 1)
        arrays = (
            np.where(inner, split.feature, LEAF),
            np.where(inner, self._thresholds(split), 0.0),
            np.where(inner, left, LEAF),
            np.where(inner, left + 1, LEAF),
            -total.g / (total.h + growth.ridge),
            np.where(inner, split.gain, 0.0),
            total.h,
            total.n,
            missing_left & inner,
        )
        return _Nodes(arrays, inner)

    def _totals(self, gradient: Floats, curvature: Floats) -> _Sums:
        rows = self.order[0]
        g, h = (np.add.reduceat(amount[rows], self.starts) for amount in (gradient, curvature))
        return _Sums(g, h, self.sizes)

    def _running(self, amount: Floats, total: Floats) -> Floats:
        """Sum of `amount` over the rows of a node up to and with each column, shape (features, m).

        Each node begins by taking away the total of the one before it, so that one cumulative sum serves all of
        them and rounding stays of the size of a node.
        """
        along = amount[self.order]
        along[:, self.starts[1:]] -= total[:-1]
        return np.cumsum(along, axis=1, out=along)

    def _best(self, gradient: Floats, curvature: Floats, total: _Sums, growth: Growth) -> tuple[_Split, Flags]:
        """The best split of each node, and whether it sends missing values left (right where that is as good)."""
        rank = np.arange(self.order.shape[1]) - self.starts[self.node]
        left = _Sums(
            self._running(gradient, total.g),
            self._running(curvature, total.h),
            np.broadcast_to(rank + 1, self.order.shape),
        )
        missing_right = self._search(left, total, growth)
        present = np.add.reduceat(~np.isnan(self.x), self.starts, axis=1, dtype=np.intp)  # (features, nodes)
        if (present == self.sizes).all():
            return missing_right, np.zeros(len(self.sizes), dtype=np.bool_)
        last_present = self.starts + np.maximum(present, 1) - 1
        missing = total.minus(left.at((np.arange(len(present))[:, None], last_present)))  # (features, nodes)
        missing_left = self._search(left.plus(missing.at((slice(None), self.node))), total, growth)
        wins = missing_left.gain > missing_right.gain
        columns = [np.where(wins, a, b) for a, b in zip(vars(missing_left).values(), vars(missing_right).values())]
        return _Split(*columns), wins

    def _search(self, left: _Sums, total: _Sums, growth: Growth) -> _Split:
        gains = self._gains(left, total.at(self.node), growth)  # (features, m)
        tops = np.maximum.reduceat(gains, self.starts, axis=1)  # (features, nodes)
        feature = tops.argmax(axis=0)
        gain = tops.max(axis=0)
        reached = gains[feature[self.node], np.arange(gains.shape[1])] == gain[self.node]  # (m,)
        hits = np.flatnonzero(reached)
        return _Split(gain, feature, hits[np.searchsorted(hits, self.starts)])

    def _gains(self, left: _Sums, total: _Sums, growth: Growth) -> Floats:
        """What a split after each column gains, 0 where there can be none."""
        right = total.minus(left)
        scores = left.score(growth.ridge) + right.score(growth.ridge)
        gains = scores - total.score(growth.ridge)
        allowed = left.large_enough(growth) & right.large_enough(growth) & self._boundaries
        real = (gains > ROUNDING * scores) & (gains >= growth.min_gain)
        # in single precision, as in XGBoost, splits that differ by rounding alone tie, and the first of them wins
        return np.where(allowed & real, gains, 0.0).astype(np.float32)

    @cached_property
    def _boundaries(self) -> Flags:
        """Where a value differs from the next of its node, shape (features, m); missing ones lie beyond all others."""
        this, following = self.x[:, :-1], self.x[:, 1:]
        differs = np.zeros(self.x.shape, dtype=np.bool_)
        differs[:, :-1] = (this < following) | (np.isnan(following) & ~np.isnan(this))
        differs[:, self.starts + self.sizes - 1] = False
        return differs

    def _thresholds(self, split: _Split) -> Floats:
        following = np.minimum(split.last + 1, self.order.shape[1] - 1)
        return between(self.x[split.feature, split.last], self.x[split.feature, following])

    def divided(self, nodes: _Nodes) -> _Level:
        """The children of the nodes that split, left before right; rows of leaves are dropped."""
        kept = nodes.split[self.node]  # (m,)
        order, parent, tree = self.order[:, kept], self.node[kept], nodes.tree
        x = self.values[tree.feature[parent], order[0]]
        goes_right = ~np.where(np.isnan(x), tree.missing_left[parent], x <= tree.threshold[parent])
        family = np.cumsum(nodes.split) - 1
        # 16 bits let the stable sort be a radix sort
        child = np.empty(self.values.shape[1], dtype=np.uint16 if len(family) < 2**15 else np.intp)
        child[order[0]] = 2 * family[parent] + goes_right
        by_child = np.argsort(child[order], axis=1, kind="stable")  # keeps the order by value inside a child
        sizes = np.bincount(child[order[0]], minlength=2 * int(nodes.split.sum()))
        return _Level(self.values, np.take_along_axis(order, by_child, axis=1), sizes)


def between(below: Floats, above: Floats) -> Floats:
    """Half way between two values, `below` where no number lies between, +inf where nothing is above (NaN)."""
    middle = below + (above - below) / 2
    return np.where(np.isnan(above), np.inf, np.where(middle < above, middle, below))


_BARE = Tree(
    feature=np.array([LEAF]),
    threshold=np.zeros(1),
    left=np.array([LEAF]),
    right=np.array([LEAF]),
    value=np.zeros(1),
    gain=np.zeros(1),
    cover=np.zeros(1),
    rows=np.zeros(1, dtype=np.intp),
    missing_left=np.zeros(1, dtype=np.bool_),
)


def _joined(levels: list[_Nodes]) -> Tree:
    return Tree(*(np.concatenate([level.arrays[i] for level in levels]) for i in range(len(fields(Tree)))))


def _renumbered(tree: Tree, features: Places) -> Tree:
    """`tree`, grown on some features, with their numbers among all."""
    columns = dict(vars(tree))
    columns["feature"] = np.where(tree.is_leaf, LEAF, features[tree.feature])
    return Tree(**columns)
