"""The bag of heroes against scikit-learn and SciPy on the dense design."""

import numpy as np
import pytest
from scipy.optimize import minimize

from implementations.drafts.bag_of_heroes import (
    Bag,
    design,
    fit_bag,
    fit_by_bracket,
    gram,
    log_odds_by_bracket,
    low_rank,
)
from implementations.drafts.world import Design, draw_drafts, make_world

HEROES = 15


def drafts(n=3000, seed=0, factor=6.0):
    rng = np.random.default_rng(seed)
    return draw_drafts(make_world(rng, Design(heroes=HEROES).magnified(factor)), n, rng)


@pytest.mark.seeded
@pytest.mark.parametrize("ridge", [0.1, 1.0, 50.0])
def test_the_fit_minimises_its_loss(ridge, seed):
    """Against SciPy's minimum of the penalised loss on the dense matrix, effects large and small."""
    found = drafts(seed=seed)
    X = design(found.heroes, HEROES)
    sign = np.where(found.won, 1.0, -1.0)

    def loss(beta):
        score = sign * (X @ beta[:-1] + beta[-1])
        slope = -sign / (1 + np.exp(score))
        gradient = np.append(X.T @ slope + ridge * beta[:-1], slope.sum())
        return np.logaddexp(0, -score).sum() + ridge / 2 * beta[:-1] @ beta[:-1], gradient

    theirs = minimize(loss, np.zeros(HEROES + 1), jac=True, method="BFGS", options={"gtol": 1e-7}).x
    ours = fit_bag(found.heroes, found.won, HEROES, ridge=ridge)
    np.testing.assert_allclose([*ours.weights, ours.intercept], theirs, atol=1e-6)


def test_the_fit_is_scikit_learns():
    """Logistic regression with the same penalty."""
    linear = pytest.importorskip("sklearn.linear_model")
    found = drafts()
    theirs = linear.LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10).fit(
        design(found.heroes, HEROES), found.won
    )
    ours = fit_bag(found.heroes, found.won, HEROES)
    np.testing.assert_allclose(ours.weights, theirs.coef_[0], atol=1e-7)
    assert ours.intercept == pytest.approx(theirs.intercept_[0], abs=1e-7)


def test_the_gram_matrix_is_that_of_the_design():
    """Counts of pairs against the dense product, intercept included."""
    found = drafts(500)
    X = np.column_stack([design(found.heroes, HEROES), np.ones(len(found))])
    np.testing.assert_array_equal(gram(found.heroes, HEROES), X.T @ X)


def test_log_odds_are_the_designs():
    """Weights looked up are the weights multiplied."""
    found = drafts(100)
    bag = Bag(np.random.default_rng(0).normal(size=HEROES), 0.3)
    np.testing.assert_allclose(bag.log_odds(found.heroes), design(found.heroes, HEROES) @ bag.weights + 0.3)


def test_each_bracket_is_fitted_to_its_own_matches():
    """And matches are scored by their own bracket's bag."""
    found = drafts()
    bags = fit_by_bracket(found, HEROES, 7)
    scores = log_odds_by_bracket(bags, found)
    for b, bag in enumerate(bags):
        own = found.only(found.bracket == b)
        np.testing.assert_array_equal(bag.weights, fit_bag(own.heroes, own.won, HEROES).weights)
        np.testing.assert_allclose(scores[found.bracket == b], bag.log_odds(own.heroes))


def test_low_rank_bags_go_from_one_to_the_full_set():
    """Rank 0 is the mean, the highest the bags themselves, and rank 1 is exact where the drift has one direction."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(7))
    bags = [Bag(row, 0.1 * i) for i, row in enumerate(rng.normal(size=(7, HEROES)))]
    weights = np.array([bag.weights for bag in bags])
    np.testing.assert_allclose([bag.weights for bag in low_rank(bags, shares, 7)], weights, atol=1e-12)
    np.testing.assert_allclose(low_rank(bags, shares, 0)[3].weights, shares @ weights, atol=1e-12)
    line = [Bag(weights[0] + i * weights[1], 0.0) for i in range(7)]
    np.testing.assert_allclose([b.weights for b in low_rank(line, shares, 1)], [b.weights for b in line], atol=1e-12)


def test_fits_that_have_no_answer_are_refused():
    """No match, no ridge."""
    found = drafts(50)
    with pytest.raises(ValueError, match="at least one match"):
        fit_bag(found.heroes[:0], found.won[:0], HEROES)
    with pytest.raises(ValueError, match="a ridge above 0"):
        fit_bag(found.heroes, found.won, HEROES, ridge=0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda heroes, won: (heroes + 1, won), "from 1 to 120"),
        (lambda heroes, won: (heroes - 1, won), "heroes from -1"),
        (lambda heroes, won: (heroes[:, :8], won), "give \\(n, 10\\)"),
        (lambda heroes, won: (heroes.astype(float), won), "whole numbers"),
        (lambda heroes, won: (heroes, won[:5]), "results of shape"),
        (lambda heroes, won: (heroes, won * 2.0), "a truth value each"),
        (lambda heroes, won: (heroes, won * np.nan), "a truth value each"),
    ],
)
def test_matches_that_are_none_are_refused(change, message):
    """Heroes that there are not, other columns, and results that are neither."""
    one = draw_drafts(make_world(np.random.default_rng(0), Design()), 2000, np.random.default_rng(1))
    with pytest.raises(ValueError, match=message):
        fit_bag(*change(one.heroes, one.won), 120)


@pytest.mark.parametrize("ridge", [np.nan, np.inf])
def test_a_ridge_is_finite(ridge):
    """NaN is not above 0 either."""
    one = draw_drafts(make_world(np.random.default_rng(0), Design()), 20, np.random.default_rng(1))
    with pytest.raises(ValueError, match="a ridge above 0"):
        fit_bag(one.heroes, one.won, 120, ridge=ridge)


@pytest.mark.parametrize(
    ("shares", "rank"), [(np.ones(2) / 2, -1), (np.ones(2) / 2, 3), (np.ones(3) / 3, 1), (np.eye(2)[0], 1)]
)
def test_ranks_and_shares_that_are_none_are_refused(shares, rank):
    """A rank of -1 would drop the last direction, and a share of 0 divide by it."""
    bags = [Bag(np.zeros(12), 0.0)] * 2
    with pytest.raises(ValueError, match=r"rank|shares"):
        low_rank(bags, shares, rank)


def test_a_match_of_a_bracket_without_a_bag_is_refused():
    """Fitted or read."""
    one = draw_drafts(make_world(np.random.default_rng(0), Design(heroes=12)), 500, np.random.default_rng(1))
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        fit_by_bracket(one, 12, 2)
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        log_odds_by_bracket([Bag(np.zeros(12), 0.0)] * 2, one)
