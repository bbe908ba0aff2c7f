"""The boosted classifier of the pruning post, grown forty trees at a time, and a table of its loss curves.

The data set, the split, the model and the five reports are the post's own. A full curve takes about half a second, so
the statistics over many seeds run on `pruned_classifier_curves.csv`: configurations drawn at random and grown to the
end, on the post's data set and on two others. `python -m claims.experiments.pruned_classifier` writes it again.
"""

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

POST_SEED = 42
OTHER_SEEDS = (0, 1)
STEPS = (40, 80, 120, 160, 200)
TABLE = Path(__file__).with_name("pruned_classifier_curves.csv")
COLUMNS = ("learning_rate", "max_depth", "subsample")
ROWS = {POST_SEED: 240, **dict.fromkeys(OTHER_SEEDS, 120)}
# The post's data: rows in all, what they are made of, and the share that validates.
ALL_ROWS, HELD_OUT = 1500, 0.3
PROBLEM = {"n_informative": 6, "n_features": 15, "flip_y": 0.03}

Config = Mapping[str, Any]


@cache
def data(seed: int = POST_SEED) -> tuple[Any, Any, Any, Any]:
    """Training and validation part, 1,050 and 450 rows: X, X, y, y."""
    from sklearn import datasets, model_selection

    X, y = datasets.make_classification(ALL_ROWS, random_state=seed, **PROBLEM)
    return tuple(model_selection.train_test_split(X, y, stratify=y, random_state=seed, test_size=HELD_OUT))


def model(config: Config, n_estimators: int, *, warm_start: bool = True) -> Any:
    """The classifier of the post."""
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=n_estimators, random_state=0, warm_start=warm_start, **config)


def grown(config: Config, seed: int = POST_SEED, steps: tuple[int, ...] = STEPS) -> Iterator[tuple[int, float]]:
    """Validation log loss at each number of trees, each grown on from the one before."""
    from sklearn.metrics import log_loss

    X_train, X_valid, y_train, y_valid = data(seed)
    growing = model(config, steps[0])
    for step in steps:
        growing.set_params(n_estimators=step)
        growing.fit(X_train, y_train)
        yield step, float(log_loss(y_valid, growing.predict_proba(X_valid)[:, 1]))


def table(seed: int = POST_SEED) -> tuple[np.ndarray, np.ndarray]:
    """Grown configurations of one data set: columns as `COLUMNS`, shape (n, 3), and their losses, shape (n, 5)."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [[float(text) for text in row] for row in list(csv.reader(file))[1:]]
    own = np.array([row[1:] for row in rows if row[0] == seed])
    if not len(own):
        raise ValueError(f"no data set {seed} in {TABLE.name}; it holds {sorted({int(row[0]) for row in rows})}")
    return own[:, : len(COLUMNS)], own[:, len(COLUMNS) :]


def draws(seed: int) -> Iterator[dict[str, Any]]:
    """The configurations of the table, from the post's search space."""
    rng = np.random.default_rng(seed)
    for _ in range(ROWS[seed]):
        yield {
            "learning_rate": float(f"{np.exp(rng.uniform(np.log(0.01), np.log(0.3))):.5g}"),
            "max_depth": int(rng.integers(2, 6)),
            "subsample": round(float(rng.uniform(0.6, 1.0)), 4),
        }


def write_table(path: Path = TABLE) -> None:
    """Grow every configuration of every data set; takes about six minutes."""
    from sklearn import config_context

    with path.open("w", encoding="utf-8", newline="") as file, config_context(skip_parameter_validation=True):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["data", *COLUMNS, *STEPS])
        for seed in ROWS:
            for config in draws(seed):
                curve = (f"{loss:.6f}" for _, loss in grown(config, seed))
                rows.writerow([seed, *(config[name] for name in COLUMNS), *curve])


if __name__ == "__main__":
    write_table()
