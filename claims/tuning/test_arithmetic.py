"""What the sheet's printed figures say of one another."""

from runtwice import claim


@claim("tuning.lr-trees-products")
def test_rate_times_count(evidence):
    """Rates times printed tree counts."""
    rates = [float(rate) for rate in evidence.given("learning_rates")]
    counts = evidence.printed("trees")
    evidence.derived("products", lambda counts: [rate * count for rate, count in zip(rates, counts)], counts)


@claim("tuning.lr-tenfold")
def test_the_rates_span_ten(evidence):
    """Largest over smallest rate."""
    evidence.derived("factor", lambda rates: max(rates) / min(rates), evidence.printed("learning_rates"))


@claim("tuning.boosting-third-worse")
def test_a_third_worse(evidence):
    """Excess of the long error over the best, in thirds of the best."""
    long, best = evidence.printed("mse_long"), evidence.printed("mse_best")
    evidence.derived("thirds_worse", lambda long, best: 3 * (long / best - 1), long, best)


@claim("tuning.two-datasets")
def test_the_tables_lie_a_factor_apart(evidence):
    """Bagging with a hundred trees in the one table over the same in the other."""
    ours, theirs = evidence.printed("bagging_100_trees_table"), evidence.printed("bagging_100_depth_table")
    evidence.derived("factor", lambda a, b: a / b, ours, theirs)


@claim("tuning.more-search-did-help")
def test_search_gained_more_than_the_libraries_differ(evidence):
    """What the longer search gained each library, over the gap between them after fifteen trials."""
    names = ("xgboost_15", "xgboost_30s", "lightgbm_15", "lightgbm_30s")
    scores = [evidence.printed(name) for name in names]

    def gains(x15, x30, l15, l30):
        return [round((late - early) / (x15 - l15)) for early, late in ((x15, x30), (l15, l30))]

    evidence.derived("gains_over_gap", gains, *scores)


@claim("tuning.candidates-vs-speed")
def test_pace_of_the_trials_against_candidates(evidence):
    """Candidates that the time of fifteen trials would allow in thirty seconds."""
    seconds, trials = float(evidence.given("seconds")), evidence.printed("trials")
    for library in ("xgboost", "lightgbm"):
        took = evidence.printed(f"{library}_tune_s")
        evidence.derived(f"{library}_candidates_expected", lambda trials, took: seconds * trials / took, trials, took)
        evidence.settings(**{f"{library}_tried": float(evidence.printed(f"{library}_candidates"))})
