"""AdaBoost: its weights, its loss, and what a wrong label does to it."""

import numpy as np

from runtwice import claim


def fitted(seed, rows, rounds, **data):
    """AdaBoost on stumps, and its training rows."""
    from claims.experiments.generated_sets import two_classes
    from implementations.boosting.adaboost import AdaBoost

    (train,) = two_classes(seed, (rows,), **data)
    return AdaBoost().fit(train.X, train.y, rounds), train


@claim("boosting.adaboost-reweights")
def test_wrong_rows_gain_and_right_rows_lose(evidence):
    """Weights before and after each round of boosted stumps, and the votes of scikit-learn's AdaBoost."""
    from sklearn.ensemble import AdaBoostClassifier

    rows, rounds = evidence.given("rows"), evidence.given("rounds")
    for seed in range(evidence.given("seeds")):
        model, train = fitted(seed, rows, rounds)
        before = np.full(rows, 1 / rows)
        for one in model.rounds:
            factor = np.where(one.wrong, 0.5 / one.error, 0.5 / (1 - one.error))
            evidence.identical(one.weight, before * factor, label=f"weights, seed {seed}")
            evidence.identical(float(one.weight[one.wrong].sum()), 0.5, label=f"half error, seed {seed}")
            before = one.weight
    theirs = AdaBoostClassifier(n_estimators=int(rounds), random_state=0).fit(train.X, train.y)
    evidence.identical(model.predict(train.X), theirs.predict(train.X), label="scikit-learn's votes")


@claim("boosting.adaboost-exponential-loss")
def test_each_step_is_the_least_exponential_loss(evidence):
    """Mean exp(-margin) beside the product of normalisers, each step beside a numerical minimum, and a bound."""
    from scipy.optimize import minimize_scalar

    for seed in range(evidence.given("seeds")):
        model, train = fitted(seed, evidence.given("rows"), evidence.given("rounds"))
        sign, score, bound = 2 * train.y - 1, np.zeros(len(train)), 1.0
        for one in model.rounds:
            vote = 2.0 * one.vote(train.X) - 1

            def loss_along(step, sign=sign, score=score, vote=vote):
                return np.exp(-sign * (score + step * vote)).mean()

            found = minimize_scalar(loss_along, bracket=(0, 1), tol=1e-12)
            evidence.identical(one.step / 2, float(found.x), label="step")
            score, bound = score + one.step / 2 * vote, bound * 2 * np.sqrt(one.error * (1 - one.error))
            evidence.identical(float(np.exp(-sign * score).mean()), float(bound), label="loss")
            evidence.identical(bool((sign * score <= 0).mean() <= bound), True, label="training error below the loss")


@claim("boosting.gbm-generalises-adaboost")
def test_exponential_descent_is_adaboost(evidence):
    """Margins of AdaBoost against gradient descent on the exponential loss along stumps, round by round."""
    from claims.experiments.exponential_descent import margins

    for seed in range(evidence.given("seeds")):
        model, train = fitted(seed, evidence.given("rows"), evidence.given("rounds"))
        descent = margins(train.X, train.y, len(model.rounds))
        ours = [model.margins(train.X, t) for t in range(1, len(model.rounds) + 1)]
        evidence.identical(descent, np.array(ours), label=f"seed {seed}")


@claim("boosting.adaboost-mislabel-weight")
def test_wrong_labels_gather_weight(evidence):
    """Share of the weight on the turned labels after 1 to 100 rounds, a data set a seed."""
    from claims.experiments.generated_sets import two_classes, with_flips
    from implementations.boosting.adaboost import AdaBoost

    rounds, curves = evidence.given("rounds"), []
    for seed in range(evidence.given("seeds")):
        (clean,) = two_classes(seed, (evidence.given("rows"),), features=10, informative=6, flipped=0.0, sep=1.5)
        train = with_flips(clean, evidence.given("flipped"), seed)
        wrong = train.y != clean.y
        model = AdaBoost().fit(train.X, train.y, max(rounds))
        curves.append([float(model.rounds[t - 1].weight[wrong].sum()) for t in rounds])
    evidence.trend(curves, "rises")
