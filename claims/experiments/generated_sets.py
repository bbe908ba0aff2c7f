"""Generated data that stand in for those of the boosting posts, which are not public.

A seed draws the population and the rows, so that each seed is a data set of its own. Values are what a float32 can
hold, since the libraries round their inputs to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_friedman1

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """Rows and their targets."""

    X: Floats
    y: Floats

    def __len__(self) -> int:
        return len(self.y)


def parts(X: Floats, y: Floats, sizes: tuple[int, ...]) -> list[Part]:
    """Consecutive parts of these sizes."""
    ends = np.cumsum(sizes)
    rounded = np.asarray(X, dtype=np.float32).astype(np.float64)
    return [Part(rounded[end - size : end], np.asarray(y, float)[end - size : end]) for end, size in zip(ends, sizes)]


def two_classes(
    seed: int,
    sizes: tuple[int, ...],
    *,
    features: int = 20,
    informative: int = 8,
    flipped: float = 0.1,
    sep: float = 1.0,
) -> list[Part]:
    """Clusters on the corners of a cube, four redundant columns, a share of the labels drawn at random."""
    X, y = make_classification(
        sum(sizes),
        n_features=features,
        n_informative=informative,
        n_redundant=min(4, features - informative),
        flip_y=flipped,
        class_sep=sep,
        random_state=seed,
    )
    return parts(X, y, sizes)


def surface(seed: int, sizes: tuple[int, ...], *, noise: float = 1.0) -> list[Part]:
    """Friedman's first function of five of ten features, plus normal noise."""
    X, y = make_friedman1(sum(sizes), n_features=10, noise=noise, random_state=seed)
    return parts(X, y, sizes)


def cut_surface(seed: int, sizes: tuple[int, ...], *, noise: float = 2.0) -> list[Part]:
    """Friedman's first function with noise, cut at its median into two classes."""
    X, y = make_friedman1(sum(sizes), n_features=10, noise=noise, random_state=seed)
    return parts(X, (y > np.median(y)).astype(float), sizes)


def ripples(seed: int, sizes: tuple[int, ...]) -> list[Part]:
    """Two classes by the sign of a wave of period 0.16 along one feature: structure finer than 15 bins."""
    rng = np.random.default_rng(seed)
    X = rng.random((sum(sizes), 10))
    score = np.sin(40 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.5, size=len(X))
    return parts(X, (score > 0.5).astype(float), sizes)


def with_flips(part: Part, share: float, seed: int) -> Part:
    """Exactly this share of the labels turned round."""
    rng = np.random.default_rng(seed)
    turned = rng.choice(len(part), round(share * len(part)), replace=False)
    y = part.y.copy()
    y[turned] = 1 - y[turned]
    return Part(part.X, y)


def log_loss(y: Floats, p: Floats) -> float:
    """Mean negative log likelihood, probabilities kept off 0 and 1 by 1e-15."""
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)))


def auc(y: Floats, score: Floats) -> float:
    """Area under the ROC curve: the share of pairs in the right order, ties counting one half."""
    from scipy.stats import rankdata

    ranks, positive = rankdata(score), y == 1
    n1, n0 = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def moons(seed: int, sizes: tuple[int, ...], *, noise: float = 0.3) -> list[Part]:
    """Two half circles in each other's way."""
    from sklearn.datasets import make_moons

    X, y = make_moons(sum(sizes), noise=noise, random_state=seed)
    return parts(X, y, sizes)
