"""The boosted regressor that the search posts tune, and a table of its scores.

The objective is the posts' own: mean 3-fold R² of 60 boosted trees on the training part of `make_friedman1`. A score
takes about 0.15 s, so the statistics over many seeds run on `friedman_scores.csv`: configurations drawn at random, and
the posts' grid over six parameters, whose points are corners that random draws do not come near; each scored once, on
the posts' data set and on eleven others (see `landscape`). `python -m claims.experiments.friedman` writes it again.
"""

import csv
import itertools
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

POST_SEED = 42
# The posts' data: rows in all, the noise's standard deviation, and the share that is kept for the end.
ALL_ROWS, NOISE, HELD_OUT = 800, 1.0, 0.3
OTHER_SEEDS = tuple(range(11))
TABLE = Path(__file__).with_name("friedman_scores.csv")
COLUMNS = ("learning_rate", "max_depth", "subsample", "max_features", "min_samples_leaf", "min_samples_split")
# What the regressor does where a search leaves a parameter alone.
DEFAULTS = {"subsample": 1.0, "max_features": 1.0, "min_samples_leaf": 1, "min_samples_split": 2}
DRAWN = {POST_SEED: 420, **dict.fromkeys(OTHER_SEEDS, 180)}
# The posts' two grids of 64 trials.
AXES_THREE = {
    "learning_rate": (0.02, 0.05, 0.11, 0.25),
    "max_depth": (2, 3, 4, 5),
    "subsample": (0.6, 0.75, 0.9, 1.0),
}
AXES_SIX = {
    "learning_rate": (0.05, 0.25),
    "max_depth": (2, 5),
    "subsample": (0.6, 1.0),
    "max_features": (0.5, 1.0),
    "min_samples_leaf": (1, 8),
    "min_samples_split": (2, 16),
}

Config = Mapping[str, Any]


@cache
def data(seed: int = POST_SEED) -> tuple[Any, Any]:
    """The 560 training rows that the posts score on, or those of another draw of the same problem."""
    from sklearn import datasets, model_selection

    X, y = datasets.make_friedman1(random_state=seed, n_samples=ALL_ROWS, noise=NOISE)
    training, _, targets, _ = model_selection.train_test_split(X, y, random_state=seed, test_size=HELD_OUT)
    return training, targets


def score(config: Config, seed: int = POST_SEED) -> float:
    """Mean R² over the three folds; a configuration is fitted once a session."""
    return _score(tuple(sorted({**DEFAULTS, **config}.items())), seed)


@cache
def _score(config: tuple[tuple[str, Any], ...], seed: int) -> float:
    return cross_validated(dict(config), seed)


def cross_validated(config: Config, seed: int = POST_SEED, *, model_seed: int = 0, fold_seed: int = 0) -> float:
    """The score without the memory, with the seeds that the posts hold fixed."""
    from sklearn import config_context
    from sklearn.model_selection import cross_val_score

    X, y = data(seed)
    with config_context(skip_parameter_validation=True):
        return float(cross_val_score(model(config, model_seed), X, y, cv=folds(fold_seed), scoring="r2").mean())


def model(config: Config, seed: int = 0) -> Any:
    """The regressor of the posts."""
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(n_estimators=60, random_state=seed, **config)


def folds(seed: int = 0) -> Any:
    """The posts' three folds."""
    from sklearn.model_selection import KFold

    return KFold(3, shuffle=True, random_state=seed)


def table(seed: int = POST_SEED) -> tuple[np.ndarray, np.ndarray]:
    """Scored configurations of one data set: columns as `COLUMNS`, shape (n, 6), and their scores, shape (n,)."""
    rows = np.array([[float(row[name]) for name in ("data", *COLUMNS, "r2")] for row in _read()])
    own = rows[rows[:, 0] == seed]
    if not len(own):
        raise ValueError(f"no data set {seed} in {TABLE.name}; it holds {sorted({int(row) for row in rows[:, 0]})}")
    return own[:, 1:-1], own[:, -1]


@cache
def _read() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def draws(seed: int) -> Iterator[dict[str, Any]]:
    """The table's: three, four and six free parameters in turn, a fifth with any rate; then the grid of corners."""
    rng = np.random.default_rng(seed)
    for i in range(DRAWN[seed]):
        low, high = (0.001, 0.3) if rng.random() < 0.2 else (0.02, 0.25)
        config = {
            "learning_rate": float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.5g}"),
            "max_depth": int(rng.integers(2, 6)),
            "subsample": 1.0 if rng.random() < 0.1 else round(float(rng.uniform(0.6, 1.0)), 4),
        }
        others = {
            "max_features": round(float(rng.uniform(0.5, 1.0)), 4),
            "min_samples_leaf": int(rng.integers(1, 9)),
            "min_samples_split": int(rng.integers(2, 17)),
        }
        free = list(others)[: (0, 1, 3)[i % 3]]
        yield {**DEFAULTS, **config, **{name: others[name] for name in free}}
    for values in itertools.product(*AXES_SIX.values()):
        yield dict(zip(AXES_SIX, values))


def write_table(path: Path = TABLE) -> None:
    """Score every configuration of every data set; takes about eight minutes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["data", *COLUMNS, "r2"])
        for seed in DRAWN:
            for config in draws(seed):
                rows.writerow([seed, *(config[name] for name in COLUMNS), f"{score(config, seed):.6f}"])


if __name__ == "__main__":
    write_table()
