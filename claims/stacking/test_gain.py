"""What a clean stack adds to its best member, when, and with which members."""

import numpy as np

from runtwice import claim


def _setup(evidence, post_columns):
    return post_columns(evidence.given("rows"), evidence.given("trees"), evidence.given("seed"))


@claim("stacking.oof-beats-best-single")
def test_the_stack_against_its_best_member(evidence, post_columns, larger_stacks):
    """Test R2 of the stack and of the member that is best on the same test rows, one pair a data set."""
    from claims.experiments import regression_members as stacks

    post = _setup(evidence, post_columns)
    evidence.figure("stack", stacks.clean(post).score)
    evidence.figure("best", post.scores.max())
    evidence.figure("gain", stacks.clean(post).score - post.scores.max())
    found = larger_stacks(evidence.given("data_sets"))
    evidence.above([stacks.clean(one).score for one in found], [one.scores.max() for one in found], paired=True)


@claim("stacking.average-loses")
def test_the_average_against_the_best_member(evidence, post_columns, larger_stacks):
    """Test R2 of the best member and of the mean of the four, one pair a data set."""
    from claims.experiments import regression_members as stacks

    post = _setup(evidence, post_columns)
    evidence.figure("average", stacks.average(post))
    evidence.figure("best", post.scores.max())
    found = larger_stacks(evidence.given("data_sets"))
    evidence.above([one.scores.max() for one in found], [stacks.average(one) for one in found], paired=True)


@claim("stacking.oof-finds-booster")
def test_the_clean_combiner_finds_the_best_member(evidence, post_columns, larger_stacks):
    """The best member's weight against the largest of the others, and the size of those against a bound."""
    from claims.experiments import regression_members as stacks

    for name, weight in zip(stacks.NAMES, stacks.clean(_setup(evidence, post_columns)).weights):
        evidence.figure(f"{name}_oof", weight)
    found = larger_stacks(evidence.given("data_sets"))
    weights = [dict(zip(one.names, stacks.clean(one).weights)) for one in found]
    best = [own.pop(one.best) for one, own in zip(found, weights)]
    others = np.array([max(abs(weight) for weight in own.values()) for own in weights])
    evidence.above(best, others, paired=True, label="best member against the others")
    evidence.above(evidence.given("small") - others, 0.0, label="the others below the bound")


@claim("stacking.negative-weights")
def test_negative_weights_pay(evidence, post_columns, larger_stacks):
    """Signs of the weights over data sets; and free against non-negative weights where members share an error."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    for name, weight in zip(stacks.NAMES, stacks.clean(_setup(evidence, post_columns)).weights):
        if name in ("ridge", "forest"):
            evidence.figure(f"{name}_oof", weight)
    weights = np.array([stacks.clean(one).weights for one in larger_stacks(evidence.given("data_sets"))])
    for name in ("ridge", "forest"):
        evidence.above(-weights[:, stacks.NAMES.index(name)], 0.0, label=f"how far below 0 the weight of {name} is")
    bound, free = zip(*(combiners.shared_bias(seed) for seed in range(evidence.given("simulations"))))
    evidence.above(free, bound, paired=True, label="a free combiner against a non-negative one, with a shared error")


@claim("stacking.bases-must-disagree")
def test_copies_of_one_model_add_nothing(evidence, post_columns):
    """What a stack of four copies of each member adds to that member, and what four families add to the best."""
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    least = evidence.given("gain")
    families = stacks.clean(found).score - found.scores.max()
    for name in found.names:
        one = found.only(name)
        copies = one.beside(one).beside(one.beside(one))
        evidence.procedure(
            wrong=stacks.clean(copies).score - stacks.clean(one).score,
            right=families,
            correct=lambda gain: gain >= least,
            label=f"four of {name}",
        )


@claim("stacking.decorrelated-errors-help")
def test_families_against_variants(evidence, sweep):
    """What stacking adds to the best member, for four families and for four boosters on the same rows."""
    from claims.experiments import stack_variants

    found = sweep(stack_variants.family_gains, range(evidence.given("data_sets")))
    evidence.above(
        [one["families"]["gain"] for one in found],
        [one["variants"]["gain"] for one in found],
        paired=True,
        label="gain",
    )
    evidence.above(
        [one["variants"]["correlation"] for one in found],
        [one["families"]["correlation"] for one in found],
        paired=True,
        label="correlation of errors",
    )


@claim("stacking.columns-highly-correlated")
def test_the_combiners_columns_are_alike(evidence, smaller_stacks):
    """The smallest correlation of two out-of-fold columns, a data set each."""
    found = smaller_stacks(evidence.given("smaller_data_sets"))
    evidence.figure("columns", found[0].oof.shape[1])
    lowest = [np.corrcoef(one.oof.T).min() for one in found]
    evidence.above(lowest, evidence.given("strong"))


@claim(
    "stacking.different-failure-modes",
    expect="refuted",
    because="the errors of the most alike pair correlate by 0.73, 95% interval 0.72 to 0.74, over 12 data sets",
)
def test_errors_of_different_members_differ(evidence, larger_stacks):
    """The largest correlation of two members' out-of-fold errors, counted from the noise-free target."""
    from claims.experiments import regression_members as stacks

    rows = evidence.given("rows")
    found = larger_stacks(evidence.given("data_sets"))
    highest = np.array([stacks.error_correlation(one, stacks.noise_free(rows, i)).max() for i, one in enumerate(found)])
    evidence.above(evidence.given("alike") - highest, 0.0)


@claim("stacking.sizes-not-comparable")
def test_the_two_set_ups_score_differently(evidence, larger_stacks, smaller_stacks):
    """Test R2 of the clean stack in the first and in the second set-up, over other data sets."""
    from claims.experiments import regression_members as stacks

    first, second = larger_stacks(evidence.given("data_sets")), smaller_stacks(evidence.given("smaller_data_sets"))
    evidence.above([stacks.clean(one).score for one in first], [stacks.clean(one).score for one in second])


@claim(
    "stacking.small-n-hurts",
    expect="refuted",
    because="the gain falls as rows are added: Kendall's tau is -0.57 over 12 data sets, 95% interval -0.87 to -0.25",
)
def test_the_gain_by_number_of_rows(evidence, sweep):
    """Stack minus best member at 60 to 1,000 training rows, one curve a data set, all scored on 2,000 rows."""
    from claims.experiments import stack_variants

    evidence.trend(sweep(stack_variants.gain_by_rows, range(evidence.given("data_sets"))), "rises")


@claim(
    "stacking.five-folds",
    expect="undecided",
    because="10 folds lead by 0.0015 (90%: 0.0004 to 0.0026), 20 by 0.0019 (0.0007 to 0.0031), over 10 data sets",
)
def test_other_numbers_of_folds(evidence, sweep):
    """Test R2 of the stack with five folds against 3, 10 and 20, one pair a data set."""
    from claims.experiments import stack_variants

    curves = np.array(sweep(stack_variants.score_by_folds, range(evidence.given("data_sets"))))
    by_folds = dict(zip(stack_variants.FOLDS, curves.T))
    evidence.keep("two folds", by_folds.pop(2))
    standard = by_folds.pop(evidence.given("folds"))
    for folds, scores in by_folds.items():
        evidence.equivalent(standard, scores, label=f"{folds} folds")
