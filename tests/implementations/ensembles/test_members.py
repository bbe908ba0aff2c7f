"""What a member may say, and what is refused."""

import numpy as np
import pytest

from implementations.ensembles.members import class_probabilities, columns


class Says:
    """Predicts what it was given, whatever the rows."""

    def __init__(self, values, classes=None):
        self.values = np.asarray(values, float)
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.values

    def predict_proba(self, X):
        return self.values


class Labels:
    """A classifier that gives labels only."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


TWO_ROWS = np.zeros((2, 1))


def test_one_column_of_values_and_one_a_class():
    """Values are one column; three classes are three, two are one."""
    assert columns(Says([1, 2]), TWO_ROWS).tolist() == [[1], [2]]
    three = [[0.2, 0.3, 0.5], [0, 0, 1]]
    assert columns(Says(three), TWO_ROWS, "predict_proba").tolist() == three
    assert columns(Says([[0.2, 0.8], [1, 0]]), TWO_ROWS, "predict_proba").tolist() == [[0.8], [0]]


def test_refuses_a_member_without_probabilities():
    """A member that gives labels only cannot enter a mean of probabilities."""
    with pytest.raises(ValueError, match="Labels has no predict_proba"):
        class_probabilities(Labels(), TWO_ROWS)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_predictions_that_are_not_finite(bad):
    """NaN and infinity are named with their row."""
    with pytest.raises(ValueError, match="for row 1"):
        columns(Says([0, bad]), TWO_ROWS)


def test_refuses_another_number_of_rows():
    """One prediction a row."""
    with pytest.raises(ValueError, match="3 rows of 2"):
        columns(Says([0, 1, 2]), TWO_ROWS)


def test_refuses_a_member_with_other_classes():
    """A member that never met a class cannot be lined up with those that did."""
    with pytest.raises(ValueError, match=r"knows the classes .*1.*2.*, the data have"):
        class_probabilities(Says([[0.5, 0.5]] * 2, classes=[1, 2]), TWO_ROWS, np.array([0, 1, 2]))


def test_refuses_a_method_that_there_is_not():
    """It would be taken for predict_proba."""
    with pytest.raises(ValueError, match="method 'decision'"):
        columns(Says([0, 1]), TWO_ROWS, "decision")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([0.5, 0.5], r"probabilities of shape \(2,\); \(n, 2\) is needed"),
        ([[1.0], [1.0]], r"shape \(2, 1\)"),
        ([[0.2] * 5] * 2, r"shape \(2, 5\)"),
        ([[7.0, 0.0]] * 2, "a probability of 7.0"),
        ([[-0.1, 1.1]] * 2, "a probability of -0.1"),
    ],
)
def test_refuses_probabilities_that_are_none(said, message):
    """One column a class, and all of them from 0 to 1."""
    with pytest.raises(ValueError, match=message):
        class_probabilities(Says(said), TWO_ROWS, np.array([0, 1]))


def test_refuses_predictions_that_are_no_numbers():
    """Labels that are texts cannot be stacked as they are."""

    class Names(Says):
        def predict(self, X):
            return np.array(["a", "b"])

    with pytest.raises(ValueError, match=r"Names predicts \['a'\]; stack numbers"):
        columns(Names([0, 1]), TWO_ROWS)
