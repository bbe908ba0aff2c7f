"""Bins against their definition, and against LightGBM's on few distinct values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.boosting.binning import find_bins
from tests.implementations.boosting.datasets import holed, regression

columns = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=60)


@given(columns, st.integers(2, 12))
def test_codes_keep_the_order_and_use_the_bounds(column, max_bin):
    """A larger value never has a smaller code; a value on a bound lies below it; no more bins than asked for."""
    X = np.array(column)[:, None]
    bins = find_bins(X, max_bin)
    codes = bins.codes(X)[0].astype(int)
    order = np.argsort(X[:, 0], kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert (codes == [sum(bound < value for bound in bins.bounds[0]) for value in column]).all()
    assert codes.max() + 1 <= max_bin


@given(columns, st.integers(2, 12))
def test_every_bin_is_used(column, max_bin):
    """No code is empty, so every threshold divides the training rows."""
    X = np.array(column)[:, None]
    bins = find_bins(X, max_bin)
    assert set(bins.codes(X)[0].tolist()) == set(range(len(bins.bounds[0]) + 1))


def test_bins_are_of_nearly_equal_size():
    """Of 1000 distinct values 50 bins hold 20 each."""
    X = np.random.default_rng(0).normal(size=(1000, 1))
    assert set(np.bincount(find_bins(X, 50).codes(X)[0])) == {20}


@pytest.mark.parametrize(("max_bin", "min_rows", "bins"), [(50, 1, 50), (50, 40, 25), (2000, 1, 1000), (2, 1, 2)])
def test_a_bin_holds_enough_rows(max_bin, min_rows, bins):
    """The number of bins is what max_bin, min_rows and the distinct values leave."""
    X = np.random.default_rng(0).normal(size=(1000, 1))
    assert find_bins(X, max_bin, min_rows).width == bins


@pytest.mark.parametrize(("max_bin", "dtype"), [(255, np.uint8), (256, np.uint8), (257, np.uint16)])
def test_a_code_is_a_byte_as_long_as_it_can(max_bin, dtype):
    """Beyond 256 codes it takes two."""
    X = np.arange(1000.0)[:, None]
    assert find_bins(X, max_bin).codes(X).dtype == dtype


def test_missing_values_have_the_last_code():
    """The same code in every column, above that of any value."""
    X = holed(regression()[0])
    bins = find_bins(X, 10)
    codes = bins.codes(X)
    assert bins.width == 11
    np.testing.assert_array_equal(codes.T == 10, np.isnan(X))


def test_thresholds_are_lightgbms():
    """With a bin for each of 30 distinct values, LightGBM's trees choose among our bounds."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.integers(1, 31, size=(400, 3)).astype(float)
    settings = {"min_data_in_bin": 1, "min_data_in_leaf": 1, "num_threads": 1, "verbosity": -1, "num_leaves": 31}
    trees = lightgbm.train(settings, lightgbm.Dataset(X, rng.normal(size=400)), 20).trees_to_dataframe()
    bounds = set(np.round(np.concatenate(find_bins(X).bounds), 9))
    assert set(trees.threshold.dropna().round(9)) <= bounds


def test_one_value_is_one_bin():
    """A constant column, and one that is missing throughout, have no threshold."""
    bins = find_bins(np.array([[1.0, np.nan], [1.0, np.nan]]), 10)
    assert [len(bounds) for bounds in bins.bounds] == [0, 0]


def test_bad_input_is_refused():
    """Too few or many bins, empty bins asked for, other columns, missing values that training had none of."""
    X = np.arange(6.0).reshape(3, 2)
    for call, message in (
        (lambda: find_bins(X, 1), "max_bin is 1"),
        (lambda: find_bins(X, 70_000), "max_bin is 70000"),
        (lambda: find_bins(X, 2.5), "max_bin is 2.5"),
        (lambda: find_bins(X, 10, 0), "min_rows is 0"),
        (lambda: find_bins(X, 10, np.nan), "min_rows is nan"),
        (lambda: find_bins(X[:0]), "shape"),
        (lambda: find_bins(X).codes(X[:, :1]), "1 columns for the bins of 2"),
        (lambda: find_bins(X).codes(np.full((1, 2), np.nan)), "column 0 has missing"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
