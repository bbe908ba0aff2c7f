"""Depth: bagged and boosted, and whether it is the lever the sheet says it is."""

import numpy as np

from runtwice import claim


def at_depth(runs, model, depth):
    """The error of each run at one depth."""
    from claims.experiments.tree_depths import DEPTHS

    return [one[model][DEPTHS.index(depth)] for one in runs]


@claim("tuning.depth-table")
def test_errors_by_depth(evidence, depth_errors):
    """Mean test error of a hundred trees of depth 1, 5 and without limit, bagged and boosted."""
    runs = depth_errors("clean", evidence.given("seeds"))
    for model in ("bagging", "boosting"):
        for depth in (1, 5, None):
            name = f"{model}_depth_{'none' if depth is None else depth}"
            evidence.figure(name, np.mean(at_depth(runs, model, depth)))


@claim("tuning.bagging-deeper-better")
def test_deeper_bagged_trees_are_better(evidence, depth_errors):
    """Test error of a hundred bagged trees by depth, on clean and on noisy data, a curve a data set."""
    for which in ("clean", "noisy"):
        runs = depth_errors(which, evidence.given("seeds"))
        shallow, deep = at_depth(runs, "bagging", 8), at_depth(runs, "bagging", None)
        evidence.settings(**{f"{which}: unlimited over depth 8": float(np.mean(np.divide(deep, shallow)))})
        evidence.trend([one["bagging"] for one in runs], "falls", label=which)


@claim("tuning.boosting-depth-u")
def test_boosting_has_a_best_depth(evidence, depth_errors):
    """Test error of a hundred boosted trees by depth, a curve a data set."""
    runs = depth_errors("clean", evidence.given("seeds"))
    evidence.trend([one["boosting"] for one in runs], "valley", slack=float(evidence.given("slack")))


@claim(
    "tuning.full-tree-eats-residual",
    expect="refuted",
    because="81% of the squared residual is left after the first round at a rate of 0.1, 12% after the tenth",
)
def test_what_a_full_tree_leaves(evidence):
    """Share of the squared residual left after each round of full trees, beside the power of the rate."""
    from claims.experiments import canaries
    from claims.experiments.generated_sets import surface
    from implementations.boosting.gradient import GradientBooster
    from implementations.boosting.loss import SquaredError
    from implementations.boosting.tree import Growth

    (train,) = surface(0, (evidence.given("rows"),))
    rate, rounds = float(evidence.given("learning_rate")), evidence.given("rounds")
    booster = GradientBooster(SquaredError(), learning_rate=rate, growth=Growth(max_depth=None))
    booster.fit(train.X, train.y, rounds)
    left = booster.staged_loss(train.X, train.y) * 2 / train.y.var()
    evidence.figure("left_after_first_round", left[0])
    evidence.figure("canary_forest", canaries.forest_error())
    evidence.figure("canary_forest_votes", canaries.forest_votes())
    evidence.figure("canary_bagging", canaries.bagged_error())
    evidence.identical(left, (1 - rate) ** (2 * np.arange(1, rounds + 1)), label="shares")
    evidence.identical(left[0], 0.0, label="nothing is left")


@claim(
    "tuning.depth-3-to-6",
    expect="refuted",
    because="keeping to the range costs 3.0% on a noisy surface and 9.6% on an additive one, where depth 1 is best",
)
def test_the_range_costs_nothing(evidence, sweep):
    """Test loss at the depth chosen from 3 to 6, relative to that of the depth chosen from all, by kind of data."""
    from claims.experiments import depth_choices

    low, high = evidence.given("low"), evidence.given("high")
    runs = sweep(depth_choices.depth_losses, range(evidence.given("seeds")))
    inside = [i for i, depth in enumerate(depth_choices.DEPTHS) if low <= depth <= high]
    for name in evidence.given("sets"):
        ratios = []
        for one in (run[str(name)] for run in runs):
            free = int(np.argmin(one["valid"]))
            bound = min(inside, key=lambda i, one=one: one["valid"][i])
            ratios.append(one["test"][bound] / one["test"][free])
        evidence.equivalent(ratios, 1.0, label=str(name))


@claim(
    "tuning.depth-biggest-lever",
    expect="refuted",
    because="true on clusters and on the clean surface; on the noisy one another knob moves the loss 6 points further",
)
def test_depth_moves_the_loss_most(evidence, lever_curves):
    """How far the test loss moves along the depth, above how far it moves along any other knob."""
    from claims.experiments.levers import reach

    runs = lever_curves(evidence.given("seeds"))
    for name in evidence.given("sets"):
        curves = [run[str(name)] for run in runs]
        depth = [reach(one["depth"]) for one in curves]
        others = [max(reach(one[str(knob)]) for knob in evidence.given("others")) for one in curves]
        evidence.above(depth, others, paired=True, label=str(name))


@claim(
    "tuning.capacity-by-trees",
    expect="undecided",
    because="few deep trees lose 106% and 14% on the surfaces; on clusters -0.6% [-2.2%, +1.2%] of a margin of 2%",
)
def test_shallow_and_many_beats_deep_and_few(evidence, sweep):
    """Test loss of few deep trees above that of many shallow ones, each at its best rate, relative to the latter."""
    from claims.experiments import depth_choices

    many, few = depth_choices.SHAPES
    runs = sweep(depth_choices.shape_losses, range(evidence.given("seeds")))
    for name in evidence.given("sets"):
        ratios = [run[str(name)][few] / run[str(name)][many] for run in runs]
        evidence.above(ratios, 1.0, label=str(name))
