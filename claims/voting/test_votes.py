"""The post's members and votes, on its data and on others."""

import numpy as np

from runtwice import claim


@claim("voting.split-sizes", expect="refuted", because="the code leaves 3,600, 2,700 and 2,700 rows, which is 40/30/30")
def test_sizes_of_the_three_parts(evidence):
    """The post's two calls of train_test_split on its 9,000 rows."""
    from claims.experiments import vote_members

    data = vote_members.rows(evidence.given("seed"))
    sizes = [len(part) for part in (data.y_train, data.y_pool, data.y_test)]
    evidence.figure("rows", sizes)
    evidence.figure("split_pct", [100 * size / sum(sizes) for size in sizes])


@claim("voting.base-table")
def test_members_alone(evidence, post_members):
    """Accuracy and log loss of each member on the 2,700 test rows."""
    from claims.experiments import vote_members

    found = post_members(evidence.given("seed")).only(4)
    scores = zip(
        found.names, vote_members.accuracy(found.test, found.y_test), vote_members.loss(found.test, found.y_test)
    )
    for name, accuracy, loss in scores:
        evidence.figure(f"{name}_acc", accuracy)
        evidence.figure(f"{name}_logloss", loss)


@claim("voting.vote-table")
def test_both_votes(evidence, post_members):
    """Hard and soft vote of the four on the test rows."""
    from claims.experiments import vote_outcomes

    votes = vote_outcomes.votes(post_members(evidence.given("seed")).only(4))
    evidence.figure("hard_acc", votes.hard_accuracy)
    evidence.figure("soft_acc", votes.soft_accuracy)
    evidence.figure("soft_logloss", votes.soft_loss)


@claim("voting.loses-to-best-accuracy")
def test_accuracy_of_the_votes_and_of_the_best_member(evidence, post_members, data_sets):
    """Test accuracy of the member that is best on the pool against both votes, one pair a data set."""
    from claims.experiments import vote_members, vote_outcomes

    post = post_members(evidence.given("seed")).only(4)
    votes = vote_outcomes.votes(post)
    evidence.figure("knn_acc", vote_members.accuracy(post.test, post.y_test).max())
    evidence.figure("hard_acc", votes.hard_accuracy)
    evidence.figure("soft_acc", votes.soft_accuracy)
    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]
    best = [vote_members.accuracy(one.test, one.y_test)[vote_outcomes.best_by_accuracy(one)] for one in found]
    others = [vote_outcomes.votes(one) for one in found]
    evidence.above(best, [one.hard_accuracy for one in others], paired=True, label="hard")
    evidence.above(best, [one.soft_accuracy for one in others], paired=True, label="soft")


@claim("voting.loses-to-best-logloss")
def test_loss_of_the_soft_vote_and_of_the_best_member(evidence, post_members, data_sets):
    """Test log loss of the soft vote against the member that is best on the pool, one pair a data set."""
    from claims.experiments import vote_members, vote_outcomes

    post = post_members(evidence.given("seed")).only(4)
    evidence.figure("boosting_logloss", vote_members.loss(post.test, post.y_test).min())
    evidence.figure("soft_logloss", vote_outcomes.votes(post).soft_loss)
    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]
    best = [vote_members.loss(one.test, one.y_test)[vote_outcomes.best_by_loss(one)] for one in found]
    evidence.above([vote_outcomes.votes(one).soft_loss for one in found], best, paired=True)


@claim(
    "voting.soft-not-above-hard",
    expect="within noise",
    because="the hard vote is ahead by 0.0001 over 12 data sets, 95% interval -0.0015 to 0.0018",
)
def test_hard_against_soft(evidence, post_members, data_sets):
    """Test accuracy of both votes, one pair a data set."""
    from claims.experiments import vote_outcomes

    votes = vote_outcomes.votes(post_members(evidence.given("seed")).only(4))
    evidence.figure("soft_acc", votes.soft_accuracy)
    evidence.figure("hard_acc", votes.hard_accuracy)
    others = [vote_outcomes.votes(one.only(4)) for one in data_sets(evidence.given("data_sets"))]
    evidence.above([one.hard_accuracy for one in others], [one.soft_accuracy for one in others], paired=True)


@claim("voting.miscalibration-explains-soft")
def test_recalibrated_members_vote_again(evidence, data_sets):
    """Soft minus hard accuracy with recalibrated members against the same with the members as they are."""
    from claims.experiments import vote_outcomes

    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]

    def lead(one):
        votes = vote_outcomes.votes(one)
        return votes.soft_accuracy - votes.hard_accuracy

    recalibrated = [lead(vote_outcomes.recalibrated(one)) for one in found]
    evidence.above(recalibrated, [lead(one) for one in found], paired=True)


@claim(
    "voting.logloss-shows-miscalibration",
    expect="refuted",
    because="the logistic regression is better calibrated than the booster, by 0.011 (0.004 to 0.017)",
)
def test_calibration_errors(evidence, post_members, data_sets):
    """Expected calibration error of the two members against the booster's, from reliability diagrams of test rows."""
    from claims.experiments import vote_members, vote_outcomes

    post = post_members(evidence.given("seed")).only(4)
    losses = dict(zip(post.names, vote_members.loss(post.test, post.y_test)))
    evidence.figure("first", losses["knn"])
    evidence.figure("second", losses["logreg"])
    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]
    errors = dict(zip(post.names, np.array([vote_outcomes.calibration_errors(one) for one in found]).T))
    for name in ("knn", "logreg"):
        evidence.above(errors[name], errors["boosting"], paired=True, label=name)


@claim("voting.knn-logloss-from-certain-errors")
def test_one_imaginary_neighbour_of_either_class(evidence, post_members):
    """Log loss of the nearest neighbours as they are, and with one neighbour of either class added to the fifteen."""
    from claims.experiments import vote_members

    found = post_members(evidence.given("seed"))
    said, labels = found.test[:, found.names.index("knn")], found.y_test
    raw = vote_members.loss(said, labels)
    good = evidence.given("good")
    evidence.figure("knn_acc", vote_members.accuracy(said, labels))
    evidence.figure("knn_logloss", raw)
    smoothed = vote_members.loss((15 * said + 1) / 17, labels)
    evidence.procedure(wrong=raw, right=smoothed, correct=lambda loss: loss < good)


@claim("voting.best-depends-on-metric")
def test_winners_of_both_metrics(evidence, post_members, data_sets):
    """How far the winner of either metric is behind by the other one, on the test rows of each data set."""
    from claims.experiments import vote_members

    def scores(one):
        return vote_members.accuracy(one.test, one.y_test), vote_members.loss(one.test, one.y_test)

    post = post_members(evidence.given("seed")).only(4)
    for name, accuracy, loss in zip(post.names, *scores(post)):
        if name in ("knn", "boosting"):
            evidence.figure(f"{name}_acc", accuracy)
            evidence.figure(f"{name}_logloss", loss)
    found = [scores(one.only(4)) for one in data_sets(evidence.given("data_sets"))]
    evidence.above(
        [accuracy.max() - accuracy[loss.argmin()] for accuracy, loss in found],
        0.0,
        label="accuracy that the member of the lowest log loss lacks",
    )
    evidence.above(
        [loss[accuracy.argmax()] - loss.min() for accuracy, loss in found],
        0.0,
        label="log loss that the most accurate member has too much",
    )


@claim("voting.weak-member-drags")
def test_leaving_out_each_member(evidence, data_sets):
    """What the soft vote gains without the logistic regression, against the most it gains without any other member."""
    from claims.experiments import vote_outcomes

    gains = [vote_outcomes.without_each(one.only(4)) for one in data_sets(evidence.given("data_sets"))]
    for label, rows in zip(("accuracy", "log loss"), zip(*gains)):
        table = np.array(rows)  # (data sets, members)
        evidence.above(table[:, 0], 0.0, label=f"{label}, without the logistic regression")
        evidence.above(table[:, 0], table[:, 1:].max(axis=1), paired=True, label=f"{label}, against any other")


@claim(
    "voting.uncalibrated-member-poisons-mean",
    expect="refuted",
    because="without the nearest neighbours the log loss of the soft vote rises by 0.025, 95% interval 0.020 to 0.029",
)
def test_leaving_out_the_nearest_neighbours(evidence, post_members, data_sets):
    """Log loss of the soft vote with the nearest neighbours and without them, one pair a data set."""
    from claims.experiments import vote_members, vote_outcomes

    post = post_members(evidence.given("seed")).only(4)
    evidence.figure("logloss", vote_members.loss(post.test, post.y_test)[post.names.index("knn")])
    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]
    without = [vote_outcomes.votes(one.only(3)).soft_loss for one in found]
    evidence.above([vote_outcomes.votes(one).soft_loss for one in found], without, paired=True)


@claim("voting.no-parameters-no-optimism")
def test_the_average_scores_alike_on_any_rows(evidence, data_sets):
    """Test minus holdout loss of the plain average, a mean over 200 holdouts of each size, one value a data set."""
    from claims.experiments import vote_outcomes

    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]
    for rows in evidence.given("sizes"):
        optimism = [vote_outcomes.average_optimism(one, rows, evidence.given("draws")) for one in found]
        evidence.equivalent(optimism, 0.0, label=f"{rows} rows")


@claim("voting.even-split-fails")
def test_rows_that_divide_the_members(evidence, post_members, data_sets):
    """What evenly divided test rows get, as the members are and with two of them certain of class 1."""
    from claims.experiments import vote_outcomes

    found = post_members(evidence.given("seed")).only(4)
    as_said, two_certain = vote_outcomes.labels_of_even_splits(found)
    evidence.identical(as_said.tolist(), [False] * len(as_said), label="as said")
    evidence.identical(two_certain.tolist(), [False] * len(as_said), label="two members certain of class 1")
    others = [vote_outcomes.even_splits(one.only(4)) for one in data_sets(evidence.given("data_sets"))]
    evidence.keep("accuracy of the rule on such rows", [hard for hard, _ in others])
    evidence.keep("accuracy of the mean probability on them", [soft for _, soft in others])


@claim("voting.flat-scorer")
def test_a_member_squeezed_into_a_band(evidence, data_sets):
    """The soft vote with the booster as it is and with its ranks spread over the band, by both metrics."""
    from claims.experiments import vote_outcomes

    found = [one.only(4) for one in data_sets(evidence.given("data_sets"))]
    band = evidence.given("low"), evidence.given("high")
    before = [vote_outcomes.votes(one) for one in found]
    after = [vote_outcomes.votes(vote_outcomes.with_flat(one, one.names.index("boosting"), *band)) for one in found]
    evidence.above(
        [one.soft_accuracy for one in before], [one.soft_accuracy for one in after], paired=True, label="accuracy"
    )
    evidence.above([one.soft_loss for one in after], [one.soft_loss for one in before], paired=True, label="log loss")


@claim("voting.hard-when-untunable")
def test_a_roster_chosen_on_the_rows_it_is_reported_on(evidence, data_sets):
    """Accuracy on 300 rows minus accuracy on test rows: the four members as given, and the best four of the twelve.

    Pool and test rows take either part in turn, so that neither being the easier one does not count.
    """
    from dataclasses import replace

    from claims.experiments import vote_outcomes

    rows, draws, roster = evidence.given("rows"), evidence.given("draws"), evidence.given("roster")
    found = data_sets(evidence.given("data_sets"))
    found = found + [replace(one, pool=one.test, y_pool=one.y_test, test=one.pool, y_test=one.y_pool) for one in found]
    fixed, chosen = np.mean([vote_outcomes.hard_vote_optimism(one, rows, draws, roster) for one in found], axis=0)
    evidence.procedure(wrong=float(chosen), right=float(fixed), correct=0.0)


@claim("voting.never-assume-ensemble-wins")
def test_votes_of_every_four_members(evidence, data_sets):
    """Share of the 495 rosters whose soft vote is behind its own best member, one value a data set."""
    from claims.experiments import vote_outcomes

    found = data_sets(evidence.given("data_sets"))
    shares = [vote_outcomes.share_behind_best_member(one, evidence.given("roster")) for one in found]
    evidence.above(shares, evidence.given("rare"))
