"""The histogram booster against row-by-row sums, the exact trees, LightGBM's trees and its loss."""

from itertools import pairwise

import numpy as np
import pytest

from implementations.boosting.binning import find_bins
from implementations.boosting.exact import SortedColumns, grow
from implementations.boosting.histogram import Binned, HistogramBooster, grow_binned, histogram
from implementations.boosting.loss import LogLoss, SquaredError
from implementations.boosting.tree import Growth
from tests.implementations.boosting.datasets import classification, holed, regression, uneven_weights


def binned(X, max_bin=255):
    bins = find_bins(X, max_bin)
    return Binned(bins, bins.codes(X))


def coarse(X):
    """X with few distinct values, so that a bin for each is exact."""
    return np.round(X + 10, 1)


@pytest.mark.parametrize("n", [1, 7, 300])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_sums_row_by_row(n, share):
    """Gradient and curvature of each bin against a loop over rows and features, for all rows and for some."""
    X, y = regression(n=n)
    data, h = binned(X, 8), uneven_weights(n)
    rows = np.flatnonzero(np.random.default_rng(0).random(n) <= share) if n > 1 else np.arange(n)
    expected = np.zeros((2, X.shape[1], data.width))
    for row in rows:
        for feature, code in enumerate(data.codes[:, row]):
            expected[:, feature, code] += y[row], h[row]
    np.testing.assert_allclose(histogram(data, rows, y, h), expected, atol=1e-12)


def test_many_rows_are_counted_in_pieces():
    """More cells than one call takes."""
    X, y = regression(n=30_000)
    data = binned(X, 8)
    sums = histogram(data, np.arange(len(y)), y, np.ones(len(y)))
    np.testing.assert_allclose(sums[1].sum(axis=1), len(y))
    np.testing.assert_allclose(sums[0].sum(axis=1), y.sum())


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_with_a_bin_a_value_it_is_exact(depth, missing):
    """The depth-wise tree parts the rows as the exact one does."""
    X, y = regression(n=400)
    X = holed(coarse(X)) if missing else coarse(X)
    g, h = -y * uneven_weights(400), uneven_weights(400)
    growth = Growth(max_depth=depth, min_leaf=1, min_curvature=5.0, ridge=1.0)
    tree, leaf = grow_binned(binned(X), g, h, growth, num_leaves=2**depth, order="depth-wise")
    exact = grow(SortedColumns.of(X), g, h, growth)
    np.testing.assert_allclose(tree.predict(X), exact.predict(X), rtol=1e-9)
    np.testing.assert_array_equal(tree.apply(X), leaf)


def library(X, y, rounds, **settings):
    """LightGBM on one thread, a bin for each value."""
    lightgbm = pytest.importorskip("lightgbm")
    fixed = {"min_data_in_bin": 1, "num_threads": 1, "verbosity": -1, "learning_rate": 0.1, "force_col_wise": True}
    return lightgbm.train({**fixed, **settings}, lightgbm.Dataset(X, y, weight=uneven_weights(len(y))), rounds)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [False, True])
def test_leaf_wise_trees_are_lightgbms(missing, seed):
    """30 trees of 15 leaves by log loss: the raw scores of the training rows, and the gains of the first tree."""
    X, y = classification(n=500, seed=seed)
    X = holed(np.round(X, 1), seed) if missing else np.round(X, 1)
    theirs = library(X, y, 30, objective="binary", num_leaves=15)
    ours = HistogramBooster(LogLoss(), num_leaves=15, min_rows_in_bin=1).fit(X, y, 30, weight=uneven_weights(500))
    np.testing.assert_allclose(ours.raw(X), theirs.predict(X, raw_score=True), rtol=0, atol=1e-6)
    first = ours.stages[0].partition
    gains = theirs.trees_to_dataframe().query("tree_index == 0").split_gain.dropna()
    np.testing.assert_allclose(np.sort(first.gain[first.gain > 0]), np.sort(gains), rtol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_regression_trees_are_lightgbms(seed):
    """30 trees of 31 leaves by squared error."""
    X, y = regression(n=600, seed=seed)
    X = coarse(X)
    theirs = library(X, y, 30, objective="regression", num_leaves=31)
    ours = HistogramBooster(SquaredError(), min_rows_in_bin=1).fit(X, y, 30, weight=uneven_weights(600))
    np.testing.assert_allclose(ours.raw(X), theirs.predict(X), rtol=0, atol=1e-5)


def test_the_loss_is_lightgbms_on_50_000_rows():
    """Test loss of 40 trees of 31 leaves on continuous columns, where the bins differ: within 0.2% over three sets.

    On a single set the two lie up to 0.3% apart, in either direction.
    """
    lightgbm = pytest.importorskip("lightgbm")
    apart = []
    for seed in range(3):
        X, surface = regression(n=70_000, noise=2.0, seed=seed)
        y = (surface > np.median(surface)).astype(float)
        settings = {"objective": "binary", "num_threads": 1, "verbosity": -1}
        theirs = lightgbm.train(settings, lightgbm.Dataset(X[:50_000], y[:50_000]), 40)
        ours = HistogramBooster(LogLoss()).fit(X[:50_000], y[:50_000], 40)
        new, target = X[50_000:], y[50_000:]
        loss, reference = (
            LogLoss().value(target, raw).mean() for raw in (ours.raw(new), theirs.predict(new, raw_score=True))
        )
        apart.append(loss / reference - 1)
    assert abs(np.mean(apart)) < 0.002


def test_depth_wise_growth_is_xgboosts():
    """The training margins of XGBoost's histogram method, given a bin for each value."""
    xgboost = pytest.importorskip("xgboost")
    X, y = regression(n=500)
    X = coarse(X)
    settings = {"tree_method": "hist", "max_bin": 256, "max_depth": 4, "nthread": 1, "base_score": 0.5, "eta": 0.1}
    data = xgboost.DMatrix(X, y, weight=uneven_weights(500))
    theirs = xgboost.train(settings, data, 20).predict(data, output_margin=True)
    growth = Growth(max_depth=4, min_leaf=1, min_curvature=1.0, ridge=1.0)
    ours = HistogramBooster(
        SquaredError(), growth=growth, num_leaves=16, order="depth-wise", min_rows_in_bin=1, start=0.5
    ).fit(X, y, 20, weight=uneven_weights(500))
    np.testing.assert_allclose(ours.raw(X), theirs, rtol=1e-5, atol=1e-4)


def test_the_best_open_leaf_is_split_next():
    """With one more leaf allowed, the tree changes by the split of largest gain among its leaves."""
    X, y = regression(n=500)
    data, growth = binned(X), Growth(max_depth=None, min_leaf=5)
    trees = [grow_binned(data, -y, np.ones(500), growth, num_leaves=k)[0] for k in range(2, 20)]
    full, _ = grow_binned(data, -y, np.ones(500), growth, num_leaves=400)
    for small, large in pairwise(trees):
        chosen = np.flatnonzero(large.is_leaf[: len(small.gain)] != small.is_leaf)
        waiting = [full.gain[_same_node(full, small, leaf)] for leaf in np.flatnonzero(small.is_leaf)]
        assert large.gain[chosen].tolist() == [max(waiting)]


def _same_node(full, tree, node):
    """The node of the full tree that has the same path from the root."""
    path = []
    while node:
        parent = int(np.flatnonzero((tree.left == node) | (tree.right == node))[0])
        path.append(tree.left[parent] == node)
        node = parent
    for left in reversed(path):
        node = full.left[node] if left else full.right[node]
    return node


def test_rows_left_out_are_scored_too():
    """Half of the rows a round: the training scores equal those of the trees, and features keep to their sample."""
    X, y = classification(n=500)
    booster = HistogramBooster(LogLoss(), subsample=0.5, colsample=0.5, rng=np.random.default_rng(0)).fit(X, y, 10)
    np.testing.assert_allclose(booster.training.raw, booster.raw(X))
    assert booster.stages[0].partition.rows[0] == 250
    assert max(len(set(stage.partition.feature) - {-1}) for stage in booster.stages) <= 3


def test_a_warm_start_is_one_long_fit():
    """10 + 10 rounds against 20, sampling included."""
    X, y = classification()
    one, other = (
        HistogramBooster(LogLoss(), subsample=0.7, rng=np.random.default_rng(3)).fit(X, y, n) for n in (20, 10)
    )
    np.testing.assert_array_equal(one.raw(X), other.fit_more(10).raw(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_leaves": 255, "growth": Growth(max_depth=4)}, "num_leaves is 255, but 4 levels hold 16"),
        ({"num_leaves": 1}, "num_leaves is 1"),
        ({"num_leaves": 2.5}, "num_leaves is 2.5"),
        ({"max_bin": 1}, "max_bin is 1"),
        ({"min_rows_in_bin": 0}, "min_rows is 0"),
        ({"order": "breadth-first"}, "order is 'breadth-first'"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    """More leaves than the depth holds, no leaves to split into, no bins, an unknown order, before any fit."""
    with pytest.raises(ValueError, match=message):
        HistogramBooster(LogLoss(), **settings)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gradient": np.ones(3)}, "gradient of shape"),
        ({"curvature": np.full(4, np.nan)}, "curvature nan in row 0"),
        ({"num_leaves": 0}, "num_leaves is 0"),
        ({"order": "breadth-first"}, "order is"),
        ({"rows": np.array([], int)}, "no rows"),
    ],
)
def test_what_no_tree_can_be_grown_on_is_refused(changed, message):
    """Other lengths, numbers that are not finite, no leaf, no row."""
    arguments = {"gradient": np.arange(4.0), "curvature": np.ones(4), "growth": Growth(), **changed}
    with pytest.raises(ValueError, match=message):
        grow_binned(binned(np.arange(8.0).reshape(4, 2)), **arguments)
