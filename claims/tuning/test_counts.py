"""The number of trees: a matter of smoothness when bagged, of capacity when boosted."""

import numpy as np

from runtwice import claim


@claim("tuning.lr-trees-peaks")
def test_early_stopped_counts(evidence, sweep):
    """Early-stopped number of trees by falling rate, a curve a data set."""
    from claims.experiments import learning_rates

    rates = evidence.given("learning_rates")
    runs = sweep(learning_rates.rate_curves, range(evidence.given("seeds")))
    counts = np.array([[one[str(rate)]["best"] for rate in rates] for one in runs])
    for rate, column in zip(rates, counts.T):
        evidence.figure(f"trees_lr_{rate}", np.median(column))
    evidence.trend(counts, "rises")


@claim("tuning.trees-table")
def test_errors_by_number_of_trees(evidence, long_runs):
    """Mean test error after 10, 100 and 3,000 trees, bagged and boosted, and the boosted optimum."""
    for model in ("bagging", "boosting"):
        tests = [one["test"] for one in long_runs(model, evidence.given("seeds"))]
        for count in (10, 100, 3000):
            evidence.figure(f"{model}_{count}", np.mean([test[count - 1] for test in tests]))
    evidence.figure("boosting_best_trees", np.median([np.argmin(test) + 1 for test in tests]))
    evidence.figure("boosting_best", np.mean([min(test) for test in tests]))


@claim("tuning.bagging-monotone-trees")
def test_more_bagged_trees_are_better(evidence, long_runs):
    """Test error of a bag by number of trees, a curve a data set."""
    runs = long_runs("bagging", evidence.given("seeds"))
    evidence.trend([[one["test"][count - 1] for count in evidence.given("trees")] for one in runs], "falls")


@claim("tuning.trees-role")
def test_training_error_by_number_of_trees(evidence):
    """Training error by number of trees: boosting's falls, bagging's stays, a curve a data set."""
    from claims.experiments.noise_levels import training_errors

    counts = [int(count) for count in evidence.given("trees")]
    runs = [training_errors(seed, counts) for seed in range(evidence.given("seeds"))]
    evidence.trend([one["boosting"] for one in runs], "falls", label="boosting")
    evidence.trend([one["bagging"] for one in runs], "constant", slack=float(evidence.given("slack")), label="bagging")


@claim("tuning.early-stopping-only-boosting")
def test_stopping_helps_boosting_alone(evidence, long_runs):
    """Boosting: the error of 3,000 trees above that where validation stops. Bagging: stopping gains less than 1%."""
    seeds, worth = evidence.given("seeds"), float(evidence.given("worth"))
    stopped, full, best = {}, {}, []
    for model in ("boosting", "bagging"):
        runs = long_runs(model, seeds)
        counts = [int(np.argmin(one["valid"])) for one in runs]
        stopped[model] = [one["test"][count] for one, count in zip(runs, counts)]
        full[model] = [one["test"][-1] for one in runs]
        best = best or [count + 1 for count in counts]
    evidence.figure("mse_long", np.mean(full["boosting"]))
    evidence.figure("mse_best", np.mean(stopped["boosting"]))
    evidence.figure("best_trees", np.median(best))
    evidence.above(full["boosting"], stopped["boosting"], paired=True, label="boosting")
    evidence.above(np.multiply(1 + worth, stopped["bagging"]), full["bagging"], paired=True, label="bagging")


@claim(
    "tuning.bagging-wins-noisy",
    expect="within noise",
    because="at a noise of 7 the two errors are equal, 58.7 and 58.6",
)
def test_bagging_wins_where_it_is_noisy(evidence, sweep):
    """Bagging's error over boosting's on the clean surface, and boosting's over bagging's on the noisy one, above 1."""
    from claims.experiments import noise_levels

    runs = sweep(noise_levels.errors_by_noise, range(evidence.given("seeds")))
    errors = {
        (model, level): [one[str(float(evidence.given(level)))][model] for one in runs]
        for model in ("bagging", "boosting")
        for level in ("clean", "noisy")
    }
    for (model, level), values in errors.items():
        evidence.figure(f"{model}_best_{level}", np.mean(values))
    for noise in noise_levels.NOISES:
        over = np.divide(*([one[str(noise)][model] for one in runs] for model in ("boosting", "bagging")))
        evidence.settings(**{f"boosting over bagging at noise {noise:g}": float(over.mean())})
    for level, worse, better in (("clean", "bagging", "boosting"), ("noisy", "boosting", "bagging")):
        evidence.above(np.divide(errors[worse, level], errors[better, level]), 1.0, label=level)


@claim("tuning.forest-500")
def test_five_hundred_trees_do_no_harm(evidence, sweep):
    """Error of a forest by number of trees up to 500, a curve a data set."""
    from claims.experiments import forests

    runs = sweep(forests.forest_errors, range(evidence.given("seeds")))
    wanted = [forests.COUNTS.index(int(count)) for count in evidence.given("fewer")]
    last = forests.COUNTS.index(int(evidence.given("trees")))
    for name in runs[0]:
        evidence.trend([[one[name][i] for i in (*wanted, last)] for one in runs], "falls", label=name)
