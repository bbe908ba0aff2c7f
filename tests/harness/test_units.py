import numpy as np
import pytest
from scipy.stats import kendalltau

from runtwice.units import units
from tests.harness.ledger_builders import a_judged_row


def units_of(verb, samples, **fields):
    """The units of a row with these samples, as lists."""
    return {name: list(values) for name, values in units(a_judged_row(verb=verb, samples=samples, **fields)).items()}


def test_values_taken_in_pairs_are_one_unit_a_pair():
    """Their difference; other values stand as they are."""
    assert units_of("above", {"a": [3.0, 5.0], "a (against)": [1.0, 1.0], "b": [7.0]}) == {"a": [2.0, 4.0], "b": [7.0]}


def test_a_thinned_out_sample_has_no_units():
    """What is left of it are no pairs any more."""
    assert units_of("above", {"a": [1.0], "b": [2.0]}, capped={"a": 1000}) == {"b": [2.0]}


def test_a_curve_is_one_unit_whatever_its_length():
    """Its direction, which without ties is Kendall's tau."""
    curves = {f"time {i}": np.random.default_rng(i).random(7).tolist() for i in range(3)}
    expected = [kendalltau(range(7), curve).statistic for curve in curves.values()]
    assert units_of("trend", curves) == {"time": pytest.approx(expected)}


def test_a_replicate_is_one_unit_of_two_spreads():
    """The logarithm of their ratio, under each label."""
    samples = {
        f"{label} ({side}) {i}": [0.0, width]
        for label in "ab"
        for i in (0, 1)
        for side, width in (("narrower", 1.0), ("wider", 1.0 + i))
    }
    assert units_of("narrower", samples) == {f"{label} (narrower)": [0.0, pytest.approx(np.log(2))] for label in "ab"}
