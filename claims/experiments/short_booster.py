"""A gradient booster as short as a post's: everything but the regression trees, which are scikit-learn's."""

# ruff: noqa: D103 - the line count is the claim; what each function does is in its name

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor

Floats = NDArray[np.float64]


def boost(X: Floats, y: Floats, trees: int, rate: float, depth: int, ties: Any, classify: bool) -> Any:
    mean = y.mean()
    start = np.log(mean / (1 - mean)) if classify else mean
    score, stages = np.full(len(y), start), []
    for _ in range(trees):
        guess = expit(score) if classify else score
        residual = y - guess
        tree = DecisionTreeRegressor(max_depth=depth, random_state=ties).fit(X, residual)
        leaf = tree.apply(X)
        pull = np.bincount(leaf, weights=residual)
        resistance = np.bincount(leaf, weights=guess * (1 - guess) if classify else None)
        step = np.divide(rate * pull, resistance, out=np.zeros_like(pull), where=resistance > 1e-150)
        score = score + step[leaf]
        stages.append((tree, step))
    return start, stages


def score_of(model: Any, X: Floats) -> Floats:
    start, stages = model
    score = np.full(len(X), start)
    for tree, step in stages:
        score = score + step[tree.apply(X)]
    return score


def line_count() -> int:
    """Lines of `boost` and `score_of`, and the three imports they need."""
    source = inspect.getsource(boost) + inspect.getsource(score_of)
    return 3 + sum(bool(line.strip()) and not line.strip().startswith("#") for line in source.splitlines())
