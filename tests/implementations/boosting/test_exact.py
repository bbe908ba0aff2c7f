"""Exact growth against a brute-force search in plain Python, scikit-learn's trees and XGBoost's dump."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.boosting.exact import SortedColumns, cart, grow
from implementations.boosting.tree import Growth
from tests.implementations.boosting.datasets import classification, holed, regression


def every_split(X, g, h, growth):
    """(gain, feature, rows on the left) of each allowed split, found by trying all of them."""

    def score(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + growth.ridge)

    def allowed(rows):
        return rows.sum() >= growth.min_leaf and h[rows].sum() >= growth.min_curvature

    for feature, x in enumerate(X.T):
        absent = np.isnan(x)
        for threshold in np.unique(x[~absent]):
            for left in (x <= threshold, (x <= threshold) | absent):
                if left.any() and not left.all() and allowed(left) and allowed(~left):
                    yield score(left) + score(~left) - score(np.full(len(x), True)), feature, left


def grown(X, g, h, growth, **kwargs):
    return grow(SortedColumns.of(X), np.asarray(g, float), np.asarray(h, float), growth, **kwargs)


@st.composite
def problems(draw):
    """A small matrix of few values, some missing, with gradients, curvatures and limits."""
    n, features = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    value = st.sampled_from([0.0, 1.0, 2.0, 5.0, np.nan])
    X = np.array(draw(st.lists(st.lists(value, min_size=features, max_size=features), min_size=n, max_size=n)))
    g = np.array(draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)), dtype=float)
    h = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), dtype=float)
    growth = Growth(
        max_depth=1,
        min_leaf=draw(st.integers(1, 3)),
        min_curvature=draw(st.sampled_from([0.0, 3.0])),
        ridge=draw(st.sampled_from([0.0, 1.0])),
    )
    return X, g, h, growth


@given(problems())
@settings(deadline=None, max_examples=200)
def test_the_root_split_is_the_best_of_all(problem):
    """No split of any feature, threshold and direction of missing values gains more, and its rows go where it says."""
    X, g, h, growth = problem
    tree = grown(X, g, h, growth)
    splits = list(every_split(X, g, h, growth))
    best = max((gain for gain, _, _ in splits), default=0.0)
    assert tree.gain[0] == pytest.approx(max(best, 0.0), rel=1e-6, abs=1e-9)
    if tree.n_leaves == 2:
        left = tree.apply(X) == tree.left[0]
        made = [gain for gain, feature, rows in splits if feature == tree.feature[0] and (rows == left).all()]
        assert made[0] == pytest.approx(best, rel=1e-6)
        expected = -np.array([g[left].sum(), g[~left].sum()]) / (
            np.array([h[left].sum(), h[~left].sum()]) + growth.ridge
        )
        np.testing.assert_allclose(tree.value[1:], expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("max_depth", "min_leaf"), [(1, 1), (3, 5), (6, 5), (None, 5)])
def test_predictions_are_scikit_learns(seed, max_depth, min_leaf):
    """New rows of a weighted regression end in equal leaves; leaves of 5 rows keep two features from tying."""
    trees = pytest.importorskip("sklearn.tree")
    X, y = regression(n=400, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 1.5, len(y))
    ours = cart(SortedColumns.of(X), y, weight, Growth(max_depth=max_depth, min_leaf=min_leaf))
    theirs = trees.DecisionTreeRegressor(max_depth=max_depth, min_samples_leaf=min_leaf, random_state=0)
    new, _ = regression(n=500, seed=seed + 100)
    np.testing.assert_allclose(ours.predict(new), theirs.fit(X, y, weight).predict(new), rtol=1e-10)


def test_a_full_tree_knows_its_training_rows():
    """Without limits every row has its own leaf."""
    X, y = regression(n=1000)
    tree = cart(SortedColumns.of(X), y, np.ones(len(y)), Growth(max_depth=None))
    np.testing.assert_allclose(tree.predict(X), y, rtol=1e-10)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("depth", [1, 3, 6])
def test_gains_leaves_and_covers_are_xgboosts(depth, missing):
    """One tree of logistic loss from a score of 0, node by node, against the library's dump."""
    xgboost = pytest.importorskip("xgboost")
    X, y = classification(n=300)
    X = holed(X) if missing else X
    settings = {"tree_method": "exact", "objective": "binary:logistic", "base_score": 0.5, "eta": 1.0, "nthread": 1}
    theirs = xgboost.train({**settings, "max_depth": depth}, xgboost.DMatrix(X, y), 1).trees_to_dataframe()
    growth = Growth(max_depth=depth, ridge=1.0, min_curvature=1.0)
    ours = grown(X, 0.5 - y, np.full(len(y), 0.25), growth)
    leaf = (theirs.Feature == "Leaf").to_numpy()
    assert len(theirs) == len(ours.value)
    np.testing.assert_array_equal(leaf, ours.is_leaf)
    # a small gain is a difference of scores that the library holds in single precision
    np.testing.assert_allclose(np.where(ours.is_leaf, ours.value, ours.gain), theirs.Gain, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.cover, theirs.Cover, rtol=1e-5)
    np.testing.assert_allclose(ours.threshold[~leaf], theirs.Split[~leaf], rtol=1e-6, atol=1e-7)
    if missing:
        goes_left = (theirs.Missing == theirs.Yes).to_numpy()
        np.testing.assert_array_equal(ours.missing_left[~leaf], goes_left[~leaf])


def test_rows_of_no_weight_are_not_there():
    """A tree on half of the rows, by rows, by weight, and by leaving them out."""
    X, y = regression(n=200)
    rows = np.arange(0, 200, 2)
    weight = np.zeros(200)
    weight[rows] = 1.0
    growth = Growth(max_depth=4)
    alone = cart(SortedColumns.of(X[rows]), y[rows], np.ones(100), growth)
    for tree in (
        cart(SortedColumns.of(X), y, np.ones(200), growth, rows=rows),
        cart(SortedColumns.of(X), y, weight, growth),
    ):
        np.testing.assert_array_equal(tree.threshold, alone.threshold)
        np.testing.assert_allclose(tree.value, alone.value)


def test_a_tree_looks_only_at_its_features():
    """Features are numbered among all."""
    X, y = regression()
    tree = grown(X, -y, np.ones(len(y)), Growth(max_depth=4), features=np.array([1, 3]))
    assert set(tree.feature[~tree.is_leaf]) == {1, 3}


def test_a_weight_counts_like_as_many_rows():
    """Integer weights against repeated rows."""
    X, y = regression(n=60)
    times = np.random.default_rng(0).integers(1, 4, 60)
    repeated = np.repeat(np.arange(60), times)
    weighted = cart(SortedColumns.of(X), y, times.astype(float), Growth(max_depth=3))
    plain = cart(SortedColumns.of(X[repeated]), y[repeated], np.ones(len(repeated)), Growth(max_depth=3))
    np.testing.assert_array_equal(weighted.threshold, plain.threshold)
    np.testing.assert_allclose(weighted.value, plain.value)


@pytest.mark.parametrize("column", [[3.0] * 4, [np.nan] * 4])
def test_a_feature_without_two_values_is_never_split(column):
    """Constant and all-missing columns leave a single leaf."""
    tree = grown(np.array([column]).T, [1.0, -1.0, 1.0, -1.0], np.ones(4), Growth())
    assert tree.n_leaves == 1


def test_equal_targets_are_not_split():
    """A gain that is rounding is no gain, however far the targets lie from 0."""
    X, _ = regression()
    assert cart(SortedColumns.of(X), np.full(300, 1e6 + 0.1), np.ones(300), Growth(max_depth=None)).n_leaves == 1


def test_neighbouring_floats_are_told_apart():
    """No number lies between two neighbours, so the threshold is the lower one."""
    low = 1.0
    X = np.array([[low], [np.nextafter(low, 2)]])
    tree = grown(X, [1.0, -1.0], [1.0, 1.0], Growth())
    assert tree.predict(X).tolist() == [-1.0, 1.0]


def test_a_split_below_the_price_is_not_made():
    """min_gain bars it beforehand, whatever would follow."""
    X, y = regression()
    free = cart(SortedColumns.of(X), y, np.ones(300), Growth(max_depth=1))
    barred = cart(SortedColumns.of(X), y, np.ones(300), Growth(max_depth=1, min_gain=1.01 * free.gain[0]))
    assert (free.n_leaves, barred.n_leaves) == (2, 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gradient": np.ones(3)}, r"gradient of shape \(3,\) for 4 rows"),
        ({"curvature": np.ones((4, 1))}, "curvature of shape"),
        ({"gradient": np.array([1.0, np.nan, 1.0, 1.0])}, "gradient nan in row 1"),
        ({"curvature": np.array([1.0, 1.0, np.inf, 1.0])}, "curvature inf in row 2"),
        ({"rows": np.array([0, 9])}, "rows .* from 0 to 3"),
        ({"rows": np.array([0, 0])}, "each once"),
        ({"rows": np.ones(4, bool)}, "rows .* from 0 to 3"),
        ({"features": np.array([], int)}, "features .* from 0 to 1"),
        ({"features": np.array([2])}, "features .* from 0 to 1"),
    ],
)
def test_what_no_tree_can_be_grown_on_is_refused(changed, message):
    """Other lengths, numbers that are not finite, rows and features that there are not."""
    arguments = {"gradient": np.arange(4.0), "curvature": np.ones(4), "growth": Growth(), **changed}
    with pytest.raises(ValueError, match=message):
        grow(SortedColumns.of(np.arange(8.0).reshape(4, 2)), **arguments)


@pytest.mark.parametrize("rows", [None, np.array([], int)])
def test_without_a_row_that_counts_the_tree_is_a_leaf_of_0(rows):
    """All weights 0, or no rows."""
    tree = cart(SortedColumns.of(np.arange(4.0)[:, None]), np.arange(4.0), np.zeros(4), Growth(), rows=rows)
    assert tree.predict([[1.0], [9.0]]).tolist() == [0.0, 0.0]
