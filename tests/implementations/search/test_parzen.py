"""Parzen estimators against Optuna's own densities, SciPy's truncated normal, and numerical integration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from implementations.search.parzen import Bandwidths, ParzenDensity, log_mass, recency, widths
from implementations.search.space import Categorical, Float, Int

PARAMETERS = {
    "float": Float(-2.0, 3.0),
    "log": Float(1e-4, 1.0, log=True),
    "stepped": Float(0.0, 2.0, step=0.25),
    "int": Int(2, 9),
    "even": Int(0, 20, step=2),
    "logint": Int(1, 300, log=True),
    "category": Categorical(("a", "b", "c")),
}
SETTINGS = (
    Bandwidths(),
    Bandwidths(prior_weight=0.3),
    Bandwidths(clip=False),
    Bandwidths(endpoints=True),
    Bandwidths(weights=lambda n: np.arange(1.0, n + 1)),
)


@pytest.fixture
def stable_sort(monkeypatch):
    """NumPy's argsort, stable: which of two equal observations comes first is then no matter of the processor."""
    argsort = np.argsort
    monkeypatch.setattr(np, "argsort", lambda values, *args, **kwargs: argsort(values, kind="stable"))


def observations(rng, n, names=PARAMETERS):
    """Draws from the prior as numbers, categories as indices."""

    def number(name):
        value = PARAMETERS[name].draw(rng)
        return PARAMETERS[name].coordinate(value) if name == "category" else value

    return {name: np.array([float(number(name)) for _ in range(n)]) for name in names}


def optuna_density(names, observed, choices):
    """Optuna's estimator of the same parameters with the same settings."""
    optuna = pytest.importorskip("optuna", minversion="5.0")
    from optuna.samplers._tpe import parzen_estimator as theirs

    def distribution(one):
        if isinstance(one, Categorical):
            return optuna.distributions.CategoricalDistribution(one.choices)
        kind = "IntDistribution" if isinstance(one, Int) else "FloatDistribution"
        return getattr(optuna.distributions, kind)(one.low, one.high, log=one.log, step=one.step)

    settings_ = theirs._ParzenEstimatorParameters(
        choices.prior_weight, choices.clip, choices.endpoints, choices.weights, True
    )
    space = {name: distribution(PARAMETERS[name]) for name in names}
    return theirs._ParzenEstimator(observed, space, settings_)


@pytest.mark.parametrize("choices", SETTINGS, ids=["default", "prior", "unclipped", "endpoints", "weights"])
@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_densities_of_one_parameter_are_optunas(name, n, choices, stable_sort):
    """Log densities at fresh points, to 1e-6 (measured: below 1e-9)."""
    rng = np.random.default_rng(n)
    observed, points = observations(rng, n, [name]), observations(rng, 50, [name])
    ours = ParzenDensity({name: PARAMETERS[name]}, observed, choices).log_density(points)
    np.testing.assert_allclose(ours, optuna_density([name], observed, choices).log_pdf(points), rtol=0, atol=1e-6)


@pytest.mark.parametrize("n", [3, 60])
def test_joint_densities_are_optunas(n, stable_sort):
    """The product kernels of seven parameters at once, default settings, to 1e-6."""
    rng = np.random.default_rng(n)
    observed, points = observations(rng, n), observations(rng, 100)
    ours = ParzenDensity(PARAMETERS, observed).log_density(points)
    theirs = optuna_density(list(PARAMETERS), observed, Bandwidths()).log_pdf(points)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


def test_draws_are_optunas_given_the_same_stream(stable_sort):
    """The same random numbers give the same points, category and number alike."""
    observed = observations(np.random.default_rng(0), 12)
    ours = ParzenDensity(PARAMETERS, observed).draw(200, np.random.RandomState(5))
    theirs = optuna_density(list(PARAMETERS), observed, Bandwidths()).sample(np.random.RandomState(5), 200)
    for name in PARAMETERS:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-7, err_msg=name)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2, 3), max_size=8), st.booleans(), st.booleans())
def test_a_continuous_density_integrates_to_one(values, clip, endpoints):
    """Numerical integral over the support, wherever the observations lie, ends and repeats included."""
    choices = Bandwidths(clip=clip or len(set(values)) < len(values), endpoints=endpoints)
    density = ParzenDensity({"x": PARAMETERS["float"]}, {"x": np.array(values)}, choices)
    grid = np.linspace(-2, 3, 20_001)
    if clip:
        assert integrate.trapezoid(np.exp(density.log_density({"x": grid})), grid) == pytest.approx(1, abs=1e-5)
    assert density.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["stepped", "int", "even", "logint", "category"])
def test_a_stepped_density_sums_to_one(name):
    """The probabilities of all values of a stepped or categorical parameter."""
    one = PARAMETERS[name]
    values = np.arange(3.0) if name == "category" else np.arange(one.low, one.high + one.step, one.step, dtype=float)
    density = ParzenDensity({name: one}, observations(np.random.default_rng(1), 9, [name]))
    assert np.exp(density.log_density({name: values})).sum() == pytest.approx(1, abs=1e-12)


def test_a_single_kernel_is_scipys_truncated_normal():
    """Without observations the density of a real parameter is the prior: a normal cut off at both ends."""
    points = np.linspace(-2, 3, 11)
    ours = ParzenDensity({"x": PARAMETERS["float"]}, {"x": np.empty(0)}).log_density({"x": points})
    scale = 5.0
    np.testing.assert_allclose(ours, stats.truncnorm.logpdf(points, -0.5, 0.5, loc=0.5, scale=scale), atol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(-40.0, -39.0), (-1.0, 2.0), (0.5, 0.6), (30.0, 31.0), (-50.0, 50.0)])
def test_log_mass_is_exact_in_both_tails(a, b):
    """Against SciPy's difference of survival functions taken on the side where it is accurate."""
    high, low = (
        (stats.norm.logcdf(-a), stats.norm.logcdf(-b)) if a > 0 else (stats.norm.logcdf(b), stats.norm.logcdf(a))
    )
    expected = high + np.log1p(-np.exp(low - high))
    assert float(log_mass(np.array(a), np.array(b))) == pytest.approx(expected, rel=1e-12)


def test_draws_follow_the_density():
    """Kolmogorov distance of 20,000 draws to the numerically integrated density."""
    density = ParzenDensity({"x": PARAMETERS["float"]}, {"x": np.array([-2.0, 0.3, 0.31, 2.9])})
    grid = np.linspace(-2, 3, 5001)
    below = integrate.cumulative_trapezoid(np.exp(density.log_density({"x": grid})), grid, initial=0)
    drawn = density.draw(20_000, np.random.default_rng(0))["x"]
    assert stats.kstest(drawn, lambda x: np.interp(x, grid, below)).pvalue > 0.01


def test_widths_are_the_farther_neighbour():
    """A worked example by hand: neighbours 1, 2 and 5 in a support of 0 to 10, unclipped."""
    found = widths(np.array([5.0, 1.0, 2.0]), 0.0, 10.0, Bandwidths(clip=False))
    assert found.tolist() == [3.0, 1.0, 3.0]
    ends = widths(np.array([5.0, 1.0, 2.0]), 0.0, 10.0, Bandwidths(clip=False, endpoints=True))
    assert ends.tolist() == [5.0, 1.0, 3.0]


def test_recency_weights_ramp_before_the_newest_25():
    """Below 25 all count fully; of 30 the oldest counts a thirtieth."""
    assert recency(24).tolist() == [1.0] * 24
    assert recency(30)[0] == pytest.approx(1 / 30)
    assert recency(30)[4:].tolist() == [1.0] * 26


@pytest.mark.parametrize(
    "weights", [lambda n: np.zeros(n), lambda n: -np.ones(n), lambda n: np.full(n, np.nan), lambda n: np.ones(n - 1)]
)
def test_useless_weights_are_refused(weights):
    """All-zero, negative, missing and NaN weights say so."""
    with pytest.raises(ValueError, match="weights"):
        ParzenDensity({"x": PARAMETERS["float"]}, {"x": np.array([0.0, 1.0])}, Bandwidths(weights=weights))


def test_unequal_observations_are_refused():
    """Two parameters with different numbers of observations."""
    with pytest.raises(ValueError, match="same number"):
        ParzenDensity(
            {name: PARAMETERS[name] for name in ("float", "int")}, {"float": np.zeros(2), "int": np.full(3, 2.0)}
        )


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_a_useless_prior_weight_is_refused(weight):
    """Negative, or no finite number."""
    with pytest.raises(ValueError, match="prior_weight"):
        Bandwidths(prior_weight=weight)
