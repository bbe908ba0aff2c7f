"""Bagging against scikit-learn's members, and the algebra of prefixes and of leaving one out."""

import pickle

import numpy as np
import pytest

from implementations.boosting.bagging import Bagging, means_without_one, prefix_means
from implementations.boosting.tree import Growth
from tests.implementations.boosting.datasets import regression


def bagged(X, y, n_trees=10, **settings):
    return Bagging(np.random.default_rng(0), **settings).fit(X, y, n_trees)


def test_each_member_is_scikit_learns_tree_on_its_sample():
    """The library's tree on the same rows, repeated as often as they were drawn."""
    trees = pytest.importorskip("sklearn.tree")
    X, y = regression(n=300)
    new, _ = regression(n=200, seed=1)
    bag = bagged(X, y, growth=Growth(max_depth=6, min_leaf=5))
    for member, drawn in zip(bag.members, bag.drawn):
        theirs = trees.DecisionTreeRegressor(max_depth=6, min_samples_leaf=5, random_state=0)
        np.testing.assert_allclose(member.predict(new), theirs.fit(X, y, sample_weight=drawn).predict(new), rtol=1e-9)


def test_a_sample_has_as_many_draws_as_rows():
    """About 63% of the rows are drawn, some of them more than once."""
    X, y = regression(n=2000)
    drawn = np.array(bagged(X, y, 5, growth=Growth(max_depth=1)).drawn)
    assert (drawn.sum(axis=1) == 2000).all()
    assert (drawn > 0).mean() == pytest.approx(1 - np.exp(-1), abs=0.02)


def test_the_average_is_of_all_members():
    """And a prefix of the bag is the bag of as many trees."""
    X, y = regression()
    bag, small = bagged(X, y), bagged(X, y, 4)
    predictions = bag.predictions(X)
    np.testing.assert_allclose(bag.predict(X), predictions.mean(axis=0))
    np.testing.assert_allclose(prefix_means(predictions)[3], small.predict(X))
    np.testing.assert_allclose(small.fit_more(6).predict(X), bag.predict(X))


def test_leaving_one_out_one_by_one():
    """Each row of the table against an average over the others."""
    predictions = np.random.default_rng(0).normal(size=(5, 7))
    expected = [np.delete(predictions, k, axis=0).mean(axis=0) for k in range(5)]
    np.testing.assert_allclose(means_without_one(predictions), expected)


def test_any_learner_will_do():
    """A member that predicts its sample's mean."""

    class Mean:
        def __init__(self, value):
            self.value = value

        def predict(self, X):
            return np.full(len(X), self.value)

    X, y = regression(n=50)
    bag = bagged(X, y, 3, learner=lambda weight: Mean(np.average(y, weights=weight)))
    assert bag.predict(X)[0] == pytest.approx(np.mean([np.average(y, weights=drawn) for drawn in bag.drawn]))


def test_bad_input_is_refused():
    """Lengths that differ, NaN targets, going on from nothing, leaving out the only one, bad numbers and columns."""
    X, y = regression(n=20)
    for call, message in (
        (lambda: bagged(X, y[:5]), "20 rows but 5 targets"),
        (lambda: bagged(X, np.full(20, np.nan)), "target nan"),
        (lambda: Bagging(np.random.default_rng(0)).fit_more(1), "call fit first"),
        (lambda: bagged(X, y, 0).predict(X), "at least one tree"),
        (lambda: means_without_one(np.ones((1, 3))), "at least 2"),
        (lambda: prefix_means(y), r"shape \(20,\)"),
        (lambda: bagged(X, y, -1), "n_trees is -1"),
        (lambda: bagged(X, y, 1).fit_more(-1), "n_trees is -1"),
        (lambda: bagged(X, y, 1).predict(X[:, :1]), "1 columns for a bag of"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_bag_survives_pickling():
    """It predicts the same and goes on the same."""
    X, y = regression(n=40)
    bag = bagged(X, y, 2)
    copy = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(copy.fit_more(2).predict(X), bag.fit_more(2).predict(X))
