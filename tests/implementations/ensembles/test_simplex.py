"""Optimal mixtures against their optimality conditions and two other solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.optimize import minimize

from implementations.ensembles.simplex import log_loss, minimise_log_loss, optimality_gap

tables = npst.arrays(
    np.float64, st.tuples(st.integers(1, 40), st.integers(1, 8)), elements=st.floats(1e-9, 1, allow_subnormal=False)
)


def likelihoods(n=200, m=6, seed=0):
    return np.random.default_rng(seed).beta(2, 1, size=(n, m))


def expectation_maximisation(table, rounds):
    """The textbook iteration for mixture weights: slow, and too simple to be wrong."""
    weights = np.full(table.shape[1], 1 / table.shape[1])
    for _ in range(rounds):
        weights = weights * (table / (table @ weights)[:, None]).mean(axis=0)
    return weights


@settings(deadline=None, max_examples=300)
@given(tables)
def test_weights_are_on_the_simplex_and_optimal(table):
    """Weights at least 0 that sum to 1, and no slope of any member above 1 (the KKT conditions)."""
    best = minimise_log_loss(table)
    slopes = (table / (table @ best.weights)[:, None]).mean(axis=0)
    assert (best.weights >= 0).all()
    assert best.weights.sum() == pytest.approx(1, abs=1e-12)
    assert slopes.max() <= 1 + 1e-7
    assert best.gap == pytest.approx(max(0, slopes.max() - 1), abs=1e-15)


@settings(deadline=None, max_examples=100)
@given(tables, st.integers(0, 5))
def test_no_other_mixture_is_better(table, seed):
    """The bound is a bound: random points and corners of the simplex are worse by no more than it says, or better."""
    best = minimise_log_loss(table)
    m = table.shape[1]
    others = np.vstack([np.random.default_rng(seed).dirichlet(np.ones(m), 20), np.eye(m)])
    assert best.loss - min(log_loss(other, table) for other in others) <= best.gap + 1e-12
    for other in others:
        assert log_loss(other, table) - best.loss <= optimality_gap(other, table) + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_equals_sequential_quadratic_programming(seed):
    """SciPy's SLSQP, told only the loss and the constraints, ends at the same weights."""
    table = likelihoods(seed=seed)
    theirs = minimize(
        lambda w: log_loss(np.maximum(w, 0), table),
        np.full(6, 1 / 6),
        method="SLSQP",
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert minimise_log_loss(table).loss == pytest.approx(theirs.fun, abs=1e-8)
    assert minimise_log_loss(table).weights == pytest.approx(theirs.x, abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_equals_expectation_maximisation(seed):
    """The slow textbook iteration comes down to the same loss from above."""
    table = likelihoods(60, 4, seed)
    slow = expectation_maximisation(table, 20_000)
    assert minimise_log_loss(table).loss <= log_loss(slow, table) + 1e-12
    assert minimise_log_loss(table).loss == pytest.approx(log_loss(slow, table), abs=1e-7)


def test_more_members_never_cost():
    """The optimum over some of the columns is a point of the larger problem."""
    table = likelihoods(80, 8)
    losses = [minimise_log_loss(table[:, :k]).loss for k in range(1, 9)]
    assert (np.diff(losses) <= 1e-10).all()


def test_members_that_say_the_same_share_one_weight():
    """A duplicate changes nothing but how the weight is divided."""
    table = likelihoods(80, 3)
    alone, doubled = minimise_log_loss(table), minimise_log_loss(np.column_stack([table, table[:, 0]]))
    assert doubled.loss == pytest.approx(alone.loss, abs=1e-9)
    assert doubled.weights[0] + doubled.weights[3] == pytest.approx(alone.weights[0], abs=1e-4)


@pytest.mark.parametrize("bad", [0.0, -0.1, np.nan, np.inf, 5e-324])
def test_refuses_likelihoods_without_a_logarithm(bad):
    """Zero, negative, NaN, infinite and subnormal entries are named with their row."""
    with pytest.raises(ValueError, match="in row 1"):
        minimise_log_loss([[0.5, 0.5], [0.5, bad]])


def test_refuses_an_empty_table():
    """There must be a row and a member."""
    with pytest.raises(ValueError, match="shape"):
        minimise_log_loss(np.empty((0, 3)))


def test_refuses_a_gap_that_is_never_reached():
    """NaN is neither above nor below it."""
    with pytest.raises(ValueError, match="gap is nan"):
        minimise_log_loss(likelihoods(), gap=np.nan)
