"""What happens to a combiner that is fitted to what members say of rows they were fitted to."""

import numpy as np

from runtwice import claim


def _setup(evidence, post_columns):
    return post_columns(evidence.given("rows"), evidence.given("trees"), evidence.given("seed"))


def _both(evidence, larger_stacks, smaller_stacks):
    return {
        "3,000 rows": larger_stacks(evidence.given("data_sets")),
        "2,000 rows": smaller_stacks(evidence.given("smaller_data_sets")),
    }


@claim("stacking.leak-collapse")
def test_the_leaked_stack_falls_behind(evidence, post_columns, larger_stacks, smaller_stacks):
    """Test R2 of clean and leaked stacks, one pair a data set, and of the best member against the leaked stack."""
    from claims.experiments import regression_members as stacks

    post = _setup(evidence, post_columns)
    evidence.figure("oof", stacks.clean(post).score)
    evidence.figure("leak", stacks.leaked(post).score)
    for label, found in _both(evidence, larger_stacks, smaller_stacks).items():
        leaked = [stacks.leaked(one).score for one in found]
        evidence.above([stacks.clean(one).score for one in found], leaked, paired=True, label=f"clean, {label}")
        evidence.above([one.scores.max() for one in found], leaked, paired=True, label=f"best member, {label}")


@claim("stacking.leak-picks-forest")
def test_the_leak_rests_on_the_forest(evidence, post_columns, larger_stacks, smaller_stacks):
    """Which member has the largest weight, leaked and clean, against the member that is best on test rows."""
    from claims.experiments import regression_members as stacks

    post = stacks.leaked(_setup(evidence, post_columns))
    for name, weight in zip(stacks.NAMES, post.weights):
        if name in ("forest", "boosting"):
            evidence.figure(f"{name}_in", weight)
    both = _both(evidence, larger_stacks, smaller_stacks)
    for which, fitted in (("clean", stacks.clean), ("leaked", stacks.leaked)):
        for name, weights in zip(stacks.NAMES, np.transpose([fitted(one).weights for one in both["3,000 rows"]])):
            evidence.keep(f"weight of {name}, {which}", weights)
    for label, found in both.items():
        for i, one in enumerate(found):
            evidence.procedure(
                wrong=stacks.NAMES[int(stacks.leaked(one).weights.argmax())],
                right=stacks.NAMES[int(stacks.clean(one).weights.argmax())],
                correct=one.best,
                label=f"{label}, data set {i}",
            )


@claim("stacking.forest-memorises")
def test_the_forest_remembers_its_rows(evidence, post_columns):
    """The forest's R2 on its own rows, and whether its out-of-bag column in place of the leaked one ends the leak.

    Taken out of bag, each training row is judged by the trees that did not draw it.
    """
    from claims.experiments import out_of_bag
    from claims.experiments import regression_members as stacks

    memory = evidence.given("memory")
    rows, trees, seed = evidence.given("rows"), evidence.given("trees"), evidence.given("seed")
    found = post_columns(rows, trees, seed)
    honest = out_of_bag.forest_column(rows, trees, seed)
    own = stacks.training_scores(found)
    evidence.procedure(
        wrong=own["forest"],
        right=stacks.r2_of(found.y_train, honest),
        correct=lambda score: score < memory,
        label="R2 on training rows",
    )
    evidence.procedure(
        wrong=stacks.NAMES[int(stacks.leaked(found).weights.argmax())],
        right=stacks.NAMES[int(out_of_bag.leaked_but_for_the_forest(found, honest).weights.argmax())],
        correct=found.best,
        label="largest weight",
    )
    evidence.procedure(
        wrong=max(own, key=own.get), right=found.best, correct=found.best, label="best on its own training rows"
    )


@claim("stacking.leak-favours-memoriser")
def test_the_best_memory_gets_the_weight(evidence):
    """Largest leaked weight against largest R2 on training rows, for several rosters on several data sets."""
    from claims.experiments import regression_members as stacks
    from claims.experiments import stack_variants

    rosters = [
        ("ridge", "forest", "boosting", "knn"),
        ("ridge", "boosting", "knn"),
        ("ridge", "forest", "knn"),
        *(("ridge", "forest", "boosting", "knn", memoriser) for memoriser in stack_variants.MEMORISERS),
    ]
    for data in evidence.given("data"):
        everyone = stack_variants.memoriser_columns(data, 0)
        for roster in rosters:
            found = everyone.only(*roster)
            own = stacks.training_scores(found)
            trusted = roster[int(stacks.leaked(found).weights.argmax())]
            evidence.identical(trusted, max(own, key=own.get), label=f"{data}, {', '.join(roster)}")


@claim("stacking.asymmetry")
def test_a_leak_costs_many_times_what_noise_does(evidence, post_columns, smaller_stacks):
    """What the stack loses when one column leaks (the worst one) or all do, against noise members, a data set each."""
    from claims.experiments import combiners
    from claims.experiments import regression_members as stacks

    post = _setup(evidence, post_columns)
    evidence.figure("useless", combiners.noise_cost_of_the_post(post))
    first = post_columns(evidence.given("leak_rows"), evidence.given("leak_trees"), evidence.given("seed"))
    evidence.figure("dishonest_stack", stacks.leaked(first).score)
    found = smaller_stacks(evidence.given("smaller_data_sets"))
    times, draws = evidence.given("times"), evidence.given("noise_columns")
    bound = [times * combiners.noise_cost(one, draws).mean() for one in found]
    clean = np.array([stacks.clean(one).score for one in found])
    for label, names in (("all columns leak", None), ("the forest's leaks", ["forest"])):
        evidence.above(clean - [stacks.leaked(one, names).score for one in found], bound, paired=True, label=label)


@claim("stacking.curate-folds-not-roster")
def test_the_folds_matter_more_than_the_roster(evidence, smaller_stacks):
    """What a leak costs against what leaving out any member but the best costs, a data set each."""
    from claims.experiments import regression_members as stacks

    found = smaller_stacks(evidence.given("smaller_data_sets"))
    leak = [stacks.clean(one).score - stacks.leaked(one).score for one in found]
    roster = [max(loss for name, loss in stacks.drop_costs(one).items() if name != one.best) for one in found]
    evidence.above(leak, roster, paired=True)
