"""Bagged trees beside boosted ones: one tree less, many trees more, and depth."""

import numpy as np

from runtwice import claim


@claim("boosting.remove-one-tree-figures")
def test_one_tree_less(evidence, removals):
    """Test error gained by leaving out the first boosted tree, above the most that any bagged one is worth."""
    runs = removals(evidence.given("seeds"))
    first, bagged = [one["boosting"][0] for one in runs], [max(one["bagging"]) for one in runs]
    evidence.figure("boosting_loss_increase_front", np.mean(first))
    evidence.figure("bagging_loss_increase", np.mean([np.mean(one["bagging"]) for one in runs]))
    evidence.above(first, bagged, paired=True)


@claim("boosting.remove-front-of-chain")
def test_early_trees_are_worth_more(evidence, removals):
    """Test error gained by leaving out a boosted tree, by its position, a curve a data set."""
    places = [position - 1 for position in evidence.given("positions")]
    evidence.trend([[one["boosting"][k] for k in places] for one in removals(evidence.given("seeds"))], "falls")


@claim("boosting.bagging-interchangeable")
def test_either_half_of_a_crowd_will_do(evidence, removals):
    """Error of the last fifty trees alone over that of the first fifty: bagged near 1, boosted not."""
    for seed, one in enumerate(removals(evidence.given("seeds"))):
        bagged, boosted = (one[f"{name} halves"][1] / one[f"{name} halves"][0] for name in ("bagging", "boosting"))
        evidence.procedure(
            wrong=boosted,
            right=bagged,
            correct=lambda ratio: abs(ratio - 1) < float(evidence.given("apart")),
            label=f"seed {seed}",
        )


@claim("boosting.optimum-19-trees")
def test_the_error_has_a_minimum_inside(evidence, long_boosting):
    """Test error by number of trees on a noisy surface, a curve a data set."""
    runs = long_boosting(evidence.given("seeds"))
    curves = [[one["test"][trees - 1] for trees in evidence.given("trees")] for one in runs]
    evidence.figure("best_trees", np.median([np.argmin(one["test"]) + 1 for one in runs]))
    evidence.figure("mse_best", np.mean([min(one["test"]) for one in runs]))
    evidence.figure("mse_long", np.mean([one["test"][-1] for one in runs]))
    evidence.trend(curves, "valley", slack=float(evidence.given("slack")))


@claim("boosting.unlimited-depth-worse-than-stumps")
def test_unlimited_depth_is_worse_than_stumps(evidence, depth_errors):
    """Test error of a hundred boosted trees of unlimited depth above that of a hundred stumps."""
    from claims.experiments.tree_depths import DEPTHS

    runs = [one["boosting"] for one in depth_errors(evidence.given("seeds"))]
    deep, stumps = ([one[DEPTHS.index(depth)] for one in runs] for depth in (None, 1))
    evidence.figure("mse_unlimited", np.mean(deep))
    evidence.figure("mse_stumps", np.mean(stumps))
    evidence.above(deep, stumps, paired=True)


@claim("boosting.adaboost-noise-sensitivity")
def test_adaboost_loses_most_to_turned_labels(evidence, flip_costs):
    """Accuracy lost by AdaBoost above that of log-loss boosting of the same trees, and above bagging's."""
    costs = flip_costs(evidence.given("seeds"))
    lost = {name: [one[name] for one in costs] for name in costs[0]}
    evidence.above(lost["adaboost stumps"], lost["boosting stumps"], paired=True, label="stumps, against log loss")
    evidence.above(lost["adaboost depth 3"], lost["boosting 100"], paired=True, label="depth 3, against log loss")
    evidence.above(lost["adaboost stumps"], lost["bagging"], paired=True, label="stumps, against bagging")
