"""How TPE works: the split, the densities, the ratio, spaces with categories and conditions."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


@claim("tpe.random-no-memory")
def test_random_trials_ignore_their_results(evidence, toys, searches):
    """The same seed under the true loss and under random numbers, Optuna's sampler and ours."""
    trials = evidence.given("trials")
    rng = np.random.default_rng(0)

    def noise(_config):
        return float(rng.normal())

    theirs = [toys.optuna_trials("RandomSampler", 0, loss, trials) for loss in (toys.mixed_loss, noise)]
    evidence.identical(*theirs, label="Optuna")
    evidence.figure("canary_thirtieth", theirs[0][trials - 1]["x"])
    ours = [_configs(toys.MIXED, searches.SAMPLERS["random"], loss, trials) for loss in (toys.mixed_loss, noise)]
    evidence.identical(*ours, label="ours")


def _configs(space, sampler, loss, trials, seed=0):
    from implementations.search.study import Study

    return [trial.config for trial in Study(space, sampler, seed=seed).run(loss, trials).trials]


@claim("tpe.tpe-has-memory")
def test_later_trials_follow_the_results(evidence, toys, searches):
    """The same seed under a loss and its negative: alike during start-up, different after it."""
    startup, trials = evidence.given("startup"), evidence.given("trials")

    def opposite(config):
        return -toys.mixed_loss(config)

    for name, runs in (
        ("Optuna", [toys.optuna_trials("TPESampler", 0, loss, trials) for loss in (toys.mixed_loss, opposite)]),
        (
            "ours",
            [_configs(toys.MIXED, searches.SAMPLERS["tpe"], loss, trials) for loss in (toys.mixed_loss, opposite)],
        ),
    ):
        evidence.identical(runs[0][:startup], runs[1][:startup], label=f"{name}, start-up")
        later = sum(one != other for one, other in zip(runs[0][startup:], runs[1][startup:]))
        evidence.identical(later, trials - startup, label=f"{name}, later")
    study = toys.optuna_study("TPESampler", 0)
    study.optimize(_canary, n_trials=evidence.given("canary_trials"))
    evidence.figure("canary_best", study.best_value)


def _canary(trial):
    x = trial.suggest_float("x", -5, 5)
    y = trial.suggest_float("y", 1e-3, 1, log=True)
    k = trial.suggest_int("k", 1, 8)
    return (x - 1) ** 2 + (10 * y - 1) ** 2 + 0.3 * abs(k - 3)


@claim("tpe.optuna-default")
def test_optunas_default_sampler(evidence):
    """The sampler of a study created without one."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    evidence.figure("sampler", type(optuna.create_study().sampler).__name__)


@claim("tpe.quantile-split")
def test_the_best_tenth_is_good(evidence, toys):
    """Number of good trials at each count, and that they are the best ones, in Optuna and in ours."""
    from optuna.samplers._tpe.sampler import _split_trials, default_gamma

    from implementations.search.study import Study
    from implementations.search.tpe import best_tenth, split

    evidence.figure("good", [default_gamma(n) for n in evidence.given("finished")])
    evidence.identical([best_tenth(n) for n in evidence.given("finished")], [1, 2, 3, 10, 25, 25], label="ours")
    values = np.random.default_rng(0).permutation(evidence.given("values")).astype(float).tolist()
    n_good = default_gamma(len(values))
    study, ours = toys.optuna_study("TPESampler", 0), Study(toys.cube(1), sampler=None)
    for value in values:
        study.tell(study.ask(), value)
        ours.add({"x0": 0.5}, value)
    below, _ = _split_trials(study, study.trials, n_good)
    good, _ = split(ours.history, n_good)
    best = sorted(np.argsort(values)[:n_good].tolist())
    evidence.identical([trial.number for trial in below], best, label="Optuna's good trials")
    evidence.identical([trial.number for trial in good], best, label="our good trials")


@claim("tpe.few-good-trials")
def test_how_many_trials_are_good(evidence):
    """The rounded-up tenth at the first, a middle and the last proposal of thirty trials."""
    from implementations.search.tpe import best_tenth

    evidence.figure("good", [best_tenth(n) for n in evidence.given("finished")])


@claim("tpe.two-densities")
def test_each_group_has_its_density(evidence, toys, searches):
    """Both log densities against Optuna's of the same two groups; moving a bad trial leaves the good density alone."""
    from optuna.distributions import FloatDistribution
    from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator, _ParzenEstimatorParameters

    from implementations.search.parzen import recency
    from implementations.search.study import Study
    from implementations.search.tpe import TPE, best_tenth, split

    space, sampler = toys.cube(1), TPE()
    study = Study(space, searches.SAMPLERS["random"]).run(
        lambda config: (config["x0"] - 0.3) ** 2, evidence.given("trials")
    )
    groups = split(study.history, best_tenth(len(study.trials)))
    grid = {"x0": np.linspace(0, 1, 101)}
    settings = _ParzenEstimatorParameters(1.0, True, False, recency, True)
    ours = [sampler.density(space, ["x0"], group).log_density(grid) for group in groups]
    for name, group, density in zip(("good", "rest"), groups, ours):
        observed = {"x0": np.array([trial.config["x0"] for trial in group])}
        theirs = _ParzenEstimator(observed, {"x0": FloatDistribution(0, 1)}, settings)
        evidence.identical(density, theirs.log_pdf(grid), label=name)
    moved = groups[1][0]
    moved.config = {"x0": 1.0 - moved.config["x0"]}
    evidence.identical(sampler.density(space, ["x0"], groups[0]).log_density(grid), ours[0], label="good, rest moved")
    rest = sampler.density(space, ["x0"], groups[1]).log_density(grid)
    evidence.identical(bool(np.abs(rest - ours[1]).max() > 1e-3), True, label="rest, rest moved")


@claim(
    "tpe.maximise-ratio",
    expect="refuted",
    because="the best of 24 draws falls short of the largest ratio by more than 1% in 116 of 200 histories",
)
def test_the_proposal_against_the_largest_ratio(evidence, toys, searches):
    """Log ratio at TPE's proposal and at the best of 2,001 points of the range, over random histories."""
    from implementations.search.study import Study
    from implementations.search.tpe import TPE, best_tenth, split

    space, sampler = toys.cube(1), TPE()
    grid = {"x0": np.linspace(0, 1, evidence.given("grid"))}
    reached, largest = [], []
    for seed in range(evidence.given("histories")):
        optimum = np.random.default_rng(seed).random()
        study = Study(space, searches.SAMPLERS["random"], seed=seed)
        study.run(lambda config, optimum=optimum: (config["x0"] - optimum) ** 2, evidence.given("trials"))
        good, rest = (
            sampler.density(space, ["x0"], group) for group in split(study.history, best_tenth(len(study.trials)))
        )
        proposal = sampler.propose(study.history, np.random.default_rng(seed))
        point = {"x0": np.array([proposal["x0"]])}
        reached.append(float(good.log_density(point)[0] - rest.log_density(point)[0]))
        largest.append(float((good.log_density(grid) - rest.log_density(grid)).max()))
    evidence.identical(np.minimum(reached, largest), largest)


@claim("tpe.ratio-is-expected-improvement")
def test_the_ratio_ranks_like_expected_improvement(evidence):
    """Orders of random density pairs by the ratio and by 1 / (q + (1 - q) rest/good)."""
    rng = np.random.default_rng(0)
    good, rest = rng.exponential(size=(2, evidence.given("pairs")))
    for share in evidence.given("good_shares"):
        improvement = 1 / (share + (1 - share) * rest / good)
        evidence.identical(np.argsort(improvement), np.argsort(good / rest), label=f"good share {share:g}")


@claim("tpe.never-models-score")
def test_only_the_order_of_results_matters(evidence, toys, searches):
    """All suggestions under a loss and under two increasing transforms of it, Optuna's and ours."""
    transforms = {"exp(3f)": lambda f: math.exp(3 * f), "f³ + 1": lambda f: f**3 + 1}
    trials = evidence.given("trials")
    for name, run in (
        ("Optuna", lambda loss: toys.optuna_trials("TPESampler", 0, loss, trials)),
        ("ours", lambda loss: _configs(toys.MIXED, searches.SAMPLERS["tpe"], loss, trials)),
    ):
        plain = run(toys.mixed_loss)
        for formula, warp in transforms.items():
            warped = run(lambda config, warp=warp: warp(toys.mixed_loss(config)))
            evidence.identical(warped, plain, label=f"{name}, {formula}")


@claim("tpe.mixed-space")
def test_every_suggestion_is_legal(evidence, toys, searches):
    """Suggestions from one history under many streams lie in their ranges and on their steps; so do Optuna's.

    The good density's share of each category is the smoothed count among the good trials.
    """
    from implementations.search.study import Study
    from implementations.search.tpe import best_tenth, split

    sampler = searches.SAMPLERS["tpe"]
    study = Study(toys.MIXED, sampler).run(toys.mixed_loss, evidence.given("trials"))

    @given(st.integers(0, 2**32 - 1))
    def check(seed):
        toys.MIXED.check(sampler.propose(study.history, np.random.default_rng(seed)))

    evidence.every(_as_assertion(check), label="ours")
    theirs = toys.optuna_trials("TPESampler", 0, toys.mixed_loss, evidence.given("optunas_asks"))

    @given(st.sampled_from(theirs))
    def legal(config):
        toys.MIXED.check(config)

    evidence.every(_as_assertion(legal), label="Optuna")
    good, _ = split(study.history, best_tenth(len(study.trials)))
    density = sampler.density(toys.MIXED, ["kind"], good)

    @given(st.sampled_from([0, 1, 2]))
    def counted(index):
        n, kind = len(good), toys.MIXED.parameters["kind"].choices[index]
        smoothed = [(float(trial.config["kind"] == kind) + 1 / (n + 1)) / (1 + 3 / (n + 1)) for trial in good]
        expected = (sum(smoothed) + 1 / 3) / (n + 1)
        assert abs(math.exp(density.log_density({"kind": np.array([float(index)])})[0]) - expected) < 1e-12

    evidence.every(counted, label="shares of the categories")


def _as_assertion(check):
    """A refused configuration refutes the property; left alone, a ValueError would be an error of the test."""
    inner = check.hypothesis.inner_test

    def asserting(*args, **kwargs):
        try:
            inner(*args, **kwargs)
        except ValueError as refused:
            raise AssertionError(str(refused)) from None

    check.hypothesis.inner_test = asserting
    return check


@claim("tpe.tree-structured")
def test_a_parameter_exists_only_where_it_is_called_for(evidence, toys):
    """A width that needs a decoder: absent without one, and its density holds only trials that have it."""
    from implementations.search.space import Categorical, Float, Space, When
    from implementations.search.study import Study
    from implementations.search.tpe import TPE

    space = Space(
        {"decoder": Categorical((True, False)), "rate": Float(0, 1), "width": Float(0, 1)},
        {"width": When("decoder", (True,))},
    )

    def loss(config):
        return (config["rate"] - 0.3) ** 2 + ((config["width"] - 0.8) ** 2 if config["decoder"] else 0.05)

    trials = evidence.given("trials")
    for name, sampler in (("alone", TPE()), ("grouped", TPE(grouped=True))):
        study = Study(space, sampler).run(loss, trials)
        having = [trial for trial in study.trials if "width" in trial.config]
        evidence.identical(
            [t.number for t in study.trials if t.config["decoder"]], [t.number for t in having], label=name
        )
        kernels = len(sampler.density(space, ["width"], study.trials).weights)
        evidence.identical(kernels, len(having) + 1, label=f"{name}, kernels and the prior")
    study = toys.optuna_study("TPESampler", 0)
    study.optimize(lambda trial: loss(toys.suggest(trial, space)), n_trials=trials)
    theirs = [("width" in trial.params) == trial.params["decoder"] for trial in study.trials]
    evidence.identical(theirs, [True] * trials, label="Optuna")


@claim("tpe.grid-cost")
def test_three_values_of_ten(evidence):
    """The length of that grid."""
    from implementations.search.grid import Grid

    values, hyperparameters = evidence.given("values"), evidence.given("hyperparameters")
    evidence.figure("runs", len(Grid({f"h{i}": range(values) for i in range(hyperparameters)})))


@claim("tpe.grid-repeats-unimportant")
def test_most_runs_of_a_grid_repeat_the_live_parameters(evidence):
    """Runs that repeat an earlier setting of the live parameters, and the miss beside random search's."""
    values, parameters, live = (evidence.given(name) for name in ("values", "parameters", "live"))
    runs = list(itertools.product(range(values), repeat=parameters))
    evidence.figure("repeated_runs", [len(runs) - len({run[:k] for run in runs}) for k in live])
    rng = np.random.default_rng(0)
    levels = (np.arange(values) + 0.5) / values
    optimum = rng.random((evidence.given("searches"), 1))
    spun = rng.random((evidence.given("searches"), len(runs)))
    grid, random = (np.abs(tried - optimum).min(axis=1) for tried in (levels, spun))
    evidence.above(grid, random, paired=True, label="distance to the best of one live parameter")
