"""XGBoost or LightGBM: time and what more search buys."""

import numpy as np

from runtwice import Arm, claim

EXPERIMENT = "claims.experiments.booster_timings"


def arm(call, setup, library, evidence):
    """One library's call at the claim's sizes."""
    size = {name: int(evidence.given(name)) for name in ("rows", "trees", "leaves")}
    return Arm(f"{EXPERIMENT}:{call}", setup=f"{EXPERIMENT}:{setup}", settings={"library": library, **size})


@claim("tuning.lgbm-fit-speed")
def test_lightgbm_fits_faster(evidence):
    """XGBoost's time of a fit over LightGBM's, at equal trees and leaves, in fresh interleaved processes."""
    slow, fast = (arm("fit", "rows_for", library, evidence) for library in ("xgboost", "lightgbm"))
    evidence.ratio(slow=slow, fast=fast)


@claim("tuning.xgb-predict-speed")
def test_xgboost_predicts_faster(evidence):
    """LightGBM's time to score a matrix over XGBoost's, at equal trees and leaves, in fresh interleaved processes."""
    slow, fast = (arm("predict", "model_for", library, evidence) for library in ("lightgbm", "xgboost"))
    evidence.ratio(slow=slow, fast=fast)


@claim("tuning.library-table")
def test_times_of_both_libraries(evidence):
    """Seconds of fifteen fits, of one fit, and of scoring 10,000 rows, for each library."""
    from claims.experiments import booster_timings as timings

    for library in ("xgboost", "lightgbm"):
        rows = timings.rows_for(library, 20_000, 100, 31)
        fits = [timings.seconds(timings.fit, *rows) for _ in range(5)]
        model = timings.model_for(library, 10_000, 100, 31)
        scored = [timings.seconds(timings.predict, *model) for _ in range(9)]
        evidence.recorded(f"{library}: fit", fits, unit="s", group="fit")
        evidence.recorded(f"{library}: score", [1e3 * one for one in scored], unit="ms", group="score")
        evidence.figure(f"{library}_tune_s", 15 * float(np.median(fits)))
        evidence.figure(f"{library}_refit_s", float(np.median(fits)))
        evidence.figure(f"{library}_predict_ms", 1e3 * float(np.median(scored)))


@claim("tuning.candidates-figures")
def test_lightgbm_tries_more_in_equal_time(evidence):
    """Settings tried by LightGBM in equal processor time above XGBoost's, by turns, and the scores found."""
    from claims.experiments.booster_timings import candidates

    budget, libraries = float(evidence.given("budget_s")), ("lightgbm", "xgboost")
    runs = {library: [] for library in libraries}
    for seed in range(evidence.given("seeds")):
        for library in libraries if seed % 2 else reversed(libraries):
            runs[library].append(candidates(library, seed, budget))
    for library, found in runs.items():
        evidence.figure(f"{library}_candidates", np.mean([count for count, _ in found]))
        evidence.figure(f"score_{library}", np.mean([score for _, score in found]))
    tried = {library: [count for count, _ in found] for library, found in runs.items()}
    evidence.above(tried["lightgbm"], tried["xgboost"], paired=True)


@claim("tuning.extra-search-nothing")
def test_more_trials_gain_nothing(evidence, searches):
    """Test AUC gained by LightGBM's trials after the 37th, beside one setting under other seeds of the library."""
    from claims.experiments.library_searches import chosen

    runs = searches(evidence.given("seeds"))
    fewer, more = (int(evidence.given(name)) for name in ("fewer", "more"))
    gains = [chosen(one["lightgbm"], more) - chosen(one["lightgbm"], fewer) for one in runs]
    evidence.figure("score_lightgbm", np.mean([chosen(one["lightgbm"], more) for one in runs]))
    evidence.figure("score_xgboost", np.mean([chosen(one["xgboost"], fewer) for one in runs]))
    evidence.smaller_than_noise(gains, [one["lightgbm again"] for one in runs])
