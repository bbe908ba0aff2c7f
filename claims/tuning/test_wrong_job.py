"""When the data need the work, not the knobs."""

import numpy as np

from runtwice import claim


@claim("tuning.label-noise-cost")
def test_what_turned_labels_cost(evidence, flip_costs):
    """Mean accuracy lost with 30% of the training labels turned, by bagging and by 300 boosted trees."""
    costs = flip_costs(evidence.given("seeds"))
    evidence.figure("bagging_cost", np.mean([one["bagging"] for one in costs]))
    evidence.figure("boosting_cost", np.mean([one["boosting 300"] for one in costs]))


@claim(
    "tuning.label-noise-order",
    expect="refuted",
    because="300 trees of depth 3 lose 6 points more than bagging, stumps lose 6 fewer",
)
def test_turned_labels_hurt_boosting_more(evidence, flip_costs):
    """Accuracy lost by each booster above that lost by bagging."""
    costs = flip_costs(evidence.given("seeds"))
    bagging = [one["bagging"] for one in costs]
    for booster in evidence.given("boosters"):
        evidence.above([one[str(booster)] for one in costs], bagging, paired=True, label=str(booster))


@claim("tuning.label-noise-beyond-tuning")
def test_a_search_wins_little_back(evidence, sweep):
    """Half above the share of the lost accuracy that a search wins back."""
    from claims.experiments import levers

    runs = sweep(levers.recovered_share, range(evidence.given("seeds")))
    evidence.figure("boosting_cost", np.mean([one["cost"] for one in runs]))
    evidence.above([float(evidence.given("half")) - one["share"] for one in runs], 0.0)


@claim("tuning.encoder-before-depth")
def test_the_encoder_is_worth_more_than_the_depth(evidence, sweep):
    """Loss on fresh rows with the depth chosen for the naive column, above that of the encoder repaired."""
    from claims.experiments import leaking_scores

    runs = sweep(leaking_scores.depth_or_encoder, range(evidence.given("seeds")))
    repaired = [one["repaired"] for one in runs]
    for name in ("encoded before the split", "encoded inside the folds"):
        evidence.above([one[name] for one in runs], repaired, paired=True, label=name)


@claim("tuning.leaky-score")
def test_a_leaking_score_chooses_the_leak(evidence, leaking_trials):
    """The setting chosen by the leaking score: better by that score than by the honest one, and worse on fresh rows."""
    runs = leaking_trials(evidence.given("seeds"))
    chosen = {
        score: [min(trials[: evidence.given("trials")], key=lambda one, score=score: one[score]) for trials in runs]
        for score in ("leaking", "honest")
    }
    promised = {score: [one[score] for one in chosen[score]] for score in chosen}
    fresh = {score: [one["fresh"] for one in chosen[score]] for score in chosen}
    evidence.above(promised["honest"], promised["leaking"], paired=True, label="promised")
    evidence.above(fresh["leaking"], fresh["honest"], paired=True, label="kept")


@claim("tuning.cv-holdout-gap")
def test_the_rule_flags_the_leak(evidence, leaking_trials):
    """How far the gap from fresh rows to the best setting exceeds its gain on the first, with the leak and without."""
    excess = {"leaking": [], "honest": []}
    for trials in leaking_trials(evidence.given("seeds")):
        for score, found in excess.items():
            best = min(trials[: evidence.given("trials")], key=lambda one, score=score: one[score])
            gap, gain = abs(best[score] - best["fresh"]), trials[0][score] - best[score]
            found.append(gap - gain)
    evidence.above(excess["leaking"], 0.0, label="flagged with the leak")
    evidence.above([-one for one in excess["honest"]], 0.0, label="not flagged without")
