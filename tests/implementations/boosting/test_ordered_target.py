"""Every encoder against a loop over rows, and what each lets a row see of its own target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.boosting.ordered_target import leave_one_out, naive, ordered, out_of_fold

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=25)
smoothings = st.sampled_from([0.0, 1.0, 5.0])


def split(pairs):
    return np.array([category for category, _ in pairs]), np.array([float(y) for _, y in pairs])


def mean_of(targets, smoothing, prior):
    """The smoothed mean of a list of targets."""
    weight = len(targets) + smoothing
    return (sum(targets) + smoothing * prior) / weight if weight else prior


def seen_by(categories, i, others):
    """Targets' places that row i may see: its category among `others`."""
    return [j for j in others if categories[j] == categories[i]]


@given(rows, smoothings, st.none() | st.just(0.5))
def test_numbers_row_by_row(pairs, smoothing, prior):
    """Naive sees all rows, leave-one-out all others, ordered those before it in the order."""
    categories, y = split(pairs)
    n = len(y)
    order = np.random.default_rng(n).permutation(n)
    place = np.argsort(order)
    p = y.mean() if prior is None else prior
    for encoding, sees in (
        (naive(categories, y, smoothing, prior), lambda i: range(n)),
        (leave_one_out(categories, y, smoothing, prior), lambda i: [j for j in range(n) if j != i]),
        (ordered(categories, y, None, smoothing, prior, order=order), lambda i: order[: place[i]]),
    ):
        expected = [mean_of([y[j] for j in seen_by(categories, i, sees(i))], smoothing, p) for i in range(n)]
        np.testing.assert_allclose(encoding.training, expected, atol=1e-12)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=4, max_size=25), smoothings)
def test_a_fold_sees_the_others(pairs, smoothing):
    """Folds are dealt from the generator; each row sees the rows of the other folds."""
    categories, y = split(pairs)
    n = len(y)
    fold = np.random.default_rng(7).permutation(n) % 4
    encoding = out_of_fold(categories, y, np.random.default_rng(7), 4, smoothing)
    expected = [
        mean_of([y[j] for j in seen_by(categories, i, np.flatnonzero(fold != fold[i]))], smoothing, y.mean())
        for i in range(n)
    ]
    np.testing.assert_allclose(encoding.training, expected, atol=1e-12)


@given(rows, smoothings)
def test_new_rows_see_all_of_training(pairs, smoothing):
    """The same for every encoder; a category never seen gets the prior."""
    categories, y = split(pairs)
    asked = np.array([*categories, 99, -1])
    expected = [mean_of(y[categories == category].tolist(), smoothing, y.mean()) for category in asked]
    for encoding in (
        naive(categories, y, smoothing),
        leave_one_out(categories, y, smoothing),
        ordered(categories, y, np.random.default_rng(0), smoothing),
    ):
        np.testing.assert_allclose(encoding.new(asked), expected, atol=1e-12)


@given(rows, st.integers(0, 24))
def test_an_ordered_number_does_not_know_its_target(pairs, i):
    """Flipping a target moves neither its own number nor that of a row before it, given a fixed prior."""
    categories, y = split(pairs)
    i %= len(y)
    order = np.random.default_rng(0).permutation(len(y))
    flipped = y.copy()
    flipped[i] = 1 - y[i]
    before, after = (ordered(categories, one, prior=0.5, order=order).training for one in (y, flipped))
    upto = order[: np.flatnonzero(order == i)[0] + 1]
    np.testing.assert_array_equal(before[upto], after[upto])


def test_texts_are_categories():
    """Names sort and look up like numbers."""
    encoding = naive(["b", "a", "b"], [1.0, 0.0, 0.0])
    assert encoding.training.tolist() == [0.5, 0.0, 0.5]
    assert encoding.new(["a", "z"]).tolist() == [0.0, pytest.approx(1 / 3)]


def test_bad_input_is_refused():
    """Shapes, NaN categories and targets, folds, smoothing, and an order that is none."""
    y = np.array([0.0, 1.0, 1.0])
    for call, message in (
        (lambda: naive([1, 2], y), "one for each of the 3"),
        (lambda: naive([1.0, np.nan, 2.0], y), "NaN"),
        (lambda: naive(np.array(["a", None, "b"], dtype=object), y), "several types"),
        (lambda: naive(np.array([1.0, np.nan, 2.0], dtype=object), y), "NaN"),
        (lambda: naive(np.array(["NaT"] * 3, dtype="M8[s]"), y), "NaN"),
        (lambda: naive([1, 2, 3], [0.0, np.nan, 1.0]), "target nan"),
        (lambda: naive([1, 2, 3], y, prior=np.nan), "prior is nan"),
        (lambda: naive([], []), "shape"),
        (lambda: naive([1, 1, 1], y, smoothing=-1.0), "smoothing is -1"),
        (lambda: out_of_fold([1, 1, 1], y, np.random.default_rng(0), 4), "4 folds of 3 rows"),
        (lambda: ordered([1, 1, 1], y), "pass rng"),
        (lambda: ordered([1, 1, 1], y, order=np.array([0, 1, 1])), "no permutation"),
        (lambda: ordered([1, 1, 1], y, order=[0.0, 1.0, 2.0]), "no permutation"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("asked", [[None, "a"], [np.nan, "a"], [7, "a"]])
def test_an_unseen_category_of_another_type_gets_the_prior(asked):
    """A missing one too."""
    encoding = naive(["a", "b", "b"], [1.0, 0.0, 0.0])
    assert encoding.new(np.array(asked, dtype=object)).tolist() == [pytest.approx(1 / 3), 1.0]


def test_an_order_may_be_a_list():
    """As long as it is a permutation."""
    np.testing.assert_array_equal(
        ordered([1, 1], [0.0, 1.0], order=[1, 0]).training, ordered([1, 1], [0.0, 1.0], order=np.array([1, 0])).training
    )
