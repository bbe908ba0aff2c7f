"""The stacking post's four regressors, fitted once a data set: what each says in fold, out of fold and of new rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, train_test_split
from sklearn.neighbors import KNeighborsRegressor

from implementations.ensembles.folds import Folds, folds_of_splits, out_of_fold
from implementations.ensembles.members import Member

Floats = NDArray[np.float64]
NAMES = ("ridge", "forest", "boosting", "knn")


@dataclass(frozen=True)
class Split:
    """Training and test rows of one data set, and the training rows' folds."""

    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats
    folds: Folds


@dataclass(frozen=True)
class Columns:
    """One column a member: of training rows in fold and out of fold, and of the test rows."""

    names: tuple[str, ...]
    y_train: Floats
    y_test: Floats
    oof: Floats
    in_fold: Floats
    test: Floats

    def only(self, *names: str) -> Columns:
        """The same for some of the members."""
        at = [self.names.index(name) for name in names]
        return Columns(names, self.y_train, self.y_test, self.oof[:, at], self.in_fold[:, at], self.test[:, at])

    def beside(self, other: Columns) -> Columns:
        """The members of both, fitted to the same rows."""
        joined = [np.hstack([getattr(self, part), getattr(other, part)]) for part in ("oof", "in_fold", "test")]
        return Columns(self.names + other.names, self.y_train, self.y_test, *joined)

    @property
    def scores(self) -> Floats:
        """Test R2 of each member."""
        return np.array([r2_score(self.y_test, column) for column in self.test.T])

    @property
    def best(self) -> str:
        """The member that is best on the test rows."""
        return self.names[int(self.scores.argmax())]

    def as_lists(self) -> dict[str, Any]:
        """A form that JSON holds."""
        return {key: np.asarray(value).tolist() for key, value in asdict(self).items()}

    @classmethod
    def from_lists(cls, lists: dict[str, Any]) -> Columns:
        """The other way."""
        return cls(tuple(lists["names"]), *(np.array(lists[key]) for key in list(cls.__dataclass_fields__)[1:]))


@dataclass(frozen=True)
class Combined:
    """A combiner fitted to some columns: its weights and its test R2."""

    weights: Floats
    score: float


def members(n_trees: int, model_seed: int = 0) -> dict[str, Member]:
    """The four of the post, by name."""
    return {
        "ridge": RidgeCV,
        "forest": lambda: RandomForestRegressor(n_trees, random_state=model_seed),
        "boosting": lambda: GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, random_state=model_seed),
        "knn": lambda: KNeighborsRegressor(10),
    }


def friedman_split(n_rows: int, data_seed: int, fold_seed: int = 0, n_folds: int = 5) -> Split:
    """The post's data: Friedman #1 with noise 1, three tenths for testing, shuffled folds."""
    return split(*make_friedman1(n_rows, noise=1.0, random_state=data_seed), data_seed, fold_seed, n_folds)


def split(X: Floats, y: Floats, split_seed: int, fold_seed: int = 0, n_folds: int = 5) -> Split:
    """Seven tenths of some rows for training, in shuffled folds."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=split_seed, test_size=0.3)
    return Split(X_train, y_train, X_test, y_test, shuffled_folds(len(X_train), n_folds, fold_seed))


def shuffled_folds(n_rows: int, n_folds: int, seed: int) -> Folds:
    """scikit-learn's shuffled folds, one number a row."""
    pairs = KFold(n_folds, shuffle=True, random_state=seed).split(np.empty((n_rows, 1)))
    return folds_of_splits(pairs, n_rows)


def columns(roster: dict[str, Member], rows: Split) -> Columns:
    """Fit every member once a fold and once on all training rows."""
    oof, in_fold, test = [], [], []
    for make in roster.values():
        model = make()
        model.fit(rows.X_train, rows.y_train)
        oof.append(out_of_fold(make, rows.X_train, rows.y_train, rows.folds)[:, 0])
        in_fold.append(model.predict(rows.X_train))
        test.append(model.predict(rows.X_test))
    stacked = [np.column_stack(part) for part in (oof, in_fold, test)]
    return Columns(tuple(roster), rows.y_train, rows.y_test, *stacked)


def combined(meta: Floats, y: Floats, test: Floats, y_test: Floats, combiner: Callable[[], Any] = RidgeCV) -> Combined:
    """Fit a combiner to meta-features and score it on test columns."""
    model = combiner()
    model.fit(meta, y)
    weights = np.asarray(getattr(model, "coef_", np.full(meta.shape[1], np.nan)))
    return Combined(weights, float(r2_score(y_test, model.predict(test))))


def clean(found: Columns, combiner: Callable[[], Any] = RidgeCV) -> Combined:
    """The stack as it should be: its combiner has seen out-of-fold columns only."""
    return combined(found.oof, found.y_train, found.test, found.y_test, combiner)


def leaked(found: Columns, of: Sequence[str] | None = None) -> Combined:
    """The stack as it should not be: all columns in fold, or those of some members only."""
    tainted = np.isin(found.names, found.names if of is None else of)
    return combined(np.where(tainted, found.in_fold, found.oof), found.y_train, found.test, found.y_test)


def predictions(found: Columns) -> Floats:
    """What the clean stack says of the test rows."""
    return np.asarray(RidgeCV().fit(found.oof, found.y_train).predict(found.test))


def drop_costs(found: Columns) -> dict[str, float]:
    """What the clean stack loses in test R2 when it has to do without one member, by member."""
    whole = clean(found).score
    rosters = {name: [one for one in found.names if one != name] for name in found.names}
    return {name: whole - clean(found.only(*roster)).score for name, roster in rosters.items()}


def training_scores(found: Columns) -> dict[str, float]:
    """R2 of each member on the rows it was fitted to."""
    return {name: r2_of(found.y_train, column) for name, column in zip(found.names, found.in_fold.T)}


def r2_of(y: Floats, predicted: Floats) -> float:
    """Share of variance explained."""
    return float(r2_score(y, predicted))


def error_correlation(found: Columns, target: Floats) -> Floats:
    """Correlation of the members' out-of-fold errors, shape (pairs,), counted from `target`, shape (n,)."""
    errors = found.oof - target[:, None]
    return np.asarray(np.corrcoef(errors.T)[np.triu_indices(len(found.names), 1)])


def noise_free(n_rows: int, seed: int) -> Floats:
    """The training targets of `friedman_split(n_rows, seed)` without their noise."""
    X, y = make_friedman1(n_rows, noise=0.0, random_state=seed)
    return np.asarray(train_test_split(X, y, random_state=seed, test_size=0.3)[2])


def average(found: Columns) -> float:
    """Test R2 of the plain mean of the members."""
    return float(r2_score(found.y_test, found.test.mean(axis=1)))


@cache
def post_columns(n_rows: int, n_trees: int, seed: int) -> Columns:
    """A set-up of the post: one seed for data and split, folds shuffled by seed 0."""
    return columns(members(n_trees), friedman_split(n_rows, seed))


def columns_of_3000_rows(seed: int) -> dict[str, Any]:
    """The post's first set-up on another data set and split."""
    return columns(members(200), friedman_split(3000, seed, seed)).as_lists()


def columns_of_2000_rows(seed: int) -> dict[str, Any]:
    """The post's second set-up on another data set and split."""
    return columns(members(100), friedman_split(2000, seed, seed)).as_lists()
