"""Small generated data sets; values are what a float32 can hold, since libraries round their inputs to it."""

import numpy as np


def rounded(X):
    """X as a library that keeps float32 sees it."""
    return np.asarray(X, dtype=np.float32).astype(np.float64)


def regression(n=300, features=6, seed=0, noise=1.0):
    """A smooth surface with an interaction, and noise."""
    rng = np.random.default_rng(seed)
    X = rounded(rng.random((n, features)))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + noise * rng.normal(size=n)


def classification(n=300, features=6, seed=0):
    """Labels 0 and 1 that lean on an interaction."""
    rng = np.random.default_rng(seed)
    X = rounded(rng.normal(size=(n, features)))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(float)


def holed(X, seed=0, share=0.2):
    """X with a share of its values missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def uneven_weights(n, seed=0):
    """Row weights that make it next to impossible for two splits to gain the same."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n)
