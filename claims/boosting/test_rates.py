"""Learning rate and number of trees, taken as one knob."""

import numpy as np

from runtwice import claim


@claim("boosting.lr-trees-product")
def test_rate_times_trees_stays(evidence, rate_curves, sweep):
    """Rate times early-stopped trees at three rates, ours and LightGBM's, a curve a data set."""
    from claims.experiments import learning_rates

    rates, seeds = evidence.given("learning_rates"), evidence.given("seeds")
    ours = [[rate * one[str(rate)]["best"] for rate in rates] for one in rate_curves(seeds)]
    theirs = [
        [rate * one[str(rate)] for rate in rates] for one in sweep(learning_rates.lightgbm_best_rounds, range(seeds))
    ]
    evidence.trend(ours, "constant", slack=evidence.given("slack"), label="ours")
    evidence.trend(theirs, "constant", slack=evidence.given("slack"), label="LightGBM")
    for rate, products in zip(rates, np.median(ours, axis=0)):
        evidence.figure(f"product_lr_{rate}", products)


@claim("boosting.one-parameter")
def test_every_rate_reaches_the_same_loss(evidence, rate_curves):
    """Best test loss at the largest rate minus that at the smallest, beside refits on bootstrap samples at one rate."""
    large, small = evidence.given("learning_rates")
    curves = rate_curves(evidence.given("seeds"))
    effects = [one[str(large)]["test_loss"] - one[str(small)]["test_loss"] for one in curves]
    evidence.smaller_than_noise(effects, [one["refits"] for one in curves])


@claim("boosting.halve-rate-double-trees")
def test_half_the_rate_takes_twice_the_trees(evidence, rate_curves):
    """Trees to come down to a validation loss that both rates reach, as a power of two."""
    from claims.experiments.learning_rates import rounds_to_level

    factors = []
    for fast, slow in evidence.given("pairs"):
        counts = [rounds_to_level(one, slow, fast) for one in rate_curves(evidence.given("seeds"))]
        powers = [np.log2(more / fewer) for more, fewer in counts]
        evidence.equivalent(powers, 1.0, label=f"{fast} to {slow}")
        factors += [2**power for power in powers]
    evidence.figure("factor_trees", np.median(factors))


@claim("boosting.lr-axis-saves-grid")
def test_one_rate_finds_what_a_grid_finds(evidence):
    """Test loss of early stopping at one rate, relative to the best of a grid of rates and counts."""
    from claims.experiments.learning_rates import grid_and_stopping

    runs = [
        grid_and_stopping(
            seed,
            evidence.given("learning_rates"),
            evidence.given("trees"),
            evidence.given("depths"),
            evidence.given("patience"),
        )
        for seed in range(evidence.given("seeds"))
    ]
    trees = [float(np.mean([run[f"{arm}_trees"] for run in runs])) for arm in ("grid", "stopped")]
    evidence.settings(trees_of_the_grid=trees[0], trees_stopped=trees[1])
    evidence.equivalent([run["stopped_loss"] / run["grid_loss"] for run in runs], 1.0)
