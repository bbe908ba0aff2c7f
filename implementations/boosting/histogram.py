"""Boosting on binned columns: a leaf is a histogram, a split is a place in it, and one child's histogram is free.

Follows: Ke et al. 2017 (LightGBM): leaf-wise growth by best gain, the smaller child counted and the larger one got by
subtraction, ties to the lower feature and the higher threshold, and the rows of a bin estimated from its curvature
(exact where all curvatures are equal) so that a histogram holds two sums, not three.
Leaves out: gradient-based sampling, exclusive feature bundling, categorical splits, several threads, and the library's
shortcut of dropping a feature below a node where none of its splits gained (under a ridge that loses splits).

Of the two children of a split, the smaller costs O(rows x features) and the larger O(bins x features).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from implementations.boosting.additive import Booster, Stage, Training
from implementations.boosting.binning import Bins, Codes, check_sizes, find_bins
from implementations.boosting.exact import check_derivatives
from implementations.boosting.loss import Floats, Loss
from implementations.boosting.tree import LEAF, Flags, Growth, Places, Tree, is_count

# Codes counted in one call: few enough to stay in cache, enough to outweigh the call.
BLOCK = 2**16
ROUNDING = 1e-12
# Gradient and curvature by bin, shape (2, features, width).
Histogram = NDArray[np.float64]
Order = Literal["leaf-wise", "depth-wise"]


@dataclass(frozen=True)
class Binned:
    """A training matrix in bins; codes of shape (features, n)."""

    bins: Bins
    codes: Codes

    @cached_property
    def width(self) -> int:
        """Number of codes of a column."""
        return self.bins.width


@dataclass(frozen=True)
class BinSplit:
    """The best split of a leaf; gain 0 where there is none.

    Attributes:
        gain: What it gains.
        feature: What it looks at.
        code: The highest bin that goes left.
        missing_left: Whether missing values go left.
    """

    gain: float
    feature: int
    code: int
    missing_left: bool


NO_SPLIT = BinSplit(0.0, LEAF, 0, missing_left=False)


def histogram(binned: Binned, rows: Places, gradient: Floats, curvature: Floats) -> Histogram:
    """Gradient and curvature of some rows by bin, shape (2, features, width).

    Args:
        binned: The training matrix.
        rows: Which rows, shape (r,).
        gradient: Shape (n,).
        curvature: Shape (n,).
    """
    n_features, n = binned.codes.shape
    amounts = (gradient, curvature) if len(rows) == n else (gradient[rows], curvature[rows])
    out = np.empty((2, n_features, binned.width))
    block = max(1, BLOCK // max(1, len(rows)))
    for first in range(0, n_features, block):
        codes = binned.codes[first : first + block]
        part: Codes = codes if len(rows) == n else np.take(codes, rows, axis=1)  # (block, r)
        cells = (part + binned.width * np.arange(len(part))[:, None]).ravel()
        for sums, amount in zip(out, amounts):
            repeated = np.broadcast_to(amount, part.shape).ravel()
            counted = np.bincount(cells, weights=repeated, minlength=len(part) * binned.width)
            sums[first : first + block] = counted.reshape(len(part), -1)
    return out


def best_split(
    sums: Histogram, n_rows: int, growth: Growth, *, missing: bool, allowed: Flags | None = None
) -> BinSplit:
    """The split that gains most, of all features and bins.

    Args:
        sums: The leaf's histogram, shape (2, features, width).
        n_rows: Rows of the leaf.
        growth: What a split must keep to.
        missing: Whether the last bin stands for missing values.
        allowed: Which features may be looked at, shape (features,); all where None.
    """
    sides = [_gains(sums, n_rows, growth, missing=missing, missing_left=False)]
    if missing:
        sides.append(_gains(sums, n_rows, growth, missing=missing, missing_left=True))
    table = np.array(sides)  # (directions, features, width - 1)
    if allowed is not None:
        table[:, ~allowed] = 0.0
    gain = table.max(initial=0.0)
    if gain <= 0:
        return NO_SPLIT
    direction, feature = np.argwhere((table == gain).any(axis=2))[0]
    code = int(np.flatnonzero(table[direction, feature] == gain)[-1])
    return BinSplit(float(gain), int(feature), code, missing_left=bool(direction))


def _gains(sums: Histogram, n_rows: int, growth: Growth, *, missing: bool, missing_left: bool) -> NDArray[np.float32]:
    """Gain of a split after each bin but the last, 0 where there can be none; shape (features, width - 1)."""
    total = sums[:, 0].sum(axis=1)[:, None, None]  # (2, 1, 1): the same in every feature
    with np.errstate(divide="ignore", invalid="ignore"):  # a leaf without curvature, where no split gains
        rows = np.floor(sums[1] * (n_rows / total[1]) + 0.5)  # (features, width)
    left = np.cumsum(sums[:, :, :-1], axis=2)  # (2, features, width - 1)
    n_left = np.cumsum(rows[:, :-1], axis=1)
    if missing_left:
        left += sums[:, :, -1:]
    if missing_left or not missing:
        # the library counts these from the right, which is not the same, since each bin's count is rounded
        present = rows[:, :-1] if missing else rows
        n_left = n_rows - (present.sum(axis=1, keepdims=True) - n_left)
    (gl, hl), (gr, hr) = left, total - left
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty side, barred below
        scores = gl * gl / (hl + growth.ridge) + gr * gr / (hr + growth.ridge)
        gains = scores - total[0] ** 2 / (total[1] + growth.ridge)
    enough = np.minimum(n_left, n_rows - n_left) >= growth.min_leaf
    enough &= np.minimum(hl, hr) >= growth.min_curvature
    real = enough & (gains > ROUNDING * scores) & (gains >= growth.min_gain)
    return np.where(real, gains, 0.0).astype(np.float32)


@dataclass(frozen=True)
class _Node:
    """What the tree will hold of a node."""

    split: BinSplit
    g: float
    h: float
    rows: int


@dataclass(frozen=True)
class _Leaf:
    """An open leaf."""

    number: int
    depth: int
    rows: Places
    sums: Histogram
    split: BinSplit


@dataclass
class _Grower:
    """A tree in the making: its nodes, and the first child of those that were split."""

    binned: Binned
    gradient: Floats
    curvature: Floats
    growth: Growth
    features: Flags | None
    nodes: list[_Node] = field(default_factory=list)
    children: dict[int, int] = field(default_factory=dict)

    def root(self, rows: Places) -> _Leaf:
        return self._leaf(0, rows, self._counted(rows))

    def _counted(self, rows: Places) -> Histogram:
        return histogram(self.binned, rows, self.gradient, self.curvature)

    def _leaf(self, depth: int, rows: Places, sums: Histogram) -> _Leaf:
        split = NO_SPLIT
        if depth != self.growth.max_depth:
            missing = self.binned.bins.missing
            split = best_split(sums, len(rows), self.growth, missing=missing, allowed=self.features)
        g, h = sums[:, 0].sum(axis=1)
        self.nodes.append(_Node(split, float(g), float(h), len(rows)))
        return _Leaf(len(self.nodes) - 1, depth, rows, sums, split)

    def divide(self, leaf: _Leaf) -> tuple[_Leaf, _Leaf]:
        """The children of a leaf: the smaller one's rows are counted, the larger one's sums are what is left."""
        self.children[leaf.number] = len(self.nodes)
        left = self._goes_left(leaf.split, leaf.rows)
        sides = leaf.rows[left], leaf.rows[~left]
        smaller = 0 if len(sides[0]) <= len(sides[1]) else 1
        counted = self._counted(sides[smaller])
        rest = np.subtract(leaf.sums, counted, out=leaf.sums)
        sums = (counted, rest) if smaller == 0 else (rest, counted)
        return self._leaf(leaf.depth + 1, sides[0], sums[0]), self._leaf(leaf.depth + 1, sides[1], sums[1])

    def _goes_left(self, split: BinSplit, rows: Places) -> Flags:
        codes = self.binned.codes[split.feature][rows]
        left: Flags = codes <= split.code
        if self.binned.bins.missing:
            left = np.where(codes == self.binned.width - 1, split.missing_left, left)
        return left

    def tree(self) -> Tree:
        inner = np.array([number in self.children for number in range(len(self.nodes))])
        left = np.array([self.children.get(number, LEAF) for number in range(len(self.nodes))])
        g, h = (np.array([getattr(node, name) for node in self.nodes]) for name in ("g", "h"))
        resistance = h + self.growth.ridge
        return Tree(
            feature=np.where(inner, [node.split.feature for node in self.nodes], LEAF),
            threshold=np.where(inner, [self._threshold(node.split) for node in self.nodes], 0.0),
            left=left,
            right=np.where(inner, left + 1, LEAF),
            value=np.divide(-g, resistance, out=np.zeros_like(g), where=resistance > 0),
            gain=np.where(inner, [node.split.gain for node in self.nodes], 0.0),
            cover=h,
            rows=np.array([node.rows for node in self.nodes]),
            missing_left=inner & [node.split.missing_left for node in self.nodes],
        )

    def _threshold(self, split: BinSplit) -> float:
        bounds = self.binned.bins.bounds[split.feature]
        return float(bounds[split.code]) if split.code < len(bounds) else np.inf


def grow_binned(
    binned: Binned,
    gradient: Floats,
    curvature: Floats,
    growth: Growth,
    *,
    num_leaves: int = 31,
    order: Order = "leaf-wise",
    rows: Places | None = None,
    features: Flags | None = None,
) -> tuple[Tree, Places]:
    """Grow one tree, a leaf at a time.

    Args:
        binned: The training matrix.
        gradient: First derivative of each row's loss, shape (n,).
        curvature: Second derivative, shape (n,), at least 0.
        growth: When a leaf may not be split, and the ridge of its value.
        num_leaves: Leaves of the tree, at least 2.
        order: Which open leaf is split next: the one that gains most, or the shallowest.
        rows: The rows to grow on, rising; all where None.
        features: Which features may be looked at, shape (features,); all where None.

    Returns:
        The tree, and the leaf of each row, shape (n,); 0 for rows it was not grown on.

    Raises:
        ValueError: another number of gradients or curvatures than of rows, some that are not finite, no row, fewer than
            2 leaves, or another order.
    """
    check_derivatives(binned.codes.shape[1], gradient, curvature)
    _check_leaves(num_leaves, None)
    _check_order(order)
    if rows is not None and len(rows) == 0:
        raise ValueError("no rows to grow a tree on; give at least one")
    grower = _Grower(binned, gradient, curvature, growth, features)
    leaf_of_row = np.zeros(binned.codes.shape[1], dtype=np.intp)
    waiting = [_ranked(grower.root(np.arange(len(leaf_of_row)) if rows is None else rows), order)]
    while waiting:
        _, leaf = heapq.heappop(waiting)
        if leaf.split.gain <= 0 or len(grower.children) == num_leaves - 1:
            leaf_of_row[leaf.rows] = leaf.number
            continue
        for child in grower.divide(leaf):
            heapq.heappush(waiting, _ranked(child, order))
    return grower.tree(), leaf_of_row


def _ranked(leaf: _Leaf, order: Order) -> tuple[tuple[float, int], _Leaf]:
    """A leaf after what decides its turn, the smallest first: its gain or its depth, then its age."""
    return (-leaf.split.gain if order == "leaf-wise" else leaf.depth, leaf.number), leaf


class HistogramBooster(Booster):
    """Second-order boosting of trees grown on histograms.

    Args:
        loss: What is descended.
        learning_rate: Shrinkage of each tree.
        growth: When a leaf may not be split; LightGBM's defaults (20 rows, curvature 1e-3, no ridge) where None.
        num_leaves: Leaves of a tree.
        order: Which open leaf is split next.
        max_bin: Bins of a column.
        min_rows_in_bin: Rows a bin should hold on average.
        start: As in `Booster`.
        subsample: As in `Booster`.
        colsample: As in `Booster`.
        rng: As in `Booster`.

    Raises:
        ValueError: a number out of range, more leaves than the depth allows, or as in `Booster`.
    """

    def __init__(
        self,
        loss: Loss,
        *,
        learning_rate: float = 0.1,
        growth: Growth | None = None,
        num_leaves: int = 31,
        order: Order = "leaf-wise",
        max_bin: int = 255,
        min_rows_in_bin: int = 3,
        start: float | None = None,
        subsample: float = 1.0,
        colsample: float = 1.0,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            loss, learning_rate=learning_rate, start=start, subsample=subsample, colsample=colsample, rng=rng
        )
        self.growth = growth or Growth(max_depth=None, min_leaf=20, min_curvature=1e-3)
        _check_leaves(num_leaves, self.growth.max_depth)
        _check_order(order)
        check_sizes(max_bin, min_rows_in_bin)
        self.num_leaves = num_leaves
        self.order: Order = order
        self.max_bin = max_bin
        self.min_rows_in_bin = min_rows_in_bin

    def _prepare(self, training: Training) -> None:
        bins = find_bins(training.X, self.max_bin, self.min_rows_in_bin)
        self.binned = Binned(bins, bins.codes(training.X))

    def _round(self, training: Training) -> tuple[Stage, Floats]:
        gradient = training.weight * self.loss.gradient(training.y, training.raw)
        curvature = training.weight * self.loss.curvature(training.y, training.raw)
        rows, features = self._sampled_rows(len(gradient)), self._sampled_features(len(self.binned.codes))
        tree, leaf = grow_binned(
            self.binned,
            gradient,
            curvature,
            self.growth,
            num_leaves=self.num_leaves,
            order=self.order,
            rows=rows,
            features=None if features is None else np.isin(np.arange(len(self.binned.codes)), features),
        )
        if rows is not None:
            unseen = np.delete(np.arange(len(gradient)), rows)
            leaf[unseen] = tree.apply(training.X[unseen])
        values = self.learning_rate * tree.value
        return Stage(tree, values), values[leaf]


def _check_leaves(num_leaves: int, max_depth: int | None) -> None:
    if not is_count(num_leaves, 2):
        raise ValueError(f"num_leaves is {num_leaves}; a tree that splits has at least 2, a whole number")
    if max_depth is not None and num_leaves > 2**max_depth:
        raise ValueError(
            f"num_leaves is {num_leaves}, but {max_depth} levels hold {2**max_depth}; lower it, or raise max_depth"
        )


def _check_order(order: str) -> None:
    if order not in ("leaf-wise", "depth-wise"):
        raise ValueError(f"order is {order!r}; it must be 'leaf-wise' or 'depth-wise'")
