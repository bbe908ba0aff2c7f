"""What needs no fit: resolution, coverage, the parable, and arithmetic on the printed figures."""

import inspect
import itertools

import numpy as np

from runtwice import claim


@claim("grid.resolution-formula")
def test_resolution_is_the_root_of_the_budget(evidence):
    """The d-th root of 64 for each number of parameters."""
    from implementations.search.grid import resolution

    trials = evidence.given("trials")
    evidence.figure("values", [resolution(trials, d) for d in evidence.given("parameters")])
    eight = resolution(trials, evidence.given("too_many"))
    evidence.figure("values_of_eight", f"fewer than {int(np.ceil(eight))}")


@claim("grid.eight-cannot-build", expect="refuted", because="seven parameters still need 128 trials; two must go")
def test_how_many_parameters_must_go(evidence):
    """The largest number of parameters for which 64 trials leave two values each."""
    from implementations.search.grid import values_per_axis

    trials, parameters = evidence.given("trials"), evidence.given("parameters")

    def buildable(d):
        try:
            return values_per_axis(trials, d) >= 2
        except ValueError:
            return False

    evidence.figure("to_be_dropped", next(k for k in range(parameters) if buildable(parameters - k)))


@claim("grid.random-resolution")
def test_every_random_trial_has_its_own_rate(evidence, searches):
    """Distinct values among the post's own draws, in both spaces."""
    drawn = [
        searches.drawn_configs(space, evidence.given("seed"), evidence.given("trials"))
        for space in evidence.given("spaces")
    ]
    evidence.figure("distinct_rates", [len({config["learning_rate"] for config in one}) for one in drawn])
    evidence.figure("distinct_depths", [len({config["max_depth"] for config in one}) for one in drawn])
    evidence.figure("canary_first_draw", list(drawn[0][0].values()))


@claim("grid.grid-resolution-observed")
def test_the_grids_axes_shrink(evidence, searches):
    """Distinct rates among the trials of both grids, each of 64 trials."""
    trials = [searches.GRID_THREE.configs(), searches.GRID_SIX.configs()]
    evidence.identical([len(one) for one in trials], [evidence.given("trials")] * 2, label="trials")
    evidence.figure("rates", [len({config["learning_rate"] for config in one}) for one in trials])


@claim("grid.five-of-ten")
def test_how_many_printed_seeds_the_grid_beats(evidence):
    """Counting printed scores below the grid's."""
    evidence.derived(
        "beaten",
        lambda scores, grid: sum(score < grid for score in scores),
        evidence.printed("best", of="grid.ten-seeds"),
        evidence.printed("grid_r2"),
    )


@claim("grid.seed-anecdote")
def test_which_seed_points_where(evidence):
    """The winner of each of the three printed seeds."""
    evidence.derived(
        "winners",
        lambda scores, grid: ["random" if score > grid else "grid" for score in scores],
        evidence.printed("random_r2"),
        evidence.printed("grid_r2"),
    )


@claim("grid.coverage-formula")
def test_coverage_is_the_share_of_searches_that_hit(evidence):
    """Simulated searches for each of the nine pairs, against the formula."""
    from implementations.search.coverage import hit_probability

    rng = np.random.default_rng(0)
    draws = evidence.given("draws")
    least = {n: np.concatenate([rng.random((10_000, n)).min(axis=1) for _ in range(10)]) for n in draws}
    for share, n in itertools.product(evidence.given("shares"), draws):
        hits = (least[n][: evidence.given("searches")] < share).mean()
        evidence.identical(hits, hit_probability(share, n), label=f"{share:g} of {n}")


@claim("grid.coverage-table")
def test_the_printed_chances(evidence):
    """The formula at each share and number of draws."""
    from implementations.search.coverage import hit_probability

    for share in evidence.given("shares"):
        chances = [hit_probability(share, n) for n in evidence.given("draws")]
        evidence.figure(f"top_{round(100 * share)}_percent", chances)


@claim("grid.coverage-dimension-free")
def test_coverage_does_not_know_the_number_of_parameters(evidence):
    """A box of the same probability in 1, 3, 6 and 20 dimensions."""
    from implementations.search.coverage import hit_probability

    rng = np.random.default_rng(1)
    share, draws = evidence.given("share"), evidence.given("draws")
    expected = hit_probability(share, draws)
    for d in evidence.given("parameters"):
        searches = evidence.given("searches")
        hit = np.zeros(searches, bool)
        for _ in range(draws):
            hit |= (rng.random((searches, d)) < share ** (1 / d)).all(axis=1)
        evidence.identical(hit.mean(), expected, label=f"{d} parameters")


@claim("grid.top1-needs-200")
def test_draws_that_reach_the_best_hundredth(evidence):
    """The chance at 200 draws, and the draws for one half and for 95%."""
    from implementations.search.coverage import draws_needed, hit_probability

    share = evidence.given("share")
    evidence.figure("chance", hit_probability(share, evidence.given("draws")))
    evidence.figure("draws_for_half", draws_needed(share, 0.5))
    evidence.figure("draws_for_95_percent", draws_needed(share, 0.95))


@claim("grid.uniform-lr-90")
def test_where_uniform_rates_fall(evidence):
    """The share of draws above the threshold, uniform and log-uniform."""
    from implementations.search.space import Float

    rng = np.random.default_rng(0)
    low, high = evidence.given("low"), evidence.given("high")

    def percent(log):
        rate = Float(low, high, log=log)
        drawn = np.array([rate.draw(rng) for _ in range(evidence.given("draws"))])
        return 100 * (drawn > evidence.given("threshold")).mean()

    evidence.figure("percent_above", percent(log=False))
    evidence.figure("percent_above_logarithmic", percent(log=True))


@claim("grid.six-lines")
def test_six_lines_suffice(evidence, searches):
    """Both searches written out in the test; they must find what our samplers find."""

    def grid(axes, score):
        best = None
        for values in itertools.product(*axes.values()):
            value = score(dict(zip(axes, values)))
            best = value if best is None else max(best, value)
        return best

    def random_search(space, n, seed, score):
        found = []
        for number in range(n):
            rng = np.random.default_rng((seed, number))
            found.append(score(space.draw(rng)))
        return max(found)

    problem, trials = searches.landscape.regressor(), evidence.given("trials")
    evidence.identical(grid(searches.GRID_THREE.axes, problem), searches.grid_best(searches.GRID_THREE), label="grid")
    plain = searches.study(searches.SAMPLERS["random"], 0, trials).best.value
    evidence.identical(random_search(searches.FOUR, trials, 0, problem), plain, label="random search")
    evidence.figure("lines_of_grid", len(inspect.getsource(grid).strip().splitlines()))
    evidence.figure("lines_of_random_search", len(inspect.getsource(random_search).strip().splitlines()))


@claim("grid.low-effective-dimension")
def test_even_resolution_is_the_mistake_where_one_parameter_matters(evidence):
    """Distance of the best of 64 points to a random optimum that one parameter, or all of them, decides.

    With one live parameter the grid misses by more; with all live, random points do, which is the other half.
    """
    rng = np.random.default_rng(0)
    trials, repeats = evidence.given("trials"), evidence.given("repeats")
    for d in evidence.given("parameters"):
        levels = (np.arange(round(trials ** (1 / d))) + 0.5) / round(trials ** (1 / d))
        grid = np.array(list(itertools.product(*[levels] * d)))
        optimum = rng.random((repeats, d))
        spun = rng.random((repeats, trials, d))
        miss_grid = np.abs(levels - optimum[:, :1]).min(axis=1)
        miss_random = np.abs(spun[:, :, 0] - optimum[:, :1]).min(axis=1)
        evidence.above(miss_grid, miss_random, paired=True, label=f"one of {d} live")
        if d == 2:
            far_grid = ((grid - optimum[:, None]) ** 2).sum(axis=2).min(axis=1)
            far_random = ((spun - optimum[:, None]) ** 2).sum(axis=2).min(axis=1)
            evidence.above(far_random, far_grid, paired=True, label=f"all {d} live")


@claim("grid.parable-sixteen-times")
def test_the_dials_multiply_out(evidence):
    """Positions to the power of dials, and the printed tries over the printed positions."""
    dials, positions = evidence.given("dials"), evidence.given("positions")
    tries, shown = evidence.printed("tries"), evidence.printed("grid_positions")
    evidence.derived("tries", lambda shown: shown**dials, shown)
    evidence.derived("factor", lambda tries, shown: tries / shown, tries, shown)
    evidence.derived("combinations", lambda _tries: positions**dials, tries)


@claim(
    "grid.parable-never-repeats",
    expect="refuted",
    because="64 spins of a dial of 100 show 47.4 positions on average; all differ once in 4e11 searches",
)
def test_spins_repeat(evidence):
    """Mean number of distinct positions among simulated spins."""
    rng = np.random.default_rng(0)
    spins = rng.integers(0, evidence.given("positions"), (evidence.given("searches"), evidence.given("spins")))
    evidence.figure("distinct_positions", np.mean([len(set(row)) for row in spins.tolist()]))


@claim("grid.parable-decoration", expect="refuted", because="three of the six parameters were added, not five")
def test_how_many_dials_are_decoration(evidence, searches):
    """Parameters of the six-parameter space that the three-parameter space lacks."""
    six, three = searches.SIX.parameters, searches.THREE.parameters
    evidence.figure("decorative", len(six) - len(three))
    evidence.figure("dials", len(six))


@claim("grid.resumable")
def test_random_search_goes_on_and_a_grid_does_not(evidence, searches):
    """More draws begin with the fewer; four levels are no subset of five, and are one of seven."""
    few, many = (searches.drawn_configs("three", 0, evidence.given(name)) for name in ("trials", "more"))
    evidence.identical(many[: len(few)], few, label="random search")
    rate = searches.THREE.parameters["subsample"]

    def kept(levels):
        values = np.array(rate.spread(evidence.given(levels)))
        return all(np.isclose(values, level).any() for level in rate.spread(evidence.given("levels")))

    evidence.identical(kept("next_levels"), False, label="one level more")
    evidence.identical(kept("nested_levels"), True, label="nested levels")
