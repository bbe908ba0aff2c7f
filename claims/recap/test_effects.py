"""How large the effects of the six posts are, beside one another and beside what repeats differ by."""

import numpy as np

from runtwice import claim


@claim(
    "recap.gap-below-seed-spread",
    expect="refuted",
    because="four gaps of six lie outside: stack 7, average 32, blend 84 and six parameters 2.5 standard deviations",
)
def test_each_gap_against_its_own_noise(evidence, votes, first_rows, sweep):
    """Every comparison's gap over data sets against the spread of one of its arms over seeds, within data sets."""
    from claims.experiments import blend_draws, method_gaps

    sets, groups, seeds = (evidence.given(name) for name in ("data_sets", "groups", "seeds"))
    gaps = sweep(method_gaps.stacking_gaps, range(sets))
    repeats = [row[:seeds] for row in sweep(method_gaps.stacking_repeats, range(groups))]
    for label, arm in (("stack against best member", "stack"), ("best member against average", "average")):
        own = [[one[arm] for one in row] for row in repeats]
        evidence.smaller_than_noise([one[label] for one in gaps], own, label=label)
    conditions = ("search_seeds", "real_seeds", "trials", "tpe_trials")
    for label, gap in first_rows(*(evidence.given(name) for name in conditions)).items():
        evidence.smaller_than_noise(gap.effects, gap.repeats, label=label)
    found = [blend_draws.losses_by_draw(one, 1800, evidence.given("draws")) for one in votes(sets)]
    evidence.smaller_than_noise(
        [one.average - np.mean(one.blends) for one in found],
        [one.blends for one in found],
        label="blend of twelve against their average",
    )


@claim(
    "recap.two-large-effects-procedural",
    expect="refuted",
    because="averaging costs 0.061 of R2, the leak 0.054; averaging 0.075 of log loss, the thin holdout hides 0.062",
)
def test_faults_of_procedure_against_choices_of_method(evidence, stacks, blends):
    """The leak's cost against the average's, and the thin holdout's optimism against the average's cost, in pairs."""
    from claims.experiments import blend_draws
    from claims.experiments import regression_members as regression

    rows = evidence.given("rows")
    post = regression.post_columns(rows, evidence.given("trees"), evidence.given("seed"))
    weights = dict(zip(post.names, regression.leaked(post).weights))
    thin_row = blend_draws.post_row(4, 40)
    evidence.figure("leak_weight_on_forest", weights["forest"])
    evidence.figure("blend_claim_logloss", thin_row.holdout)
    evidence.figure("blend_real_logloss", thin_row.test)
    sets, draws = evidence.given("data_sets"), evidence.given("draws")
    found = stacks(rows, sets)
    leak = [regression.clean(one).score - regression.leaked(one).score for one in found]
    averaging = [one.scores.max() - regression.average(one) for one in found]
    evidence.above(leak, averaging, paired=True, label="leak against averaging")
    thin, fat = blends(sets, 4, 40, draws), blends(sets, 12, 1800, draws)
    evidence.above(
        [one.optimism for one in thin],
        [one.average - one.test for one in fat],
        paired=True,
        label="thin holdout against averaging",
    )


@claim(
    "recap.only-method-with-growing-edge",
    expect="refuted",
    because="the blend's lead grows with its rows as well, from -0.008 on 40 rows to 0.041 on 1,800 with four weights",
)
def test_the_blends_lead_by_rows(evidence, blends):
    """The lead of a blend over the plain average at seven holdout sizes, one curve a data set."""
    from claims.experiments import blend_draws

    for members in (4, 12):
        columns = [
            blends(evidence.given("data_sets"), members, size, evidence.given("draws")) for size in blend_draws.SIZES
        ]
        lead = np.array([[one.average - one.test for one in column] for column in columns]).T
        evidence.trend(lead, "falls", label=f"{members} weights")


@claim(
    "recap.blend-only-holdout-changed",
    expect="refuted",
    because="0.2055 is the figure of twelve members, 0.1492 and 0.2576 are those of four",
)
def test_which_row_of_the_table_each_figure_is(evidence):
    """The six rows of the sweep measured again, and the number of members in the rows that the figures come from."""
    from claims.experiments import blend_draws, vote_members, vote_outcomes

    rows = {(k, n): blend_draws.post_row(k, int(n)) for k in (4, 12) for n in evidence.given("sizes")}
    good = min(rows, key=lambda row: rows[row].test)
    thin = min(rows, key=lambda row: rows[row].holdout)
    evidence.figure("good_blend_logloss", rows[good].test)
    evidence.figure("rows_per_weight", good[1] // good[0])
    evidence.figure("thin_rows", int(thin[1]))
    evidence.figure("claimed", rows[thin].holdout)
    evidence.figure("delivered", rows[thin].test)
    evidence.figure("average", vote_outcomes.votes(vote_members.said().only(4)).soft_loss)
    evidence.identical(good[0], thin[0], label="members")


@claim("recap.leak-worse-than-useless")
def test_the_leaked_stack_against_no_stack(evidence, stacks):
    """Test R2 of the best member against the leaked stack, one pair a data set, in both set-ups."""
    from claims.experiments import regression_members as regression

    post = regression.post_columns(evidence.given("rows"), evidence.given("trees"), evidence.given("seed"))
    weights = dict(zip(post.names, regression.leaked(post).weights))
    evidence.figure("leak_weight_forest", weights["forest"])
    evidence.figure("leak_weight_booster", weights["boosting"])
    for rows, number in ((3000, evidence.given("data_sets")), (2000, evidence.given("smaller_data_sets"))):
        found = stacks(rows, number)
        leaked = [regression.leaked(one).score for one in found]
        evidence.above([one.scores.max() for one in found], leaked, paired=True, label=f"{rows} rows")
