"""What the post's printed figures say of one another: arithmetic, no model."""

import numpy as np

from runtwice import claim

TABLE = "draft.bracket-table"
BRACKETS = ("Herald", "Guardian", "Crusader", "Archon", "Legend", "Ancient", "Divine")


def table_of(evidence):
    """The printed accuracies and matches."""
    return evidence.printed("accuracy_pct", of=TABLE), evidence.printed("matches", of=TABLE)


def low_and_top(counts, accuracies, matches):
    """Accuracy and matches of Herald to Archon together, and of Divine."""
    return counts.pooled_pct(accuracies[:4], matches[:4]), sum(matches[:4]), accuracies[6], matches[6]


@claim("draft.old-gap")
def test_the_early_gap(evidence):
    """The two early accuracies subtracted."""
    low, high = evidence.printed("low_pct"), evidence.printed("high_pct")
    evidence.derived("gap_points", lambda low, high: low - high, low, high)


@claim("draft.bracket-spread")
def test_the_range_over_brackets(evidence, counts):
    """Largest less smallest of the printed accuracies, beside the range that chance alone would give."""
    accuracies, matches = table_of(evidence)
    evidence.derived("spread_points", lambda values: max(values) - min(values), accuracies)
    quantile = float(evidence.given("quantile"))
    evidence.figure("range_by_chance_points", counts.range_by_chance(accuracies, matches, quantile))


@claim("draft.direction-survived")
def test_low_brackets_against_divine(evidence, counts):
    """Herald to Archon together against Divine, in standard errors of the printed counts."""
    accuracies, matches = table_of(evidence)
    level = float(evidence.given("z"))

    def called(accuracies, matches):
        z = counts.z_between(*low_and_top(counts, accuracies, matches))
        return "low brackets" if z > level else "high brackets" if z < -level else "neither"

    evidence.derived("called_more_often", called, accuracies, matches)
    low, n_low, top, n_top = low_and_top(counts, accuracies, matches)
    evidence.figure("gap_points", low - top)
    evidence.figure("z", counts.z_between(low, n_low, top, n_top))


@claim(
    "draft.high-ranks-predictable",
    expect="refuted",
    because="fitted to itself, Divine is still 0.74 points (6.8 standard errors) below Herald to Archon",
)
def test_divine_at_its_own_prices(evidence, counts):
    """Divine fitted within itself against Herald to Archon, in standard errors of the printed counts."""
    accuracies, matches = (evidence.printed(name, of=TABLE) for name in ("accuracy_pct", "matches"))
    level = float(evidence.given("z"))

    def divine(accuracies, matches):
        z = counts.z_between(*low_and_top(counts, accuracies, matches))
        return "less predictable" if z > level else "as predictable"

    evidence.derived("divine", divine, accuracies, matches)
    low, _, top, _ = low_and_top(counts, accuracies, matches)
    evidence.figure("shortfall_points", low - top)


@claim("draft.peak-guardian")
def test_the_highest_of_the_seven(evidence, counts):
    """The bracket with the highest printed accuracy, and how far ahead of Herald it is in standard errors."""
    accuracies, matches = table_of(evidence)
    evidence.derived("peak", lambda values: BRACKETS[int(np.argmax(values))], accuracies)
    z = counts.z_between(accuracies[1], matches[1], accuracies[0], matches[0])
    evidence.figure("z_over_herald", z)
    evidence.figure("chance_among_seven_pct", 100 * (1 - (1 - 2 * counts.chance_of(z) / 100) ** len(BRACKETS)))


@claim("draft.guardian-third-of-point")
def test_the_lead_of_guardian(evidence):
    """Guardian less Herald, in thirds of a point."""
    accuracies, _ = table_of(evidence)
    evidence.derived("thirds", lambda values: 3 * (values[1] - values[0]), accuracies)
    evidence.figure("lead_points", accuracies[1] - accuracies[0])


@claim(
    "draft.curve-up-down",
    expect="refuted",
    because="a series that never rises looks as much like a rise in 6.1% of draws of the printed counts",
)
def test_a_rise_before_the_fall(evidence, counts):
    """How often a series that never rises would look as much like a rise as the printed one."""
    accuracies, matches = table_of(evidence)
    level = float(evidence.given("level_pct"))

    def shape(values, matches):
        return "up, then down" if counts.chance_of_a_rise(values, matches) < level else "down, within noise"

    evidence.derived("shape", shape, accuracies, matches)
    evidence.figure("chance_under_a_fall_pct", counts.chance_of_a_rise(accuracies, matches))


@claim("draft.divine-not-worst")
def test_divine_against_ancient(evidence, counts):
    """Their difference in standard errors of the printed counts."""
    accuracies, matches = table_of(evidence)
    level = float(evidence.given("z"))

    def order(values, matches):
        z = counts.z_between(values[6], matches[6], values[5], matches[5])
        return "level" if abs(z) < level else "apart"

    evidence.derived("order", order, accuracies, matches)
    evidence.figure("lead_points", accuracies[6] - accuracies[5])
    evidence.figure("z", counts.z_between(accuracies[6], matches[6], accuracies[5], matches[5]))


@claim("draft.archon-most-data", expect="refuted", because="Archon is the largest of seven with 22.3% of the matches")
def test_the_share_of_archon(evidence):
    """The largest bracket, its share, and whether that is more than half."""
    _, matches = table_of(evidence)
    evidence.derived("largest", lambda sizes: BRACKETS[int(np.argmax(sizes))], matches)
    evidence.derived("holds", lambda sizes: "most" if max(sizes) > sum(sizes) / 2 else "a plurality", matches)
    evidence.figure("share_pct", 100 * max(matches) / sum(matches))


@claim("draft.rank-gain")
def test_the_gain_of_the_rank(evidence):
    """The two printed accuracies subtracted."""
    plain, ranked = evidence.printed("plain_pct"), evidence.printed("ranked_pct")
    evidence.derived("gain_points", lambda plain, ranked: ranked - plain, plain, ranked)


@claim("draft.prediction-match")
def test_forecast_and_delivery(evidence):
    """Their difference against the standard error of one difference of accuracies."""
    error = float(evidence.given("standard_error_points"))

    def outcome(predicted, delivered):
        return "met" if abs(predicted - delivered) < 2 * error else "missed"

    predicted, delivered = evidence.printed("predicted_points"), evidence.printed("delivered_points")
    evidence.derived("outcome", outcome, predicted, delivered)
    evidence.figure("ratio", delivered / predicted)


@claim(
    "draft.weighted-average-mismatch",
    expect="refuted",
    because="the weighted accuracies lie 0.227 points above 56.24, and 0.237 at most within the rounding",
)
def test_the_forecast_from_the_table(evidence):
    """Accuracies of the table weighted by their matches, less the pooled accuracy of the models' table."""
    accuracies, matches = table_of(evidence)
    evidence.derived(
        "predicted_points",
        lambda values, sizes, bag: float(np.average(values, weights=sizes)) - bag,
        accuracies,
        matches,
        evidence.printed("bag_pct"),
    )


@claim("draft.table-is-validation")
def test_the_table_repeats_the_log(evidence):
    """The log loss of the table against the validation log loss of the last epoch."""
    evidence.derived("ranked_log_loss", lambda logged: logged, evidence.printed("epoch_8_log_loss"))


@claim("draft.eight-epochs-minutes")
def test_minutes_of_eight_epochs(evidence):
    """Seconds of an epoch times eight."""
    seconds, epochs = evidence.printed("epoch_s"), evidence.printed("epochs")
    evidence.derived("tens_of_minutes", lambda s, n: s * n / 600, seconds, epochs)
    evidence.derived("minutes", lambda s, n: s * n / 60, seconds, epochs)


@claim("draft.hours-per-trial")
def test_hours_of_a_trial(evidence):
    """Seconds of an epoch times 24."""
    evidence.derived("hours", lambda s, n: s * n / 3600, evidence.printed("epoch_s"), evidence.printed("epochs"))


def _search_s(evidence):
    return [evidence.printed(name) for name in ("epoch_s", "epochs", "trials")]


@claim("draft.thirty-trials-hours")
def test_hours_of_the_search(evidence):
    """Thirty trials of 24 epochs."""
    evidence.derived("hours", lambda *factors: float(np.prod(factors)) / 3600, *_search_s(evidence))


@claim("draft.search-days-before")
def test_days_of_the_search(evidence):
    """Thirty trials of 24 epochs, in halves of a day."""
    evidence.derived("half_days", lambda *factors: float(np.prod(factors)) / 43_200, *_search_s(evidence))
