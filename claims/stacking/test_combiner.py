"""What combines the members, and what useless members cost it."""

from runtwice import claim


def _setup(evidence, post_columns):
    return post_columns(evidence.given("rows"), evidence.given("trees"), evidence.given("seed"))


@claim("stacking.linear-meta-best")
def test_linear_against_forest_and_booster(evidence, post_columns, smaller_stacks):
    """Test R2 of a ridge combiner against a shallow forest and a booster, one pair a data set."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    post = _setup(evidence, post_columns)
    found = smaller_stacks(evidence.given("smaller_data_sets"))
    ridge = [stacks.clean(one).score for one in found]
    evidence.figure("ridge", stacks.clean(post).score)
    for name in ("forest", "boosting"):
        combiner = combiners.COMBINERS[name]
        evidence.figure(name, stacks.clean(post, combiner).score)
        evidence.above(ridge, [stacks.clean(one, combiner).score for one in found], paired=True, label=name)


@claim("stacking.ridge-ties-linear")
def test_ridge_and_least_squares(evidence, post_columns):
    """Test R2 and predictions of both combiners on one out-of-fold matrix."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    scores = {name: stacks.clean(found, combiners.COMBINERS[name]).score for name in ("ridge", "linear")}
    for name, score in scores.items():
        evidence.figure(name, score)
    evidence.identical(scores["ridge"], scores["linear"])


@claim("stacking.constant-base-free")
def test_a_constant_member_changes_nothing(evidence, post_columns):
    """Predictions with and without a column that holds the mean of the training targets."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    added = combiners.with_constant(found)
    evidence.figure("before", stacks.clean(found).score)
    evidence.figure("after", stacks.clean(added).score)
    evidence.identical(stacks.predictions(added), stacks.predictions(found), label="predictions")


@claim("stacking.noise-base-nearly-free")
def test_noise_members_cost_little(evidence, post_columns):
    """Test R2 with one noise column, for many draws of it, against test R2 without."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    cost = combiners.noise_cost_of_the_post(found)
    evidence.figure("before", stacks.clean(found).score)
    evidence.figure("after", stacks.clean(found).score - cost)
    evidence.figure("cost", cost)
    evidence.equivalent(combiners.noise_cost(found, evidence.given("noise_columns")), 0.0)
