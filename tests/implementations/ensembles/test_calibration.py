"""Reliability and isotonic recalibration against scikit-learn and against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.ensembles.calibration import fit_isotonic, reliability

cases = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@given(cases)
def test_isotonic_is_monotone_and_keeps_the_mean(pairs):
    """The map never falls, and the mean over the rows it was fitted to stays the share of class 1."""
    said, happened = np.array(pairs).T
    corrected = fit_isotonic(said, happened)(said)
    assert (np.diff(corrected[np.argsort(said, kind="stable")]) >= -1e-12).all()
    assert corrected.mean() == pytest.approx(happened.mean(), abs=1e-9)


@given(cases)
def test_isotonic_is_scikit_learns(pairs):
    """IsotonicRegression gives the same values at the rows it was fitted to."""
    isotonic = pytest.importorskip("sklearn.isotonic")
    said, happened = np.round(np.array(pairs).T, 3)
    theirs = isotonic.IsotonicRegression(out_of_bounds="clip").fit(said, happened)
    assert fit_isotonic(said, happened)(said) == pytest.approx(theirs.predict(said), abs=1e-9)


@given(cases, st.integers(1, 20))
def test_the_diagram_counts_every_case(pairs, bins):
    """Cases add up, and their means over the bins are the means over all."""
    said, happened = np.array(pairs).T
    diagram = reliability(said, happened, bins)
    assert diagram.cases.sum() == len(said)
    assert diagram.said @ diagram.cases == pytest.approx(said.sum(), abs=1e-9)
    assert diagram.happened @ diagram.cases == pytest.approx(happened.sum(), abs=1e-9)
    assert diagram.error >= abs(said.mean() - happened.mean()) - 1e-9


def test_the_diagram_is_scikit_learns():
    """calibration_curve has the same points."""
    calibration = pytest.importorskip("sklearn.calibration")
    rng = np.random.default_rng(0)
    said = rng.uniform(size=400)
    happened = (rng.uniform(size=400) < said**2).astype(int)
    theirs = calibration.calibration_curve(happened, said, n_bins=15)
    diagram = reliability(said, happened)
    assert diagram.happened == pytest.approx(theirs[0], abs=1e-12)
    assert diagram.said == pytest.approx(theirs[1], abs=1e-12)


def test_a_worked_example():
    """Two cases called 0.2 of which one happens, two called 0.9 that both happen."""
    diagram = reliability([0.2, 0.2, 0.9, 0.9], [0, 1, 1, 1], bins=2)
    assert diagram.cases.tolist() == [2, 2]
    assert diagram.error == pytest.approx((0.3 + 0.1) / 2)
    assert diagram.squared_error == pytest.approx((0.09 + 0.01) / 2)


def test_certainty_falls_into_the_last_bin():
    """A probability of 1 is a case like any other."""
    assert reliability([1.0, 1.0], [1, 1], bins=4).error == 0


@pytest.mark.parametrize("bad", [-0.1, 1.5, np.nan])
def test_refuses_what_is_no_probability(bad):
    """NaN and values outside [0, 1]."""
    with pytest.raises(ValueError, match="must lie in"):
        reliability([bad], [0])


def test_refuses_empty_and_unequal_samples():
    """Probabilities and labels come in pairs, at least one; bins too."""
    with pytest.raises(ValueError, match="shape"):
        reliability([], [])
    with pytest.raises(ValueError, match="shape"):
        fit_isotonic([0.1, 0.2], [1])
    with pytest.raises(ValueError, match="0 bins"):
        reliability([0.5], [1], bins=0)


@pytest.mark.parametrize("bad", [0.5, 2, -1, np.nan])
def test_refuses_what_did_not_happen_or_not(bad):
    """A label is 0 or 1."""
    for measure in (reliability, fit_isotonic):
        with pytest.raises(ValueError, match="each must be 0 or 1"):
            measure([0.2, 0.8], [1, bad])


@pytest.mark.parametrize("bins", [2.5, np.nan, 0])
def test_refuses_bins_that_are_not_whole(bins):
    """At least one."""
    with pytest.raises(ValueError, match="a whole number of at least 1"):
        reliability([0.5], [1], bins=bins)
