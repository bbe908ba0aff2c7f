"""Acquisition rules, the surrogate loop, the forest and the Gaussian process against closed forms and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from implementations.search.acquisition import expected_improvement, upper_confidence_bound
from implementations.search.forest_ucb import forest_ucb, per_tree
from implementations.search.gaussian_process import GaussianProcess, Kernel, fit
from implementations.search.space import Float, Int, Space, When
from implementations.search.study import Study
from implementations.search.surrogate import SurrogateSearch, ucb

SPACE = Space({"a": Float(0.0, 1.0), "b": Float(0.01, 1.0, log=True)})


def hill(config):
    return -((config["a"] - 0.3) ** 2) - 0.1 * (np.log10(config["b"]) + 1) ** 2


def data(n=12, d=2, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.random((n, d))
    return points, np.sin(3 * points[:, 0]) + points[:, -1] ** 2


def test_expected_improvement_is_the_mean_of_the_gain():
    """Against a million draws of max(0, value - best), four standard errors wide."""
    rng = np.random.default_rng(0)
    for mean, sd, best in ((0.0, 1.0, 0.5), (2.0, 0.3, 1.9), (-1.0, 2.0, 3.0)):
        gains = np.maximum(0.0, rng.normal(mean, sd, 1_000_000) - best)
        found = float(expected_improvement(np.array([mean]), np.array([sd]), best)[0])
        assert abs(found - gains.mean()) < 4 * gains.std() / 1000


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_expected_improvement_without_uncertainty_is_the_certain_gain(mean, best):
    """The limit, reached exactly."""
    assert float(expected_improvement(np.array([mean]), np.array([0.0]), best)[0]) == max(mean - best, 0.0)


def test_the_confidence_bound_is_mean_and_deviations():
    """By hand, and a negative constant refused."""
    assert upper_confidence_bound(np.array([1.0, 2.0]), np.array([0.5, 0.0]), 1.5).tolist() == [1.75, 2.0]
    with pytest.raises(ValueError, match="kappa -1"):
        upper_confidence_bound(np.zeros(1), np.zeros(1), -1)


class Tree:
    """Predicts one coordinate times a factor."""

    def __init__(self, factor):
        self.factor = factor

    def predict(self, points):
        return self.factor * points[:, 0]


class Pair:
    """Two such trees; any estimator with `fit` and `estimators_` will do."""

    def __init__(self):
        self.estimators_ = []

    def fit(self, points, values):
        self.estimators_ = [Tree(1.0), Tree(3.0)]


def test_any_estimator_that_shows_its_members_will_do():
    """Mean 2x and deviation x, so the largest x is chosen, by a slow reading of the rule."""
    search = forest_ucb(Pair, kappa=1.5, n_startup=3, n_candidates=50)
    study = Study(SPACE, search, seed=5, maximise=True).run(hill, 4)
    rng = np.random.default_rng((5, 3))
    candidates = rng.uniform(*SPACE.box, size=(50, 2))
    assert study.trials[3].config == SPACE.config(max(candidates, key=lambda point: 2 * point[0] + 1.5 * point[0]))


def test_tree_predictions_are_scikit_learns():
    """A row a tree, their mean the forest's own prediction."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    points, values = data(40)
    forest = ensemble.RandomForestRegressor(20, random_state=0).fit(points, values)
    votes = per_tree(forest, points)
    assert votes.shape == (20, 40)
    np.testing.assert_allclose(votes.mean(axis=0), forest.predict(points), atol=1e-12)


@pytest.mark.parametrize("noise", [1e-8, 0.1])
def test_the_posterior_is_scikit_learns(noise):
    """Mean, deviation and log likelihood with a fixed kernel, to 1e-6."""
    gp = pytest.importorskip("sklearn.gaussian_process")
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    points, values = data()
    fresh = np.random.default_rng(9).random((30, 2))
    kernel = ConstantKernel(1.7, "fixed") * RBF([0.4, 0.9], "fixed")
    theirs = gp.GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(points, values)
    ours = GaussianProcess(points, values, Kernel(np.array([0.4, 0.9]), 1.7, noise), mean=0.0)
    for mine, other in zip(ours(fresh), theirs.predict(fresh, return_std=True)):
        np.testing.assert_allclose(mine, other, atol=1e-6)
    np.testing.assert_allclose(ours.expect(fresh), ours(fresh)[0], atol=1e-12)
    assert ours.log_likelihood == pytest.approx(theirs.log_marginal_likelihood(), rel=1e-6)


def test_the_gradient_is_that_of_finite_differences():
    """By the logarithm of every length, the variance and the noise."""
    points, values = data(15, 3)
    theta = np.log([0.3, 0.8, 2.0, 1.5, 0.05])

    def likelihood(theta):
        numbers = np.exp(theta)
        return GaussianProcess(points, values, Kernel(numbers[:-2], numbers[-2], numbers[-1])).log_likelihood

    numbers = np.exp(theta)
    ours = GaussianProcess(points, values, Kernel(numbers[:-2], numbers[-2], numbers[-1])).gradient()
    np.testing.assert_allclose(ours, approx_fprime(theta, likelihood, 1e-6), rtol=1e-4, atol=1e-4)


def test_fitting_makes_the_values_more_likely():
    """Than the kernel it started from, and an axis that plays no part gets a long length."""
    points, _ = data(40, 3)
    process = fit(points, np.sin(5 * points[:, 0]))
    start = GaussianProcess(points, np.sin(5 * points[:, 0]), Kernel(np.full(3, 1 / 3), 0.5, 0.005))
    assert process.log_likelihood > start.log_likelihood
    assert process.kernel.lengths[1:].min() > 3 * process.kernel.lengths[0]


@pytest.mark.parametrize(
    ("points", "values"), [(np.zeros((3, 2)), np.zeros(2)), (np.zeros(3), np.zeros(3)), (np.zeros((0, 2)), np.zeros(0))]
)
def test_shapes_that_do_not_match_are_refused(points, values):
    """Says both shapes."""
    with pytest.raises(ValueError, match="give"):
        GaussianProcess(points, values, Kernel(np.ones(2)))


def test_equal_points_without_noise_are_refused():
    """A covariance that is not positive definite names the noise."""
    with pytest.raises(ValueError, match="noise"):
        GaussianProcess(np.zeros((3, 1)), np.arange(3.0), Kernel(np.ones(1), 1.0, 0.0))


def test_the_loop_finds_a_hill():
    """A Gaussian process and expected improvement come closer than the start-up trials did."""
    study = Study(SPACE, SurrogateSearch(fit, n_startup=5), maximise=True).run(hill, 20)
    curve = study.best_so_far()
    assert curve[19] > -1e-3 > curve[4]


def test_a_batch_of_bad_settings_is_refused():
    """No start-up trial, no candidate, and a space with conditions."""
    with pytest.raises(ValueError, match="start-up"):
        SurrogateSearch(fit, ucb(1.0), n_startup=0)
    with pytest.raises(ValueError, match="candidates"):
        SurrogateSearch(fit, ucb(1.0), n_candidates=0)
    tree = Space({"a": Int(0, 1), "b": Float(0, 1)}, {"b": When("a", (1,))})
    with pytest.raises(ValueError, match="no box"):
        Study(tree, SurrogateSearch(fit)).ask()


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda: Kernel(np.zeros(2)), "above 0"),
        (lambda: Kernel(np.ones(2), -1.0), "above 0"),
        (lambda: Kernel(np.ones(2), 1.0, np.nan), "noise"),
        (lambda: GaussianProcess(np.ones((3, 2)), np.ones(3), Kernel(np.ones(3))), "lengths"),
        (lambda: GaussianProcess(np.eye(2), np.ones(2), Kernel(np.ones(2)))(np.ones((4, 1))), "lengths"),
        (lambda: GaussianProcess(np.eye(2), np.array([1.0, np.nan]), Kernel(np.ones(2))), "finite"),
        (lambda: fit(np.ones(3), np.ones(3)), "give"),
        (lambda: fit(np.empty((0, 2)), np.empty(0)), "give"),
        (lambda: fit(np.eye(2), np.ones(2), noise=0.0), "noise 0.0"),
        (lambda: ucb(-1.0), "kappa -1.0"),
        (lambda: ucb(math.nan), "kappa nan"),
    ],
)
def test_bad_kernels_and_observations_are_refused(build, what):
    """Before anything is computed from them."""
    with pytest.raises(ValueError, match=what):
        build()


def test_a_surrogate_that_predicts_nan_is_refused():
    """The first candidate would win otherwise, whatever the trials said."""
    broken = SurrogateSearch(lambda points, values: lambda new: (np.full(len(new), np.nan),) * 2, n_startup=1)
    study = Study(SPACE, broken).run(hill, 1)
    with pytest.raises(ValueError, match="400 of 400 candidates have a worth of NaN"):
        study.ask()


def test_a_forest_without_trees_is_refused():
    """Unfitted, or fitted with none."""

    class Bare:
        estimators_ = ()

        def fit(self, X, y):
            return self

    with pytest.raises(ValueError, match="Bare has no trees"):
        Study(SPACE, forest_ucb(Bare, n_startup=1)).run(hill, 1).ask()
