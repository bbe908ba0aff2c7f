"""Blends: on the simplex, inside their members' hull, and silent about rows they were fitted to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from implementations.ensembles.blending import fit_blend, likelihoods, nelder_mead_weights
from implementations.ensembles.simplex import log_loss, optimality_gap

probability_tables = npst.arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(1, 6)), elements=st.floats(0, 1))


def scored(n=100, m=4, seed=0):
    """Probabilities of class 1 by m members of rising skill, and the labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    signal = (2 * y - 1)[:, None] * np.linspace(0.2, 2, m) + rng.normal(size=(n, m))
    return 1 / (1 + np.exp(-signal)), y


@settings(deadline=None)
@given(probability_tables, st.data())
def test_a_blend_stays_inside_its_members_hull(probabilities, data):
    """Weights at least 0 with sum 1, and no prediction beyond the smallest and largest of the members'."""
    n = len(probabilities)
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    blend = fit_blend(probabilities, labels, np.arange(n))
    assert (blend.weights >= 0).all()
    assert blend.weights.sum() == pytest.approx(1, abs=1e-12)
    mixed = blend.predict_proba(probabilities)
    assert (mixed >= probabilities.min(axis=1) - 1e-12).all()
    assert (mixed <= probabilities.max(axis=1) + 1e-12).all()


def test_loss_is_scikit_learns():
    """Log loss of the blended probabilities as sklearn.metrics has it."""
    metrics = pytest.importorskip("sklearn.metrics")
    probabilities, labels = scored()
    blend = fit_blend(probabilities[:60], labels[:60], np.arange(60))
    mixed = blend.predict_proba(probabilities[60:])
    theirs = metrics.log_loss(labels[60:], mixed)
    assert blend.loss(probabilities[60:], labels[60:], np.arange(60, 100)) == pytest.approx(theirs, abs=1e-12)
    theirs = metrics.log_loss(labels[:60], blend.predict_proba(probabilities[:60]))
    assert blend.loss_on_holdout == pytest.approx(theirs, abs=1e-12)


def test_two_columns_and_their_complement_are_the_same():
    """Probabilities of class 1 and of both classes give the same blend."""
    probabilities, labels = scored()
    both = np.stack([1 - probabilities, probabilities], axis=2)
    one, two = (fit_blend(table, labels, np.arange(100)) for table in (probabilities, both))
    assert one.weights == pytest.approx(two.weights, abs=1e-12)
    assert two.predict_proba(both)[:, 1] == pytest.approx(one.predict_proba(probabilities), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_nelder_mead_finds_two_weights(seed):
    """With two weights the downhill simplex ends at the proven optimum."""
    probabilities, labels = scored(80, 2, seed)
    table = likelihoods(probabilities, labels)
    best = fit_blend(probabilities, labels, np.arange(80))
    assert log_loss(nelder_mead_weights(table), table) == pytest.approx(best.loss_on_holdout, abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 100), st.integers(2, 6))
def test_nelder_mead_is_never_below_the_optimum(seed, members):
    """Where the search stops lies above the proven optimum, by no more than the bound at that point."""
    probabilities, labels = scored(60, members, seed)
    table = likelihoods(probabilities, labels)
    reached = nelder_mead_weights(table)
    left = log_loss(reached, table) - fit_blend(probabilities, labels, np.arange(60)).loss_on_holdout
    assert -1e-12 <= left <= optimality_gap(reached, table) + 1e-9


def test_nelder_mead_stops_short_with_twelve_weights():
    """Eleven copies of a useless member and a good one: the search stops with loss left to gain, and cannot know."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    useless = rng.uniform(0.3, 0.7, (40, 11))
    good = np.where(y == 1, 0.9, 0.1)[:, None]
    table = likelihoods(np.column_stack([useless, good]), y)
    reached = nelder_mead_weights(table)
    assert reached.sum() == pytest.approx(1)
    assert optimality_gap(reached, table) > 1e-3


def test_reporting_on_the_holdout_is_refused():
    """One spent row among the reported ones is enough; the flattering figure has to be asked for by name."""
    probabilities, labels = scored()
    blend = fit_blend(probabilities[:40], labels[:40], np.arange(40))
    with pytest.raises(ValueError, match=r"1 of the rows, 39 among them, were used to fit .* `loss_on_holdout`"):
        blend.loss(probabilities[39:60], labels[39:60], np.arange(39, 60))
    assert blend.loss_on_holdout < blend.loss(probabilities[40:], labels[40:], np.arange(40, 100))


def test_refuses_other_members():
    """The weights belong to the members they were fitted to."""
    probabilities, labels = scored()
    blend = fit_blend(probabilities[:40], labels[:40], np.arange(40))
    with pytest.raises(ValueError, match="4 weights for 3 members"):
        blend.loss(probabilities[40:, :3], labels[40:], np.arange(40, 100))
    with pytest.raises(ValueError, match="4 weights for probabilities of shape"):
        blend.predict_proba(probabilities[:, :3])


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.1])
def test_refuses_what_is_no_probability(bad):
    """NaN and values outside [0, 1] are named with their row."""
    with pytest.raises(ValueError, match="in row 1"):
        likelihoods([[0.5], [bad]], [0, 1])
    with pytest.raises(ValueError, match="in row 1"):
        fit_blend([[0.5], [0.6]], [0, 1], [0, 1]).predict_proba([[0.5], [bad]])


def test_refuses_labels_that_are_no_class_numbers():
    """Labels count from 0 to the number of classes."""
    with pytest.raises(ValueError, match=r"label .*2.*; labels are the class numbers 0 to 1"):
        likelihoods([[0.5], [0.5]], [0, 2])
    with pytest.raises(ValueError, match="for 3 labels"):
        likelihoods([[0.5], [0.5]], [0, 1, 1])


def test_refuses_row_numbers_for_other_rows():
    """One number a row, or a report could not be checked."""
    with pytest.raises(ValueError, match="row numbers for 2 rows"):
        fit_blend([[0.5], [0.5]], [0, 1], [7])


@pytest.mark.parametrize(
    "numbers",
    [[0.5, 1.5], [True, False], ["r0", "r1"], [7, 7], [[0], [1]], None],
    ids=["fractions", "mask", "names", "twice", "column", "none"],
)
def test_refuses_row_numbers_that_could_hide_a_spent_row(numbers):
    """Cast to whole numbers, a fraction, a mask or a text would stand for another row."""
    with pytest.raises(ValueError, match="row numbers"):
        fit_blend([[0.5], [0.5]], [0, 1], numbers)


@pytest.mark.parametrize(
    ("labels", "numbers", "message"),
    [
        ([0, 1], [9], r"\(1,\) int64 row numbers for 2 rows"),
        ([0, 1], [], "row numbers for 2 rows"),
        ([0, 1], [2.5, 3.5], "float64 row numbers"),
        ([0, 1, 1], [8, 9, 10], "for 3 labels"),
        ([[0], [1]], [8, 9], "for 2 labels"),
    ],
)
def test_a_report_needs_a_number_for_each_row(labels, numbers, message):
    """Fewer numbers than rows would let spent rows into the report."""
    blend = fit_blend([[0.5], [0.6]], [0, 1], [0, 1])
    with pytest.raises(ValueError, match=message):
        blend.loss([[0.5], [0.6]], labels, numbers)


def test_a_report_on_nothing_is_refused():
    """Its mean would be NaN."""
    with pytest.raises(ValueError, match="at least one"):
        fit_blend([[0.5], [0.6]], [0, 1], [0, 1]).loss(np.empty((0, 1)), [], [])


@pytest.mark.parametrize("table", [np.empty((0, 3)), np.empty((3, 0)), [0.5, 0.5], [[0.5], [np.nan]], [[-0.5]]])
def test_the_posts_optimiser_refuses_what_has_no_logarithm(table):
    """Instead of stopping at equal weights."""
    with pytest.raises(ValueError, match="likelihood"):
        nelder_mead_weights(table)
