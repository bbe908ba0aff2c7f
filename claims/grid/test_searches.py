"""Grid and random search on the posts' problem: their own fits, and the interpolated problem for many seeds."""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np

from runtwice import claim

# scikit-learn 1.9 changed how a boosted tree draws its rows; the posts' figures are of an earlier release.
OLD_ROWS = "scikit-learn>=1.9"


@claim("grid.regime-a", expect={OLD_ROWS: "refuted"}, because="random search ends at 0.8738 from scikit-learn 1.9 on")
def test_three_parameters(evidence, searches):
    """The post's grid and its random search, seed 0, on the post's data."""
    _regime(evidence, searches)


@claim("grid.regime-b")
def test_six_parameters(evidence, searches):
    """The post's grid and its random search, seed 0, on the post's data; and a grid of two inner levels an axis."""
    _regime(evidence, searches)
    inner = searches.inner_grid(evidence.given("inner")).configs()
    evidence.figure("inner_levels_r2", max(searches.friedman.score(config) for config in inner))


def _regime(evidence, searches):
    space = evidence.given("space")
    grid = searches.real_grid(space).best.value
    random = searches.real_random(space, evidence.given("seed")).best.value
    evidence.figure("grid_r2", grid)
    evidence.figure("random_r2", random)
    evidence.figure("difference", random - grid)


@claim(
    "grid.crossover",
    expect="undecided",
    because="level at three, -0.0004 [-0.0030, 0.0021]; at six random search is 0.0026 ± 0.0036 ahead",
)
def test_who_is_ahead_at_three_and_at_six(evidence, searches):
    """The grid against the mean of random search, data set by data set, in both spaces."""
    seeds, trials = evidence.given("seeds"), evidence.given("trials")
    grid = {space: searches.grid_bests(one) for space, one in searches.GRIDS.items()}
    random = {space: searches.random_means(space, seeds, trials) for space in searches.GRIDS}
    evidence.above(grid["three"], random["three"], paired=True, label="grid ahead at three")
    evidence.above(random["six"], grid["six"], paired=True, label="random ahead at six")


@claim(
    "grid.useless-params-cost-grid",
    expect="refuted",
    because="two inner levels of six parameters end 0.0056 [0.0033, 0.0078] above the grid over three",
)
def test_what_halving_the_resolution_costs(evidence, searches):
    """The grid of three parameters against that of six, with the post's extreme levels and with inner ones.

    The third comparison gives the rate its four values back and takes a level from the last added parameter: were
    the rate's resolution the cause, the loss would go with it.
    """
    from implementations.search.grid import Grid

    inner = searches.inner_grid(evidence.given("inner"))
    rates_back = {**searches.GRID_SIX.axes, "min_samples_split": [2]}
    rates_back["learning_rate"] = searches.GRID_THREE.axes["learning_rate"]
    three, six = (searches.grid_bests(grid) for grid in (searches.GRID_THREE, searches.GRID_SIX))
    evidence.above(three, six, paired=True, label="extreme levels")
    evidence.above(three, searches.grid_bests(inner), paired=True, label="inner levels")
    evidence.above(searches.grid_bests(Grid(rates_back)), six, paired=True, label="four rates again")


@claim("grid.random-unaffected")
def test_random_search_with_and_without_the_added_parameters(evidence, searches):
    """Mean best of random search in both spaces, data set by data set."""
    seeds, trials = evidence.given("seeds"), evidence.given("trials")
    three, six = (searches.random_means(space, seeds, trials) for space in ("three", "six"))
    evidence.above(np.add(six, evidence.given("next_to_nothing")), three, paired=True)


@claim("grid.added-params-barely-matter")
def test_which_parameters_matter(evidence, searches):
    """Total effect of each parameter: half the mean squared change when it alone is drawn again."""
    least, most = [], []
    for data in searches.DATA_SETS:
        effect = _total_effects(searches, data, evidence.given("draws"))
        least.append(min(effect[:3]))
        most.append(max(effect[3:]))
    evidence.above(least, most, paired=True)


def _total_effects(searches, data, draws):
    rng = np.random.default_rng(0)
    problem = searches.landscape.regressor(data)
    first, second = ([searches.SIX.draw(rng) for _ in range(draws)] for _ in range(2))
    base = problem.smooth(first)
    effects = []
    for name in searches.SIX.parameters:
        swapped = [{**one, name: other[name]} for one, other in zip(first, second)]
        effects.append(0.5 * float(np.mean((problem.smooth(swapped) - base) ** 2)))
    return effects


@claim(
    "grid.ten-seeds",
    expect={OLD_ROWS: "refuted"},
    because="seed 0 is 0.8738 and seed 8 is 0.8750 from scikit-learn 1.9 on; mean and spread stay",
)
def test_ten_seeds_of_random_search(evidence, random_scores):
    """The post's own ten streams over three parameters, every score a fit."""
    best = [max(scores) for scores in random_scores(evidence.given("seeds"))]
    evidence.figure("best", best)
    evidence.figure("mean", np.mean(best))
    evidence.figure("spread", np.ptp(best))
    evidence.figure("sd", np.std(best))


@claim(
    "grid.gaps-inside-noise",
    expect="undecided",
    because="a gap of 0.78 [0, 1.83] standard deviations at six parameters; some 420 more data sets would decide",
)
def test_gaps_beside_the_seeds_spread(evidence, searches):
    """Mean gap between grid and random search over data sets, in standard deviations over random search's seeds."""
    seeds, trials = evidence.given("seeds"), evidence.given("trials")
    for space, grid in searches.GRIDS.items():
        runs = np.array([searches.random_best(space, seeds, trials, data) for data in searches.DATA_SETS])
        evidence.smaller_than_noise(runs.mean(axis=1) - searches.grid_bests(grid), runs, label=f"gap at {space}")


@claim(
    "grid.single-seed-coin-flip",
    expect="refuted",
    because="74% [71%, 77%] of the seeds beat the grid's 0.8729; the coin is loaded",
)
def test_how_often_one_seed_beats_the_grid(evidence, searches):
    """Share of seeds of random search whose best is above the grid's printed score."""
    grid = evidence.printed("grid_r2", of="grid.five-of-ten")
    best = searches.random_best("three", evidence.given("seeds"), evidence.given("trials"))
    evidence.equivalent((best > grid).astype(float), float(evidence.printed("fair")))


@claim("grid.coverage-says-nothing-on-effect")
def test_the_same_coverage_is_worth_little_on_a_flat_optimum(evidence, searches):
    """What is left to gain above the threshold of the best 5%, as a share of the way from the median to the best.

    Once for the scores, once for the same configurations under a peak as narrow as 5% of each axis: a search reaches
    the best 5% of either with the same probability.
    """
    rng = np.random.default_rng(0)
    configs = [searches.THREE.draw(rng) for _ in range(evidence.given("configs"))]
    points = np.array([searches.THREE.point(config) for config in configs])
    low, high = searches.THREE.box
    unit = (points - low) / (high - low)

    def left(scores):
        threshold, median = np.quantile(scores, [1 - evidence.given("share"), 0.5])
        return (scores.max() - threshold) / (scores.max() - median)

    flat, sharp = [], []
    for data in searches.DATA_SETS:
        flat.append(left(searches.landscape.regressor(data).many(configs)))
        peak = unit[rng.integers(len(unit))]
        sharp.append(left(np.exp(-0.5 * (((unit - peak) / evidence.given("width")) ** 2).sum(axis=1))))
    evidence.above(sharp, flat, paired=True)


@claim("grid.early-vs-late")
def test_what_more_draws_still_bring(evidence, searches):
    """Early: 64 draws against the threshold of the best tenth. Late: what 1,000 draws add, against a seed's spread."""
    few, many, seeds = (evidence.given(name) for name in ("draws", "many", "seeds"))
    threshold, after_few, after_many, spread = [], [], [], []
    for data in searches.DATA_SETS:
        rng = np.random.default_rng(data)
        scores = searches.landscape.regressor(data).many([searches.THREE.draw(rng) for _ in range(3 * many)])
        first = [rng.choice(scores, few, replace=False).max() for _ in range(seeds)]
        threshold.append(np.quantile(scores, 1 - evidence.given("early_share")))
        after_few.append(np.mean(first))
        after_many.append(np.mean([rng.choice(scores, many, replace=False).max() for _ in range(seeds)]))
        spread.append(np.std(first, ddof=1))
    evidence.above(after_few, threshold, paired=True, label="64 draws reach the best tenth")
    evidence.above(np.subtract(after_many, after_few), spread, paired=True, label="1,000 draws add a spread more")


@claim(
    "grid.distribution-outranks-method",
    expect="undecided",
    because="the two effects differ by 0.0014 [-0.0001, 0.0029]; 12 more data sets would decide",
)
def test_the_prior_against_the_method(evidence, searches):
    """Change of the mean best from a uniform to a log-uniform rate, against the change from grid to random search."""
    from implementations.search.grid import Grid
    from implementations.search.space import Float

    low, high, trials, seeds = (evidence.given(name) for name in ("low", "high", "trials", "seeds"))
    found = {}
    for prior in ("uniform", "log-uniform"):
        rate = Float(low, high, log=prior == "log-uniform")
        space = _with(searches.THREE, learning_rate=rate)
        grid = Grid({**searches.GRID_THREE.axes, "learning_rate": rate.spread(4)})
        found[prior, "grid"] = np.array(searches.grid_bests(grid))
        found[prior, "random"] = np.array([_mean_best(searches, space, trials, seeds, d) for d in searches.DATA_SETS])
    of_prior = np.mean([found["log-uniform", m] - found["uniform", m] for m in ("grid", "random")], axis=0)
    of_method = np.mean([found[p, "random"] - found[p, "grid"] for p in ("uniform", "log-uniform")], axis=0)
    evidence.above(np.abs(of_prior), np.abs(of_method), paired=True)


@claim(
    "grid.prior-per-type",
    expect="refuted",
    because="with 60 trees a uniform rate ends 0.0028 [0.0022, 0.0033] above a log-uniform one",
)
def test_each_type_has_its_prior(evidence, searches):
    """The advised prior against another, one parameter at a time, data set by data set."""
    from implementations.search.space import Float, Int

    low, high, trials, seeds = (evidence.given(name) for name in ("low", "high", "trials", "seeds"))
    advised = {"learning_rate": Float(low, high, log=True), "max_depth": Int(2, 5), "subsample": Float(0.6, 1.0)}
    others = {
        "learning_rate": Float(low, high),
        "max_depth": Int(2, 5, log=True),
        "subsample": Float(0.6, 1.0, log=True),
    }
    ours = [_mean_best(searches, _with(searches.THREE, **advised), trials, seeds, data) for data in searches.DATA_SETS]
    for name, other in others.items():
        space = _with(searches.THREE, **{**advised, name: other})
        theirs = [_mean_best(searches, space, trials, seeds, data) for data in searches.DATA_SETS]
        evidence.above(ours, theirs, paired=True, label=name)


def _with(space, **parameters):
    from implementations.search.space import Space

    return Space({**space.parameters, **parameters})


def _mean_best(searches, space, trials, seeds, data):
    return float(searches.random_bests(space, seeds, trials, data).mean())


@claim("grid.scratch-equals-sklearn")
def test_the_loop_is_the_librarys_search(evidence, searches, random_scores):
    """Scores of all 64 combinations, in both orders, and the best of each; the table beside real fits."""
    from sklearn.model_selection import GridSearchCV

    friedman = searches.friedman
    ours = searches.real_grid("three")
    axes = {name: list(values) for name, values in searches.GRID_THREE.axes.items()}
    theirs = GridSearchCV(friedman.model({}), axes, cv=friedman.folds(), scoring="r2").fit(*friedman.data())
    by_config = {_key(config): score for config, score in _results(theirs)}
    evidence.identical([t.value for t in ours.trials], [by_config[_key(t.config)] for t in ours.trials])
    evidence.figure("mine", ours.best.value)
    evidence.figure("theirs", theirs.best_score_)
    evidence.figure("trials_mine", len(ours.trials))
    evidence.figure("trials_theirs", len(theirs.cv_results_["params"]))
    scores = np.array(random_scores(evidence.given("seeds")))
    configs = [searches.drawn_configs("three", seed) for seed in range(len(scores))]
    for name, trials in (("three", ours.trials), ("six", searches.real_grid("six").trials)):
        found = [trial.value for trial in trials], [trial.config for trial in trials]
        evidence.figure(f"table_ranks_at_{name}", _rank_correlation(searches, *found))
    evidence.figure("table_ranks_of_random", _rank_correlation(searches, scores.ravel(), list(chain(*configs))))
    problem = searches.landscape.regressor()
    evidence.figure("table_mean_best", np.mean([problem.many(drawn).max() for drawn in configs]))


def _rank_correlation(searches, scores, configs):
    """Of real scores with those of the interpolated problem, without noise."""
    from scipy.stats import spearmanr

    return float(spearmanr(scores, searches.landscape.regressor().smooth(configs)).statistic)


def _key(config):
    return tuple(sorted(config.items()))


def _results(search):
    return zip(search.cv_results_["params"], search.cv_results_["mean_test_score"])


@claim("grid.no-learning")
def test_results_leave_the_next_trial_alone(evidence, searches, canaries):
    """The configurations of both searches under the problem's scores and under their negatives."""
    from implementations.search.study import Study

    problem = searches.landscape.regressor()
    for name, sampler in (("grid", searches.GRID_THREE), ("random search", searches.SAMPLERS["random"])):
        runs = [
            Study(searches.THREE, sampler, seed=1).run(score, evidence.given("trials"))
            for score in (problem, lambda config: -problem(config))
        ]
        evidence.identical(*([trial.config for trial in run.trials] for run in runs), label=name)
    evidence.figure("canary_interpolated", canaries.interpolated_score())


@claim("grid.grid-deterministic")
def test_a_grid_run_twice(evidence, searches, canaries):
    """Two fresh runs of a small grid on the post's data and fits, to the last bit; scikit-learn's beside them."""
    from sklearn.model_selection import GridSearchCV

    from implementations.search.grid import Grid
    from implementations.search.study import Study

    grid = Grid({name: evidence.given(name) for name in ("learning_rate", "subsample")})

    def scores():
        run = Study(searches.THREE, grid, maximise=True).run(searches.friedman.cross_validated, len(grid))
        return [trial.value for trial in run.trials]

    once = scores()
    evidence.identical(scores(), once)
    friedman = searches.friedman
    axes = {name: [float(value) for value in values] for name, values in grid.axes.items()}
    theirs = GridSearchCV(friedman.model({}), axes, cv=friedman.folds(), scoring="r2", refit=False)
    theirs.fit(*friedman.data())
    evidence.identical(theirs.cv_results_["mean_test_score"].tolist(), once, label="scikit-learn's grid search")
    evidence.figure("canary_subsampled", once[0])
    evidence.figure("canary_whole", once[1])
    evidence.figure("canary_six_parameters", canaries.six_parameter_score())
    evidence.figure("table_rows_again", canaries.table_rows_again(6))


@claim(
    "grid.states-ruled-out",
    expect="refuted",
    because="14 of 2,000 random settings inside the grid's hull are better than its best",
)
def test_better_points_lie_between_the_grids(evidence, searches):
    """Random configurations inside the grid's hull whose interpolated score is above the grid's best."""
    rng = np.random.default_rng(0)
    scores = searches.landscape.regressor().many([searches.THREE.draw(rng) for _ in range(evidence.given("draws"))])
    evidence.figure("better_inside", int((scores > searches.grid_best(searches.GRID_THREE)).sum()))


@claim(
    "grid.dimension-rule",
    expect="undecided",
    because="random search is 0.0026 ± 0.0036 ahead at six; the gaps below are 0.0015 or less",
)
def test_who_is_ahead_at_each_number_of_parameters(evidence, searches):
    """Grids of 64 trials against the mean of random search over two, three, four and six parameters."""
    from implementations.search.grid import Grid, axes_of
    from implementations.search.space import Space

    seeds, trials = evidence.given("seeds"), evidence.given("trials")
    names = list(searches.SIX.parameters)
    levels = {2: (16, 4), 3: (4, 4, 4), 4: (4, 4, 2, 2), 6: (2,) * 6}
    for d, counts in levels.items():
        space = Space({name: searches.SIX.parameters[name] for name in names[:d]})
        grid = searches.grid_bests(Grid(axes_of(space, dict(zip(names, counts)))))
        random = [_mean_best(searches, space, trials, seeds, data) for data in searches.DATA_SETS]
        ahead, behind = (grid, random) if d <= 3 else (random, grid)
        evidence.above(ahead, behind, paired=True, label=f"{'grid' if d <= 3 else 'random'} ahead at {d}")


@claim("grid.neither-at-64")
def test_how_many_seeds_the_gaps_take(evidence):
    """Seeds for a t-test of the printed gaps with 80% power: the formula against simulated comparisons."""
    from scipy import stats

    rng = np.random.default_rng(0)
    sd, power, repeats = (evidence.given(name) for name in ("sd", "power", "repeats"))

    def formula(gap):
        def reached(n):
            cut = stats.t.ppf(0.975, n - 1)
            return stats.nct.sf(cut, n - 1, gap / sd * np.sqrt(n)) >= power

        return next(n for n in range(3, 500) if reached(n))

    def simulated(gap):
        def reached(n):
            runs = rng.normal(gap, sd, (repeats, n))
            p = stats.ttest_1samp(runs, 0, axis=1).pvalue
            return (p < 0.05).mean() >= power

        return next(n for n in range(3, 500) if reached(n))

    for gap in evidence.given("gaps"):
        evidence.identical(simulated(gap), formula(gap), label=f"gap {gap:g}")


@claim("grid.report-spread")
def test_verdicts_from_few_seeds_go_wrong(evidence, searches):
    """How often the sign of a mean difference from n seeds a space contradicts that of all, for n from 1 to 10."""
    rng = np.random.default_rng(0)
    seeds, trials, repeats = (evidence.given(name) for name in ("seeds", "trials", "repeats"))

    def errors(data):
        three, six = (searches.random_best(space, seeds, trials, data) for space in ("three", "six"))
        truth = np.sign(six.mean() - three.mean())

        def wrong(n):
            draws = [rng.choice(six, n).mean() - rng.choice(three, n).mean() for _ in range(repeats)]
            return float(np.mean(np.sign(draws) != truth))

        return [wrong(n) for n in evidence.given("numbers")]

    evidence.trend([errors(data) for data in searches.DATA_SETS], "falls")


@claim("grid.trivially-parallel")
def test_order_and_workers_change_nothing(evidence, searches):
    """Scores of a grid and of random draws in shuffled order and from two threads at once."""
    problem = searches.landscape.regressor()
    rng = np.random.default_rng(0)
    random = searches.drawn_configs("three", 0, evidence.given("trials"))
    for name, configs in (("grid", searches.GRID_THREE.configs()), ("random search", random)):
        plain = [problem(config) for config in configs]
        order = rng.permutation(len(configs))
        shuffled = dict(zip(order.tolist(), [problem(configs[i]) for i in order]))
        with ThreadPoolExecutor(evidence.given("workers")) as pool:
            parallel = list(pool.map(problem, configs))
        evidence.identical([shuffled[i] for i in range(len(configs))], plain, label=f"{name}, shuffled")
        evidence.identical(parallel, plain, label=f"{name}, two workers")
