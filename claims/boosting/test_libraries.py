"""XGBoost beside LightGBM."""

import numpy as np

from runtwice import claim


@claim("boosting.library-tie")
def test_the_libraries_tie(evidence, searches):
    """Test AUC of the best of fifteen trials, XGBoost's and LightGBM's, a pair a data set."""
    from claims.experiments.library_searches import chosen

    runs, trials = searches(evidence.given("seeds")), int(evidence.given("trials"))
    best = {library: [chosen(one[library], trials) for one in runs] for library in ("xgboost", "lightgbm")}
    evidence.figure("auc_xgboost", np.mean(best["xgboost"]))
    evidence.figure("auc_lightgbm", np.mean(best["lightgbm"]))
    spread = [np.std(one[f"{library} again"], ddof=1) for one in runs for library in ("xgboost", "lightgbm")]
    evidence.settings(deviation_of_one_library_over_its_seeds=float(np.mean(spread)))
    evidence.equivalent(best["xgboost"], best["lightgbm"])


@claim("boosting.library-gap")
def test_the_gap_is_two_ten_thousandths(evidence):
    """Difference of the two printed areas."""
    xgboost, lightgbm = evidence.printed("auc_xgboost"), evidence.printed("auc_lightgbm")
    evidence.derived("gap_auc", lambda a, b: a - b, xgboost, lightgbm)


@claim("boosting.recipe")
def test_repairing_the_data_gains_more_than_a_search(evidence, sweep):
    """Test loss gained by repairing damaged data under the plain recipe, above what a search gains on it."""
    from claims.experiments import repairs

    runs = sweep(repairs.repair_and_search, range(evidence.given("seeds")))
    for damage in evidence.given("damages"):
        repaired, searched = ([one[damage][what] for one in runs] for what in ("repair", "search"))
        evidence.above(repaired, searched, paired=True, label=str(damage))


@claim("boosting.benchmark-without-bars")
def test_the_printed_gaps_exceed_their_noise(
    evidence, bin_losses, growth_losses, searches, encoding_losses, order_losses, flip_costs
):
    """Printed gaps smaller than two standard deviations of the same difference over our data sets."""
    from claims.experiments.library_searches import chosen

    seeds = 12
    differences = {
        "bins": [one["clusters"]["15"] - one["clusters"]["1023"] for one in bin_losses(seeds)],
        "growth": [np.subtract(*one["clusters, 100 trees"].values()) for one in growth_losses(seeds)],
        "library": [chosen(one["xgboost"], 15) - chosen(one["lightgbm"], 15) for one in searches(seeds)],
        "encoding": [one["out of fold"]["test"] - one["drop"]["test"] for one in encoding_losses(seeds)],
        "order": [one["first"][199] - one["second"][49] for one in order_losses(seeds)],
        "flips": [one["boosting 100"] - one["bagging"] for one in flip_costs(seeds)],
    }
    deviations = {name: float(np.std(values, ddof=1)) for name, values in differences.items()}
    evidence.settings(**deviations)
    gaps = evidence.given("gaps")
    evidence.figure("pairs_inside_two_deviations", sum(gaps[name] < 2 * deviations[name] for name in deviations))
