"""Stacks against scikit-learn's on the same folds, and the leak on rows a memoriser has seen."""

import numpy as np
import pytest

from implementations.ensembles.folds import assign_folds, assign_stratified_folds, folds_of_splits
from implementations.ensembles.stacking import fit_stack, in_fold_matrix, out_of_fold_matrix


class LeastSquares:
    """A combiner without a library: intercept and one coefficient a column."""

    def fit(self, X, y):
        design = np.column_stack([np.ones(len(X)), X])
        self.coef_ = np.linalg.lstsq(design, y, rcond=None)[0]
        return self

    def predict(self, X):
        return np.column_stack([np.ones(len(X)), X]) @ self.coef_


class Nearest:
    """One nearest neighbour: a perfect memory of its own rows."""

    def fit(self, X, y):
        self.rows, self.targets = np.asarray(X), np.asarray(y)
        return self

    def predict(self, X):
        return self.targets[((X[:, None] - self.rows) ** 2).sum(axis=2).argmin(axis=1)]


def regression(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=n)


def classification(n=150, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 3)) + np.eye(3)[y % 3], y


def test_equals_stacking_regressor():
    """Same folds, same predictions, out-of-fold columns and combiner as scikit-learn's StackingRegressor."""
    pytest.importorskip("sklearn")
    from sklearn.ensemble import StackingRegressor
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import KFold
    from sklearn.tree import DecisionTreeRegressor

    X, y = regression()
    split = KFold(5, shuffle=True, random_state=3)
    makers = [lambda: Ridge(2.0), lambda: DecisionTreeRegressor(max_depth=4, random_state=0)]
    named = [(str(i), make()) for i, make in enumerate(makers)]
    theirs = StackingRegressor(named, final_estimator=Ridge(0.1), cv=split).fit(X, y)
    mine = fit_stack(makers, lambda: Ridge(0.1), X, y, folds_of_splits(split.split(X), len(X)))
    fresh = regression(seed=1)[0]
    assert mine.predict(fresh) == pytest.approx(theirs.predict(fresh), abs=1e-12)
    assert mine.columns(fresh) == pytest.approx(theirs.transform(fresh), abs=1e-12)
    assert mine.combiner.coef_ == pytest.approx(theirs.final_estimator_.coef_, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_stacking_classifier(n_classes):
    """Two classes (one column a member) and three, labels and probabilities, as StackingClassifier's."""
    pytest.importorskip("sklearn")
    from sklearn.ensemble import StackingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    X, y = classification(n_classes=n_classes)
    makers = [GaussianNB, lambda: KNeighborsClassifier(7)]
    named = [(str(i), make()) for i, make in enumerate(makers)]
    theirs = StackingClassifier(named, final_estimator=LogisticRegression(), cv=StratifiedKFold(5)).fit(X, y)
    mine = fit_stack(makers, LogisticRegression, X, y, assign_stratified_folds(y, 5), "predict_proba")
    fresh = classification(n_classes=n_classes, seed=1)[0]
    assert mine.predict_proba(fresh) == pytest.approx(theirs.predict_proba(fresh), abs=1e-12)
    assert mine.predict(fresh).tolist() == theirs.predict(fresh).tolist()


def test_the_leak_is_in_the_in_fold_matrix_only():
    """A nearest neighbour repeats its training targets in fold and errs out of fold."""
    X, y = regression()
    assert in_fold_matrix([Nearest], X, y)[:, 0] == pytest.approx(y, abs=0)
    assert np.abs(out_of_fold_matrix([Nearest], X, y, assign_folds(len(X), 5))[:, 0] - y).min() > 0


def test_a_leaked_combiner_trusts_the_memoriser():
    """Fitted in fold, all weight goes to the member that remembers; out of fold it does not."""
    X, y = regression()
    leaked = LeastSquares().fit(in_fold_matrix([LeastSquares, Nearest], X, y), y)
    honest = fit_stack([LeastSquares, Nearest], LeastSquares, X, y, assign_folds(len(X), 5)).combiner
    assert leaked.coef_ == pytest.approx([0, 0, 1], abs=1e-12)
    assert honest.coef_[1] > honest.coef_[2]


def test_members_are_refitted_on_every_row():
    """For new rows each member is the one fitted on all of them, and fits number members * (folds + 1) + 1."""
    fits = []

    class Counting(Nearest):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    X, y = regression(60)
    stack = fit_stack([Counting, Counting], LeastSquares, X, y, assign_folds(60, 5))
    assert fits == [48] * 10 + [60] * 2
    assert [len(member.rows) for member in stack.members] == [60, 60]


def test_refuses_a_stack_of_nothing():
    """There must be a member."""
    with pytest.raises(ValueError, match="no members"):
        fit_stack([], LeastSquares, *regression(20), assign_folds(20, 4))
    with pytest.raises(ValueError, match="no members"):
        in_fold_matrix([], *regression(20))


def test_refuses_probabilities_of_a_combiner_that_has_none():
    """A least-squares combiner gives values only."""
    stack = fit_stack([Nearest], LeastSquares, *regression(20), assign_folds(20, 4))
    with pytest.raises(ValueError, match="combiner LeastSquares has no predict_proba"):
        stack.predict_proba(regression(20)[0])


def test_members_may_come_one_by_one():
    """A generator is walked once, and both the matrix and the fitted members need it."""
    X, y = regression(20)
    stack = fit_stack((one for one in (Nearest, Nearest)), LeastSquares, X, y, assign_folds(20, 4))
    assert stack.columns(X).shape == stack.meta_features.shape == (20, 2)
