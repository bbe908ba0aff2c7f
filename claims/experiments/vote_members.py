"""The voting post's classifiers, fitted once a data set: what each says of rows set aside, and of test rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets, model_selection
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from implementations.ensembles.blending import likelihoods

Floats = NDArray[np.float64]
POST_SEED = 42


def four() -> dict[str, Any]:
    """The post's members, by name."""
    return {
        "logreg": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(150, random_state=0),
        "boosting": GradientBoostingClassifier(random_state=0, n_estimators=120),
        "knn": KNeighborsClassifier(15),
    }


def twelve() -> dict[str, Any]:
    """The four and the eight that the blending sweep adds."""
    return {
        **four(),
        "extra trees": ExtraTreesClassifier(150, random_state=0),
        "naive bayes": GaussianNB(),
        "tree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
        "tree of depth 8": DecisionTreeClassifier(max_depth=8, random_state=0),
        "knn 3": KNeighborsClassifier(3),
        "knn 50": KNeighborsClassifier(50),
        "shallow forest": RandomForestClassifier(150, max_depth=5, random_state=1),
        "stumps": GradientBoostingClassifier(random_state=1, n_estimators=120, max_depth=1),
    }


@dataclass(frozen=True)
class Rows:
    """The three parts of one data set."""

    X_train: Floats
    X_pool: Floats
    X_test: Floats
    y_train: NDArray[np.intp]
    y_pool: NDArray[np.intp]
    y_test: NDArray[np.intp]


@dataclass(frozen=True)
class Said:
    """Probability of class 1, one column a member, of the pool and of the test rows.

    `refitted` holds what the first four say of the test rows when pool and training rows were theirs to learn from;
    it is empty where that was not asked for.
    """

    names: tuple[str, ...]
    y_pool: NDArray[np.intp]
    y_test: NDArray[np.intp]
    pool: Floats
    test: Floats
    refitted: Floats

    def only(self, members: int | Iterable[int]) -> Said:
        """The same for the first so many members, or for those at some places."""
        at = list(range(members)) if isinstance(members, int) else list(members)
        names = tuple(self.names[i] for i in at)
        return Said(names, self.y_pool, self.y_test, self.pool[:, at], self.test[:, at], self.refitted)


def rows(seed: int = POST_SEED) -> Rows:
    """9,000 rows, cut twice as the post does: six tenths off, then half of those."""
    shape = {"n_features": 25, "n_informative": 10, "n_redundant": 5}
    X, y = datasets.make_classification(9000, **shape, flip_y=0.03, random_state=seed)
    cut = partial(model_selection.train_test_split, random_state=seed)
    X_train, X_rest, y_train, y_rest = cut(X, y, stratify=y, test_size=0.6)
    X_pool, X_test, y_pool, y_test = cut(X_rest, y_rest, stratify=y_rest, test_size=0.5)
    return Rows(X_train, X_pool, X_test, y_train, y_pool, y_test)


@cache
def said(seed: int = POST_SEED, refit: bool = False) -> Said:
    """Fit the twelve, and the first four once more on training and pool rows together if `refit`."""
    data = rows(seed)
    pool, test = [], []
    for member in twelve().values():
        model = clone(member).fit(data.X_train, data.y_train)
        pool.append(model.predict_proba(data.X_pool)[:, 1])
        test.append(model.predict_proba(data.X_test)[:, 1])
    again = refitted(data) if refit else np.empty((len(data.y_test), 0))
    return Said(tuple(twelve()), data.y_pool, data.y_test, np.column_stack(pool), np.column_stack(test), again)


def refitted(data: Rows) -> Floats:
    """What the four say of the test rows once the pool is theirs too, shape (n, 4)."""
    X, y = np.vstack([data.X_train, data.X_pool]), np.concatenate([data.y_train, data.y_pool])
    return np.column_stack([clone(one).fit(X, y).predict_proba(data.X_test)[:, 1] for one in four().values()])


def said_as_lists(seed: int) -> dict[str, Any]:
    """`said` with the refits, in a form that JSON holds."""
    return {key: np.asarray(value).tolist() for key, value in vars(said(seed, refit=True)).items()}


def said_from_lists(lists: dict[str, Any]) -> Said:
    """The other way."""
    return Said(tuple(lists["names"]), *(np.array(lists[key]) for key in list(Said.__dataclass_fields__)[1:]))


def accuracy(probabilities: Floats, labels: NDArray[np.intp]) -> Any:
    """Share of rows right when more than one half means class 1: (n,) -> number, (n, m) -> (m,)."""
    return ((probabilities > 0.5) == (labels == 1).reshape(-1, *[1] * (probabilities.ndim - 1))).mean(axis=0)


def loss(probabilities: Floats, labels: NDArray[np.intp]) -> Any:
    """Log loss as scikit-learn has it, certain errors cut off at the precision of a float: (n[, m]) -> number[s]."""
    table = probabilities.reshape(len(labels), -1)
    precision = np.finfo(np.float64).eps
    right = np.where((labels == 1)[:, None], table, 1 - table)
    losses = -np.log(np.clip(right, precision, 1 - precision)).mean(axis=0)
    return losses if probabilities.ndim == 2 else float(losses[0])


def pool_likelihoods(found: Said) -> Floats:
    """What blending sees of the pool, shape (n, members)."""
    return likelihoods(found.pool, found.y_pool)


def test_likelihoods(found: Said) -> Floats:
    """The same of the test rows."""
    return likelihoods(found.test, found.y_test)
