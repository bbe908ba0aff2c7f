"""Gradient boosting: what its trees are fitted to, and boosters by hand beside the libraries'."""

from itertools import pairwise

import numpy as np

from runtwice import claim


@claim("boosting.gbm-fits-residuals")
def test_each_tree_fits_what_is_left(evidence):
    """What each tree was given, against finite differences of the loss, and how far the training loss fell."""
    from claims.experiments.generated_sets import surface, two_classes
    from implementations.boosting.exact import SortedColumns, cart
    from implementations.boosting.gradient import GradientBooster
    from implementations.boosting.loss import LogLoss, SquaredError
    from implementations.boosting.tree import Growth

    rows, rate = evidence.given("rows"), evidence.given("learning_rate")
    for loss, (train,) in ((SquaredError(), surface(0, (rows,))), (LogLoss(), two_classes(0, (rows,)))):
        columns, targets = SortedColumns.of(train.X), []

        def learner(target, weight, columns=columns, targets=targets):
            targets.append(target)
            return cart(columns, target, weight, Growth(max_depth=3))

        booster = GradientBooster(loss, learning_rate=rate, learner=learner).fit(
            train.X, train.y, evidence.given("rounds")
        )
        before = [np.full(rows, booster.intercept), *booster.staged_raw(train.X)]
        for target, raw in zip(targets, before):
            slope = (loss.value(train.y, raw + 1e-5) - loss.value(train.y, raw - 1e-5)) / 2e-5
            evidence.identical(target, -slope, label=loss.name)
        if isinstance(loss, SquaredError):
            for raw, after in pairwise(before):
                tree = (after - raw) / rate
                fall = ((train.y - raw) ** 2).mean() - ((train.y - after) ** 2).mean()
                evidence.identical(float(fall), float(rate * (2 - rate) * (tree**2).mean()), label="training loss")


@claim("boosting.gbm-functional-gradient")
def test_small_steps_descend_along_the_tree(evidence):
    """Change of the mean loss over a small step against the inner product of gradient and tree, as the step shrinks."""
    from claims.experiments.generated_sets import surface, two_classes
    from implementations.boosting.gradient import GradientBooster
    from implementations.boosting.loss import LogLoss, SquaredError

    rows = evidence.given("rows")
    for seed in range(evidence.given("seeds")):
        for loss, (train,) in ((SquaredError(), surface(seed, (rows,))), (LogLoss(), two_classes(seed, (rows,)))):
            booster = GradientBooster(loss, learning_rate=1.0).fit(train.X, train.y, 1)
            start = np.full(rows, booster.intercept)
            tree = booster.stages[0].adds(train.X)
            promised = float(loss.gradient(train.y, start) @ tree)

            def change(rate, loss=loss, y=train.y, start=start, tree=tree):
                return float((loss.value(y, start + rate * tree) - loss.value(y, start)).sum()) / rate

            ratios = [change(rate) / promised for rate in evidence.given("learning_rates")]
            evidence.identical(ratios[-1], 1.0, label=f"{loss.name}, seed {seed}")
            # a tenth of the step leaves a tenth of the error
            evidence.identical(bool(abs(ratios[1] - 1) < 0.2 * abs(ratios[0] - 1)), True, label="rate of convergence")


@claim("boosting.scratch-gbm-matches-sklearn")
def test_our_booster_is_scikit_learns(evidence):
    """Test predictions with our trees and with the library's, on rows weighted so that no two splits tie."""
    from sklearn.metrics import r2_score, roc_auc_score

    from claims.experiments import boosters_beside
    from claims.experiments.generated_sets import moons, surface

    trees, scores = int(evidence.given("trees")), []
    for seed in range(evidence.given("seeds")):
        for name, score, (train, test) in (
            ("log loss", roc_auc_score, moons(seed, (1000, 1000))),
            ("squared error", r2_score, surface(seed, (500, 500))),
        ):
            without_ties = boosters_beside.raw_scores(name, train, test, trees, seed, least=20, uneven=True)
            for ours in ("our trees", "its trees"):
                evidence.identical(without_ties[ours], without_ties["scikit-learn"], label="predictions")
            raw = boosters_beside.raw_scores(name, train, test, trees, seed)
            scores.append([score(test.y, raw[whose]) for whose in ("its trees", "scikit-learn")])
    evidence.settings(largest_gap_of_scores_with_ties=float(max(abs(a - b) for a, b in scores)))
    evidence.figure("scratch_score", scores[0][0])
    evidence.figure("sklearn_score", scores[0][1])


@claim("boosting.scratch-gbm-five-decimals")
def test_the_two_scores_share_five_decimals(evidence):
    """Decimals that the two printed scores have in common, from the first on."""

    def shared(one, other):
        decimals = (f"{score:.6f}".split(".")[1] for score in (one, other))
        return next((i for i, (a, b) in enumerate(zip(*decimals)) if a != b), 6)

    scratch, library = evidence.printed("scratch_score"), evidence.printed("sklearn_score")
    evidence.derived("decimals", lambda pair: shared(*pair), [scratch, library])


@claim("boosting.scratch-gbm-thirty-lines")
def test_thirty_lines_match_the_library(evidence):
    """Lines of a booster around an imported tree, and its predictions beside scikit-learn's."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    from claims.experiments import short_booster
    from claims.experiments.generated_sets import moons, surface

    trees = int(evidence.given("trees"))
    for library, (train, test), classify in (
        (GradientBoostingClassifier, moons(0, (500, 500)), True),
        (GradientBoostingRegressor, surface(0, (500, 500)), False),
    ):
        model = short_booster.boost(train.X, train.y, trees, 0.1, 3, np.random.RandomState(0), classify)
        theirs = library(n_estimators=trees, random_state=0).fit(train.X, train.y)
        raw = theirs.decision_function(test.X) if classify else theirs.predict(test.X)
        evidence.identical(short_booster.score_of(model, test.X), raw, label="predictions")
    lines = short_booster.line_count()
    evidence.identical(lines <= evidence.given("lines"), True, label=f"{lines} lines")


@claim("boosting.scratch-xgb-matches-library")
def test_our_second_order_booster_is_xgboosts(evidence):
    """Test margins of our second-order booster and of XGBoost's exact method, at equal settings."""
    import xgboost
    from sklearn.metrics import roc_auc_score

    from claims.experiments.generated_sets import two_classes
    from implementations.boosting.loss import LogLoss
    from implementations.boosting.newton import NewtonBooster
    from implementations.boosting.tree import Growth

    rounds, scores = int(evidence.given("rounds")), []
    settings = {"tree_method": "exact", "objective": "binary:logistic", "base_score": 0.5, "eta": 0.3, "max_depth": 3}
    for seed in range(evidence.given("seeds")):
        train, test = two_classes(seed, (1000, 1000))
        growth = Growth(max_depth=3, ridge=1.0, min_curvature=1.0)
        ours = NewtonBooster(LogLoss(), growth=growth, start=0.0).fit(train.X, train.y, rounds)
        theirs = xgboost.train({**settings, "nthread": 1}, xgboost.DMatrix(train.X, train.y), rounds)
        margins = theirs.predict(xgboost.DMatrix(test.X), output_margin=True)
        evidence.identical(ours.raw(test.X), margins, label=f"seed {seed}")
        scores.append((roc_auc_score(test.y, ours.raw(test.X)), roc_auc_score(test.y, margins)))
    evidence.figure("scratch_score", scores[0][0])
    evidence.figure("xgboost_score", scores[0][1])
