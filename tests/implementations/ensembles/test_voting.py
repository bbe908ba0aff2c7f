"""Votes against scikit-learn's VotingClassifier, ties included, and against counting by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from implementations.ensembles.voting import hard_vote, soft_vote, tied_rows

label_tables = npst.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 3))
probability_tables = npst.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.floats(0, 1))


@given(label_tables)
def test_hard_vote_counts_by_hand(labels):
    """The most frequent label, of equally frequent ones the smallest."""
    for row, winner, tied in zip(labels.tolist(), hard_vote(labels), tied_rows(labels)):
        counts = Counter(row)
        most = max(counts.values())
        winners = sorted(label for label, count in counts.items() if count == most)
        assert winner == winners[0]
        assert tied == (len(winners) > 1)


@given(label_tables, st.data())
def test_whole_weights_are_repeated_members(labels, data):
    """A member of weight 2 votes as two members would."""
    n_members = labels.shape[1]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n_members, max_size=n_members).filter(any))
    repeated = np.repeat(labels, weights, axis=1)
    assert hard_vote(labels, weights).tolist() == hard_vote(repeated).tolist()


@given(probability_tables)
def test_soft_vote_stays_between_its_members(probabilities):
    """A mean lies between the smallest and the largest, and is the plain mean."""
    blend = soft_vote(probabilities)
    assert (blend >= probabilities.min(axis=1) - 1e-12).all()
    assert (blend <= probabilities.max(axis=1) + 1e-12).all()
    assert blend == pytest.approx(probabilities.sum(axis=1) / probabilities.shape[1], abs=1e-12)


@pytest.mark.parametrize("weights", [None, [1, 2, 1, 2]])
def test_equals_voting_classifier(weights):
    """Labels and probabilities are VotingClassifier's, on data where even splits occur."""
    pytest.importorskip("sklearn")
    from sklearn.datasets import make_classification
    from sklearn.ensemble import VotingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_classification(300, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    makers = [
        LogisticRegression(max_iter=500),
        GaussianNB(),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(max_depth=2),
    ]
    named = [(str(i), model) for i, model in enumerate(makers)]
    hard = VotingClassifier(named, voting="hard", weights=weights).fit(X[:200], y[:200])
    soft = VotingClassifier(named, voting="soft", weights=weights).fit(X[:200], y[:200])
    fresh = X[200:]
    labels = np.stack([member.predict(fresh) for member in hard.estimators_], axis=1)
    probabilities = np.stack([member.predict_proba(fresh) for member in soft.estimators_], axis=1)
    assert tied_rows(labels, weights).any()
    assert hard_vote(labels, weights).tolist() == hard.predict(fresh).tolist()
    assert soft_vote(probabilities, weights) == pytest.approx(soft.predict_proba(fresh), abs=1e-15)


def test_hard_vote_takes_texts():
    """Labels need not be numbers."""
    assert hard_vote([["ship", "hold", "ship"], ["ship", "hold", "hold"]]).tolist() == ["ship", "hold"]


@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 1, 1]])
def test_refuses_weights_for_other_members(weights):
    """One weight a member."""
    with pytest.raises(ValueError, match="for 3 members"):
        hard_vote([[0, 1, 1]], weights)
    with pytest.raises(ValueError, match="for 3 members"):
        soft_vote([[0.1, 0.2, 0.3]], weights)


@pytest.mark.parametrize("weights", [[1, -1, 1], [0, 0, 0], [1, np.nan, 1]])
def test_refuses_weights_that_are_no_votes(weights):
    """Negative, all-zero and NaN weights."""
    with pytest.raises(ValueError, match="at least 0"):
        hard_vote([[0, 1, 1]], weights)


def test_refuses_nan_and_other_shapes():
    """A NaN is named with its row, among probabilities and among labels; one axis is no table, nor is nothing."""
    with pytest.raises(ValueError, match="a NaN in row 1 of the labels"):
        hard_vote([[0.0, 1.0], [1.0, np.nan]])
    with pytest.raises(ValueError, match="at least one of each"):
        hard_vote(np.empty((0, 2)))
    with pytest.raises(ValueError, match="a NaN in row 1"):
        soft_vote([[0.1, 0.2], [0.3, np.nan]])
    with pytest.raises(ValueError, match="shape"):
        soft_vote([0.1, 0.2])
    with pytest.raises(ValueError, match="shape"):
        hard_vote([0, 1])


@pytest.mark.parametrize("weights", [[1, np.inf, 1], [1e308, 1e308, 1e308]])
def test_refuses_weights_without_a_finite_sum(weights):
    """Their shares would be NaN."""
    with pytest.raises(ValueError, match="above 0 and finite"):
        hard_vote([[0, 1, 1]], weights)
    with pytest.raises(ValueError, match="above 0 and finite"):
        soft_vote([[0.1, 0.2, 0.3]], weights)


@pytest.mark.parametrize("bad", [-0.1, 1.5, np.inf])
def test_refuses_what_is_no_probability(bad):
    """A score that is not between 0 and 1 is named with its row."""
    with pytest.raises(ValueError, match="in row 1; it must lie in"):
        soft_vote([[0.1, 0.2], [0.3, bad]])


@pytest.mark.parametrize(("labels", "message"), [([None, "a"], "several types"), ([np.nan, "a"], "a NaN in row 0")])
def test_refuses_labels_without_an_order(labels, message):
    """A tie goes to the smallest, so there must be one."""
    with pytest.raises(ValueError, match=message):
        hard_vote(np.array([labels], dtype=object))
