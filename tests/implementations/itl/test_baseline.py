"""The captured baseline against NumPy's own least squares and on degenerate data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.itl.baseline import NOT_IDENTIFIABLE, Baseline, LineFit, fit_line
from tests.implementations.itl.logs import unhurried


@unhurried
@given(st.lists(st.tuples(st.integers(1, 48), st.floats(0.1, 50)), min_size=3, max_size=30))
def test_line_is_that_of_polyfit(points):
    """Least squares over all captured steps."""
    size, cost = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    if len(set(size)) < 2:
        return
    slope, intercept = np.polyfit(size, cost, 1)
    fitted = fit_line(size, cost)
    assert (fitted.slope_ms, fitted.intercept_ms) == pytest.approx((slope, intercept), rel=1e-6, abs=1e-9)


@unhurried
@given(st.lists(st.sampled_from([1, 2, 4, 8, 16, 24, 32]), min_size=2, max_size=500).filter(lambda s: len(set(s)) > 1))
def test_exact_costs_lie_on_the_line_whatever_the_counts(sizes):
    """How often a size occurred does not move a line through exactly linear costs."""
    size = np.array(sizes)
    fitted = fit_line(size, 2 + 0.3 * size)
    assert fitted.at(np.array([1, 33, 48])) == pytest.approx([2.3, 11.9, 16.4], abs=1e-9)


def test_one_size_speaks_for_itself_alone():
    """The mean cost at that size, and nothing elsewhere."""
    fitted = fit_line(np.array([16, 16]), np.array([19.0, 21.0]))
    np.testing.assert_array_equal(fitted.at(np.array([16, 40])), [20.0, np.nan])


def test_no_steps_say_nothing():
    """Without captured steps there is no baseline at any size."""
    fitted = fit_line(np.array([], np.int64), np.array([]))
    assert fitted == NOT_IDENTIFIABLE
    assert np.isnan(fitted.at(np.array([16]))).all()


def test_falling_line_says_so():
    """A cost that falls with the batch is not believed, and may go below zero."""
    fitted = fit_line(np.array([16, 32]), np.array([40.0, 10.0]))
    assert fitted.falling
    assert fitted.at(np.array([48]))[0] == pytest.approx(-20)


@pytest.mark.parametrize("line", [(float("nan"), 1), (1, float("inf")), (-float("inf"), float("nan"))])
def test_line_that_is_not_finite_is_refused(line):
    """A failed fit is an error and not a line."""
    with pytest.raises(ValueError, match="both must be finite"):
        Baseline(*line)


@unhurried
@given(st.lists(st.tuples(st.integers(1, 64), st.floats(0.01, 100)), max_size=30), st.integers(1, 9))
def test_line_over_blocks_is_the_line_over_all(steps, block):
    """The fit needs no more of each block than count and sum by size."""
    size, decode_ms = np.array([n for n, _ in steps], np.int64), np.array([ms for _, ms in steps])
    fit = LineFit()
    for first in range(0, len(steps), block):
        fit.add(size[first : first + block], decode_ms[first : first + block])
    ours, whole = fit.line(), fit_line(size, decode_ms)
    assert (ours.identifiable, ours.only_size) == (whole.identifiable, whole.only_size)
    assert (ours.slope_ms, ours.intercept_ms) == pytest.approx((whole.slope_ms, whole.intercept_ms), rel=1e-9, abs=1e-9)
