"""The post's tables, measured with its members on its data."""

from runtwice import claim


def _setup(evidence, post_columns):
    return post_columns(evidence.given("rows"), evidence.given("trees"), evidence.given("seed"))


@claim("stacking.base-table")
def test_members_alone(evidence, post_columns):
    """Each member fitted to 2,100 rows and scored on 900."""
    found = _setup(evidence, post_columns)
    for name, score in zip(found.names, found.scores):
        evidence.figure(name, score)


@claim("stacking.stack-table")
def test_average_and_stacks(evidence, post_columns):
    """Mean of the members, and one RidgeCV fitted to out-of-fold and one to in-fold columns."""
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    evidence.figure("average", stacks.average(found))
    evidence.figure("oof", stacks.clean(found).score)
    evidence.figure("leak", stacks.leaked(found).score)


@claim("stacking.weights-table")
def test_weights_of_both_combiners(evidence, post_columns):
    """Coefficients of the two RidgeCV, in the order of the members."""
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    evidence.figure("oof", stacks.clean(found).weights)
    evidence.figure("in_fold", stacks.leaked(found).weights)


@claim("stacking.meta-table")
def test_four_combiners(evidence, post_columns):
    """Four combiners fitted to one out-of-fold matrix of 1,400 rows and scored on the same test columns."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    found = _setup(evidence, post_columns)
    for name, combiner in combiners.COMBINERS.items():
        evidence.figure(name, stacks.clean(found, combiner).score)
