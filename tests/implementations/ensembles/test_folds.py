"""Splits against scikit-learn's, and out-of-fold predictions against a memoriser that would give a leak away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.ensembles.folds import assign_folds, assign_stratified_folds, folds_of_splits, out_of_fold


class Memoriser:
    """Knows the target of every row it was fitted to, and answers -1 to any other."""

    def fit(self, X, y):
        self.known = {tuple(row): target for row, target in zip(X, y)}
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([self.known.get(tuple(row), -1.0) for row in X])


def rows(n, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@given(st.integers(2, 60), st.integers(2, 12), st.booleans())
def test_folds_differ_in_size_by_one_row_at_most(n_rows, n_folds, shuffled):
    """Each fold holds its share of the rows."""
    if n_rows < n_folds:
        return
    folds = assign_folds(n_rows, n_folds, np.random.default_rng(0) if shuffled else None)
    sizes = np.bincount(folds, minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.sum() == n_rows
    assert np.ptp(sizes) <= 1


@given(st.integers(2, 40), st.integers(2, 8))
def test_unshuffled_folds_are_scikit_learns(n_rows, n_folds):
    """KFold without shuffling holds out the same rows."""
    model_selection = pytest.importorskip("sklearn.model_selection")
    if n_rows < n_folds:
        return
    theirs = folds_of_splits(model_selection.KFold(n_folds).split(np.zeros((n_rows, 1))), n_rows)
    assert assign_folds(n_rows, n_folds).tolist() == theirs.tolist()


@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(2, 5))
def test_unshuffled_stratified_folds_are_scikit_learns(labels, n_folds):
    """StratifiedKFold without shuffling holds out the same rows, whatever the order of the labels."""
    model_selection = pytest.importorskip("sklearn.model_selection")
    if np.unique(labels, return_counts=True)[1].min() < n_folds:
        return
    split = model_selection.StratifiedKFold(n_folds).split(np.zeros((len(labels), 1)), labels)
    assert assign_stratified_folds(labels, n_folds).tolist() == folds_of_splits(split, len(labels)).tolist()


@given(st.lists(st.integers(0, 2), min_size=9, max_size=60), st.integers(0, 5))
def test_shuffled_stratified_folds_share_every_class(labels, seed):
    """Every fold has its share of every class, to within one row."""
    counts = np.unique(labels, return_counts=True)[1]
    if counts.min() < 3:
        return
    folds = assign_stratified_folds(labels, 3, np.random.default_rng(seed))
    for label in np.unique(labels):
        assert np.ptp(np.bincount(folds[np.asarray(labels) == label], minlength=3)) <= 1


@given(st.integers(6, 30), st.integers(2, 6), st.integers(0, 9))
def test_no_row_is_predicted_by_a_model_that_saw_it(n_rows, n_folds, seed):
    """A memoriser recognises not one row out of fold."""
    X, y = rows(n_rows), np.arange(float(n_rows))
    predicted = out_of_fold(Memoriser, X, y, assign_folds(n_rows, n_folds, np.random.default_rng(seed)))
    assert (predicted == -1).all()


def test_equals_cross_val_predict():
    """scikit-learn's cross_val_predict on the same folds gives the same matrix, probabilities included."""
    pytest.importorskip("sklearn")
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    X, y = rows(90, 3), np.repeat([0, 1, 2], 30)
    split = KFold(4, shuffle=True, random_state=1)
    folds = folds_of_splits(split.split(X), len(X))

    def tree():
        return DecisionTreeClassifier(max_depth=3, random_state=0)

    theirs = cross_val_predict(tree(), X, y, cv=split, method="predict_proba")
    assert out_of_fold(tree, X, y, folds, "predict_proba") == pytest.approx(theirs, abs=0)
    labels = cross_val_predict(tree(), X, y, cv=split)
    assert out_of_fold(tree, X, y, folds)[:, 0].tolist() == labels.tolist()


def test_fold_numbers_may_be_a_list():
    """A list of fold numbers is an array of them."""
    X, y = rows(6), np.arange(6.0)
    as_list = out_of_fold(Memoriser, X, y, [0, 1, 2, 0, 1, 2])
    assert as_list.tolist() == out_of_fold(Memoriser, X, y, np.array([0, 1, 2, 0, 1, 2])).tolist()


def test_two_classes_give_one_column():
    """The first of two classes is dropped, as it is one minus the other."""
    pytest.importorskip("sklearn")
    from sklearn.naive_bayes import GaussianNB

    X, y = rows(40), np.tile([0, 1], 20)
    folds = assign_stratified_folds(y, 4)
    assert out_of_fold(GaussianNB, X, y, folds, "predict_proba").shape == (40, 1)


def test_refuses_fewer_rows_than_folds():
    """A fold without a row has nothing to predict."""
    with pytest.raises(ValueError, match="3 rows for 5 folds"):
        assign_folds(3, 5)


def test_refuses_a_single_fold():
    """With one fold no row would be left to fit on."""
    with pytest.raises(ValueError, match="at least 2"):
        assign_folds(10, 1)
    with pytest.raises(ValueError, match="at least 2"):
        out_of_fold(Memoriser, rows(4), np.zeros(4), np.zeros(4, int))


def test_refuses_a_class_rarer_than_the_folds():
    """Some fold would lack the class."""
    with pytest.raises(ValueError, match=r"class .*b.* has 2 rows for 3 folds"):
        assign_stratified_folds(["a"] * 9 + ["b"] * 2, 3)


def test_refuses_a_training_part_without_one_of_the_classes():
    """Sorted labels in block folds leave a fold's models without a class."""
    with pytest.raises(ValueError, match=r"without fold 0 no row of class .*0.* is left"):
        out_of_fold(Memoriser, rows(8), np.repeat([0, 1], 4), np.repeat([0, 1], 4), "predict_proba")


def test_refuses_fold_numbers_for_other_rows():
    """Rows, targets and fold numbers must be as many."""
    with pytest.raises(ValueError, match="5 rows, 5 targets, 4 fold numbers"):
        out_of_fold(Memoriser, rows(5), np.zeros(5), np.array([0, 0, 1, 1]))


def test_refuses_splits_that_overlap_or_leave_rows_out():
    """Each row is held out exactly once."""
    with pytest.raises(ValueError, match="row 1 is held out twice"):
        folds_of_splits([([2], [0, 1]), ([0], [1, 2])], 3)
    with pytest.raises(ValueError, match="row 2 is never held out"):
        folds_of_splits([([2], [0, 1])], 3)


@pytest.mark.parametrize("counts", [(5.5, 2), (6, 2.5), (6, np.nan), ("6", 2)])
def test_refuses_counts_that_are_not_whole(counts):
    """A fold number of 0.5 is none."""
    with pytest.raises(ValueError, match="a whole number is needed"):
        assign_folds(*counts)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.0, np.nan, 1.0, np.nan], "2 of them NaN"),
        ([[0, 1], [0, 1]], r"shape \(2, 2\)"),
        (np.array([1, "a", 1, "a"], dtype=object), "several types"),
        (np.array([np.nan, 1.0, np.nan, 1.0], dtype=object), "2 of them NaN"),
    ],
)
def test_refuses_labels_that_make_no_strata(labels, message):
    """NaN, several columns, several types."""
    with pytest.raises(ValueError, match=message):
        assign_stratified_folds(labels, 2)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([([1, 2], [0]), ([0, 2], [1, 1]), ([0, 1], [2])], "row 1 is held out twice"),
        ([([1, 2], [0]), ([0, 2], [1]), ([0, 1, 2], [2])], "fold 2 is not trained on all rows but"),
        ([([1, 2], [0]), ([0], [1]), ([0, 1], [2])], "fold 1 is not trained on all rows but"),
        ([([1, 2], [0]), ([0, 2], [-2]), ([0, 1], [2])], "whole numbers from 0 to 2"),
        ([([1, 2], [0]), ([0, 2], [9]), ([0, 1], [2])], "whole numbers from 0 to 2"),
        ([([1, 2], [0.5]), ([0, 2], [1]), ([0, 1], [2])], "whole numbers from 0 to 2"),
        ([([False, True, True], [True, False, False])], "whole numbers from 0 to 2"),
    ],
)
def test_refuses_splits_that_fold_numbers_cannot_say(splits, message):
    """A row seen by its own fold's model, training rows left out, masks, and rows that there are not."""
    with pytest.raises(ValueError, match=message):
        folds_of_splits(splits, 3)


@pytest.mark.parametrize("folds", [[0, 1, 0, np.nan], [[0], [1], [0], [1]]])
def test_refuses_fold_numbers_that_are_none(folds):
    """A row of fold NaN would be predicted by nobody and left with whatever stood in memory."""
    with pytest.raises(ValueError, match="fold numbers of shape"):
        out_of_fold(Memoriser, rows(4), np.zeros(4), np.array(folds))
