"""AdaBoost against scikit-learn's, and against the properties its weights and steps are derived from."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.boosting.adaboost import AdaBoost, tree_learner
from tests.implementations.boosting.datasets import classification


def boosted(X, y, rounds=40, depth=1):
    return AdaBoost(tree_learner(X, depth)).fit(X, y, rounds)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("depth", [1, 2])
def test_it_is_scikit_learns_adaboost(depth, seed):
    """Steps, errors and votes of 60 rounds on new rows."""
    ensemble, trees = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.tree")
    X, y = classification(n=600, seed=seed)
    theirs = ensemble.AdaBoostClassifier(
        trees.DecisionTreeClassifier(max_depth=depth, min_samples_leaf=1), n_estimators=60, random_state=0
    ).fit(X[:300], y[:300])
    ours = boosted(X[:300], y[:300], 60, depth)
    np.testing.assert_allclose([one.step for one in ours.rounds], theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose([one.error for one in ours.rounds], theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_three_classes_are_scikit_learns():
    """SAMME with the library's stumps as learners."""
    ensemble, trees = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.tree")
    X, _ = classification(n=500)
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5])]

    def stump():
        return trees.DecisionTreeClassifier(max_depth=1, random_state=0)

    def learner(codes, weight):
        return stump().fit(X[:250], codes, sample_weight=weight).predict

    theirs = ensemble.AdaBoostClassifier(stump(), n_estimators=30, random_state=0).fit(X[:250], y[:250])
    ours = AdaBoost(learner).fit(X[:250], y[:250], 30)
    np.testing.assert_allclose([one.step for one in ours.rounds], theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X[250:]), theirs.predict(X[250:]))


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=20)
def test_a_learner_is_worth_half_under_the_weights_it_leaves(seed):
    """After each round the learner just fitted errs on exactly half of the new weight."""
    X, y = classification(n=80, features=3, seed=seed)
    for one in boosted(X, y, 15).rounds:
        if one.error > 0:
            assert one.weight[one.wrong].sum() == pytest.approx(0.5, rel=1e-10)


def test_weights_are_the_exponential_loss():
    """Up to their sum, the weights after each round are exp(-margin); the mean loss is the product of normalisers."""
    X, y = classification()
    fitted = boosted(X, y)
    sign = 2 * y - 1
    product = 1.0
    for t, one in enumerate(fitted.rounds, 1):
        loss = np.exp(-sign * fitted.margins(X, t))
        product *= 2 * np.sqrt(one.error * (1 - one.error))
        np.testing.assert_allclose(one.weight, loss / loss.sum(), rtol=1e-9)
        assert loss.mean() == pytest.approx(product, rel=1e-9)


def test_a_value_on_the_threshold_votes_with_its_side():
    """Training rows sit on thresholds when values repeat; the vote agrees with the error that was booked."""
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    fitted = boosted(X, [1, 1, 0, 0, 1], 3)
    for one, before in zip(fitted.rounds[1:], fitted.rounds):
        assert one.error == pytest.approx(before.weight[one.vote(X) != [1, 1, 0, 0, 1]].sum())


def test_a_perfect_learner_ends_it():
    """One round of step 1, as in scikit-learn."""
    fitted = boosted(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])
    assert [(one.error, one.step) for one in fitted.rounds] == [(0.0, 1.0)]
    assert fitted.predict([[0.0], [9.0]]).tolist() == [0, 1]


def test_labels_may_be_anything():
    """Texts come back as they went in."""
    fitted = boosted(np.arange(6.0)[:, None], ["no"] * 3 + ["yes"] * 3)
    assert fitted.predict([[0.0], [9.0]]).tolist() == ["no", "yes"]


def test_more_weight_to_start_with_wins():
    """Two rows at the same place: the heavier label is predicted."""
    X, y = np.array([[0.0], [0.0], [1.0]]), [0, 1, 1]
    for weight, label in (([3.0, 1.0, 1.0], 0), ([1.0, 3.0, 1.0], 1)):
        assert AdaBoost().fit(X, y, 1, weight=weight).predict([[0.0]]).tolist() == [label]


def test_bad_fits_are_refused():
    """One class, NaN labels, wrong lengths, negative weights, a learner that knows nothing, too many classes."""
    X = np.arange(4.0)[:, None]
    for X_, y, message in (
        (X, [1, 1, 1, 1], "every label is"),
        (X, [0.0, 1.0, np.nan, 1.0], "label nan"),
        (X, [0, 1], "one for each of the 4 rows"),
        (np.ones((4, 1)), [0, 1, 0, 1], "chance or worse"),
        (X, [0, 1, 2, 2], "pass another learner"),
    ):
        with pytest.raises(ValueError, match=message):
            AdaBoost().fit(X_, y, 3)
    with pytest.raises(ValueError, match="weight -1"):
        AdaBoost().fit(X, [0, 0, 1, 1], 3, weight=[1, 1, 1, -1])
    with pytest.raises(ValueError, match="learning_rate is 0"):
        AdaBoost(learning_rate=0)
    with pytest.raises(ValueError, match="a margin needs two"):
        AdaBoost(lambda codes, _: lambda X: codes).fit(X, [0, 1, 2, 2], 1).margins(X)
    for rounds in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"n_rounds is {rounds}"):
            AdaBoost().fit(X, [0, 0, 1, 1], rounds)
    with pytest.raises(ValueError, match="several types"):
        AdaBoost().fit(X, np.array([0, "a", 0, "a"], dtype=object), 3)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model, X: AdaBoost().predict(X), "call fit first"),
        (lambda model, X: model.predict(X[:, :1]), "1 columns for a model of 6"),
        (lambda model, X: model.predict(X, -1), "n_rounds is -1"),
        (lambda model, X: model.votes(X[0]), "shape"),
    ],
)
def test_bad_questions_are_refused(ask, message):
    """Nothing fitted, other columns, a negative number of rounds, one row without its axis."""
    X, y = classification(n=60)
    with pytest.raises(ValueError, match=message):
        ask(boosted(X, y, 3), X)


def test_a_refused_fit_leaves_the_earlier_one():
    """Its classes and its rounds."""
    X, y = classification(n=60)
    model = AdaBoost().fit(X, y, 3)
    before = model.predict(X)
    with pytest.raises(ValueError, match="every label is 1"):
        model.fit(X, np.ones(60, int), 3)
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_fitted_model_survives_pickling():
    """The learners too."""
    X, y = classification(n=60)
    model = AdaBoost().fit(X, y, 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).votes(X), model.votes(X))
