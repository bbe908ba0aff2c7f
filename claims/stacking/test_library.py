"""The stack from scratch against scikit-learn's, and what it consists of."""

import numpy as np

from runtwice import claim


def _setup(evidence):
    return evidence.given("rows"), evidence.given("trees"), evidence.given("seed")


@claim("stacking.scratch-equals-sklearn")
def test_same_folds_same_stack(evidence, post_columns):
    """Predictions of both on the same folds; and their scores as printed, where the folds differ."""
    from claims.experiments import library_stack
    from claims.experiments import regression_members as stacks

    setup = _setup(evidence)
    found, rows = post_columns(*setup), stacks.friedman_split(setup[0], setup[2])
    evidence.figure("mine", stacks.clean(found).score)
    evidence.figure("sklearn", library_stack.score_as_printed(*setup))
    theirs = library_stack.on_the_posts_folds(*setup).predict(rows.X_test)
    evidence.identical(stacks.predictions(found), theirs, label="same folds")


@claim("stacking.refit-on-all")
def test_members_that_answer_saw_every_row(evidence, post_columns):
    """The library's members answer as ours that were fitted to all rows; its combiner is the out-of-fold one."""
    from claims.experiments import library_stack
    from claims.experiments import regression_members as stacks

    setup = _setup(evidence)
    found, rows = post_columns(*setup), stacks.friedman_split(setup[0], setup[2])
    theirs = library_stack.on_the_posts_folds(*setup)
    evidence.identical(found.test, theirs.transform(rows.X_test), label="members")
    evidence.identical(stacks.clean(found).weights, theirs.final_estimator_.coef_, label="combiner")


@claim("stacking.oof-definition")
def test_no_row_is_predicted_by_a_model_that_saw_it(evidence):
    """Our matrix against cross_val_predict's on the same folds; and a nearest neighbour, which knows what it saw."""
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeRegressor

    from claims.experiments import ensemble_canaries
    from implementations.ensembles.folds import folds_of_splits, out_of_fold
    from implementations.ensembles.stacking import in_fold_matrix

    canary = ensemble_canaries.stacking_scores()
    for name, scores in canary.items():
        evidence.figure(f"canary_{name}", scores)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    split = KFold(5, shuffle=True, random_state=0)
    folds = folds_of_splits(split.split(X), len(X))

    def tree():
        return DecisionTreeRegressor(random_state=0)

    evidence.identical(out_of_fold(tree, X, y, folds)[:, 0], cross_val_predict(tree(), X, y, cv=split), label="matrix")
    recognised = {"in fold": in_fold_matrix([tree], X, y), "out of fold": out_of_fold(tree, X, y, folds)}
    evidence.identical(
        {name: int((column[:, 0] == y).sum()) for name, column in recognised.items()},
        {"in fold": len(y), "out of fold": 0},
        label="rows that a full tree recognises",
    )


@claim("stacking.n-plus-one-models")
def test_models_fitted_and_kept(evidence):
    """Fits counted while a stack is built, and models it keeps."""
    from implementations.ensembles.folds import assign_folds
    from implementations.ensembles.stacking import fit_stack

    fits = []

    class Mean:
        def fit(self, X, y):
            fits.append(len(X))
            self.mean = y.mean()

        def predict(self, X):
            return np.full(len(X), self.mean)

    X, y = np.zeros((20, 1)), np.arange(20.0)
    stack = fit_stack([Mean] * evidence.given("members"), Mean, X, y, assign_folds(len(X), evidence.given("folds")))
    evidence.figure("kept", len(stack.members) + 1)
    evidence.figure("fits", len(fits))
