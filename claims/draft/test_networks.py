"""The rank transformer in synthetic worlds: what the rank is worth, and whether a cheap table knows it beforehand."""

from itertools import pairwise

import numpy as np

from runtwice import claim

ARMS = ("bag", "plain", "ranked")


def last(tables, arm, score="accuracy"):
    """The score of each world's finished model."""
    return np.array([one[arm][score][-1] for one in tables])


@claim("draft.model-table")
def test_three_models(evidence, arms):
    """Mean expected accuracy and log loss of the three models over the worlds."""
    tables = arms(evidence.given("seeds"), evidence.given("slope_sd"))
    evidence.figure("accuracy_pct", [last(tables, arm).mean() for arm in ARMS])
    evidence.figure("log_loss", [last(tables, arm, "log loss").mean() for arm in ARMS])


@claim("draft.rank-gain-ordering")
def test_the_rank_pays_where_strength_drifts(evidence, networks):
    """Accuracy with the rank against accuracy without, paired by world, at each slope; and more at the steeper one."""
    from claims.experiments.draft_networks import SLOPES, gain

    found = {
        slope: [gain(one[str(slope)]) for one in networks("by_slope", evidence.given("seeds"))] for slope in SLOPES
    }
    evidence.keep("gain without drift", found[SLOPES[0]])
    for slope in SLOPES[1:]:
        evidence.above(found[slope], 0.0, label=f"slope {slope}")
    for gentle, steep in pairwise(SLOPES):
        evidence.above(found[steep], found[gentle], paired=True, label=f"{steep} against {gentle}")


@claim("draft.ahead-every-epoch")
def test_the_lead_along_the_schedule(evidence, arms):
    """The smallest lead of the network with rank over all moments but the first, world by world."""
    tables = arms(evidence.given("seeds"), evidence.given("slope_sd"))
    leads = np.array([np.subtract(one["ranked"]["accuracy"], one["plain"]["accuracy"]) for one in tables])
    evidence.keep("moments led", (leads > 0).sum(axis=1))
    evidence.figure("epochs", float((leads > 0).sum(axis=1).mean()))
    evidence.above(leads[:, 1:].min(axis=1), 0.0)


@claim("draft.population-weighted-mechanism")
def test_the_forecast_against_the_gain(evidence, networks):
    """Least-squares slope of the network's gain on the table's forecast, over drifts of several strengths, by world."""
    from claims.experiments.draft_networks import gain

    worlds = networks("by_slope", evidence.given("worlds"))
    forecasts = np.array([[one["forecast"] for one in world.values()] for world in worlds])
    delivered = np.array([[gain(one) for one in world.values()] for world in worlds])
    pairs = networks("rank_dependent_pairs", 6)
    evidence.keep("forecast", forecasts.ravel())
    evidence.keep("delivered", delivered.ravel())
    evidence.keep("delivered over forecast where pairs drift too", [one["gain"] / one["forecast"] for one in pairs])
    evidence.keep("correlation by world", [np.corrcoef(f, d)[0, 1] for f, d in zip(forecasts, delivered)])
    evidence.equivalent([np.polyfit(f, d, 1)[0] for f, d in zip(forecasts, delivered)], 1.0)


@claim("draft.no-rank-model-infers-rank")
def test_picks_that_give_the_rank_away(evidence, networks):
    """What is delivered of the forecast, as the picks follow the drift more and more, a curve a world."""
    found = networks("by_picks", evidence.given("seeds"))
    evidence.keep("how well picks tell high from low", [one["told"] for world in found for one in world.values()])
    evidence.trend([[one["gain"] / one["forecast"] for one in world.values()] for world in found], "falls")


@claim("draft.transformer-gain")
def test_what_the_network_sees_in_pairs(evidence, arms, networks):
    """Accuracy of the network without rank less the bag's, with pair terms and without, paired by world."""
    seeds = evidence.given("seeds")
    tables = arms(seeds, evidence.given("slope_sd"))
    gained = last(tables, "plain") - last(tables, "bag")
    evidence.figure("gain_points", gained.mean())
    evidence.above(gained, 0.0, label="with pairs")
    evidence.above(
        np.zeros(seeds), networks("without_pairs", seeds), paired=True, label="without pairs it does not win"
    )


@claim(
    "draft.identical-otherwise",
    expect="refuted",
    because="in one world the gain is 0.10 points on average, and twice the spread of runs without the rank is 0.21",
)
def test_the_gain_against_the_spread_of_seeds(evidence, networks):
    """The gain of each training seed in one world, against a multiple of the spread of runs without the rank."""
    runs = networks("same_world", evidence.given("seeds"))
    plain, ranked = (np.array([one[name] for one in runs]) for name in ("plain", "ranked"))
    evidence.above(ranked - plain, float(evidence.given("spreads") * plain.std(ddof=1)))


@claim("draft.last-epoch-best")
def test_the_fall_at_the_last_epoch(evidence, networks):
    """Mean fall of the log loss from the seventh to the eighth of eight epochs."""
    curves = _curves(networks, evidence, evidence.given("epochs"))
    evidence.keep("best epoch", [1 + int(np.argmin(curve)) for curve in curves])
    evidence.figure("fall", np.mean([curve[-2] - curve[-1] for curve in curves]))


def _curves(networks, evidence, epochs):
    """Log loss by epoch of every seed's schedule of this length."""
    return [one[str(epochs)] for one in networks("by_length", evidence.given("seeds"))]


@claim(
    "draft.still-falling-means-too-short",
    expect="within noise",
    because="without a layer, runs best at their last of 4 epochs gain 0.0001 [0.0000, 0.0002] by 8; with one, 0.0015",
)
def test_whether_a_longer_schedule_was_better(evidence, networks):
    """Final log loss of runs whose last epoch was their best against the next longer schedule's, paired by seed.

    Two networks: one with a layer, and one of none, which has learnt all it can after a few epochs. Lengths at which
    fewer than six runs were best at their last epoch are passed over.
    """
    experiments = {"one layer": ("by_length", "seeds"), "no layer": ("by_length_without_layers", "simple_seeds")}
    for network, (experiment, seeds) in experiments.items():
        runs = networks(experiment, evidence.given(seeds))
        for length, longer in pairwise(runs[0]):
            chosen = [one for one in runs if np.argmin(one[length]) == int(length) - 1]
            evidence.settings(**{f"{network}, best at the last of {length}": len(chosen)})
            if len(chosen) >= evidence.given("least_runs"):
                ends = np.array([(one[length][-1], one[longer][-1]) for one in chosen])
                evidence.above(ends[:, 0], ends[:, 1], paired=True, label=f"{network}, {length} epochs")


@claim(
    "draft.longer-schedule",
    expect="refuted",
    because="24 epochs end with a log loss 0.0097 [0.0085, 0.0123] above that of 8",
)
def test_eight_epochs_against_twenty_four(evidence, networks):
    """Final log loss of the shorter schedule against the longer one's, paired by seed."""
    short, long = (np.array(_curves(networks, evidence, length))[:, -1] for length in evidence.given("lengths"))
    evidence.above(short, long, paired=True)


@claim("draft.finished-drafts-only")
def test_unfinished_drafts(evidence, networks):
    """Log loss with so many known heroes: trained on whole drafts against trained on hidden ones, paired by seed."""
    found = networks("unfinished", evidence.given("seeds"))
    for known in evidence.given("known"):
        whole, hid = ([one[name][known - 2] for one in found] for name in ("whole", "hidden"))
        evidence.above(whole, hid, paired=True, label=f"{known} known")
