"""Searches of the Bayesian-optimisation post: its own on real fits, and the forest surrogate on interpolated problems.

A forest of 60 trees takes about 20 ms a trial, so every study here runs once a session.
"""

from functools import cache
from typing import Any

import numpy as np

from claims.experiments import friedman, landscape
from claims.experiments.searches import FOUR, one_stream
from implementations.search.acquisition import expected_improvement
from implementations.search.forest_ucb import forest_ucb, tree_spread
from implementations.search.random_search import RandomSearch
from implementations.search.space import Config, Float, Floats, Space
from implementations.search.study import Study, Trial
from implementations.search.surrogate import Prediction, SurrogateSearch, ucb

BUDGETS = (20, 50, 120)

# The post's own coordinates: the rate by its logarithm, and a real depth that is rounded afterwards.
POST_BOX = Space(
    {
        "log_rate": Float(float(np.log(0.02)), float(np.log(0.25))),
        "depth": Float(2.0, 5.0),
        "subsample": Float(0.6, 1.0),
        "max_features": Float(0.5, 1.0),
    }
)


def regressor_config(point: Config) -> Config:
    """The regressor's parameters at a point of the post's box."""
    return {
        "learning_rate": float(np.exp(point["log_rate"])),
        "max_depth": round(point["depth"]),
        "subsample": point["subsample"],
        "max_features": point["max_features"],
    }


def forest() -> Any:
    """The post's surrogate."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=0, min_samples_leaf=2, n_estimators=60)


# --- real fits ----------------------------------------------------------------------------------------------------


@cache
def real_forest(seed: int, trials: int = 50) -> Study:
    """The post's surrogate search with the post's stream."""
    study = Study(POST_BOX, forest_ucb(forest), maximise=True, streams=one_stream(seed))
    return study.run(lambda point: friedman.score(regressor_config(point)), trials)


@cache
def real_box_random(seed: int, trials: int = 50) -> Study:
    """The post's random search beside it: the first draws of the same stream."""
    study = Study(POST_BOX, RandomSearch(), maximise=True, streams=one_stream(seed))
    return study.run(lambda point: friedman.score(regressor_config(point)), trials)


@cache
def real_optuna(sampler: str, seed: int) -> list[float]:
    """Best score after each trial of the post's Optuna study; the smaller budgets are its prefixes."""
    return [float(value) for value in np.maximum.accumulate(real_scores(sampler, seed, BUDGETS[-1]))]


def real_tpe(seed: int) -> list[float]:
    """`real_optuna` of Optuna's TPE."""
    return real_optuna("TPESampler", seed)


def real_random(seed: int) -> list[float]:
    """`real_optuna` of Optuna's random sampler."""
    return real_optuna("RandomSampler", seed)


def real_scores(sampler: str, seed: int, trials: int) -> list[float]:
    """Scores of the first trials of the post's Optuna study."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=getattr(optuna.samplers, sampler)(seed=seed))

    def objective(trial: Any) -> float:
        return friedman.score(
            {
                "learning_rate": trial.suggest_float("lr", 0.02, 0.25, log=True),
                "max_depth": trial.suggest_int("depth", 2, 5),
                "subsample": trial.suggest_float("sub", 0.6, 1.0),
                "max_features": trial.suggest_float("mf", 0.5, 1.0),
            }
        )

    study.optimize(objective, n_trials=trials)
    return [float(trial.value) for trial in study.trials]


# --- the interpolated problem --------------------------------------------------------------------------------------


class QuickForest:
    """The post's forest without the library's work around its trees: the same 60 trees in half the time.

    bayes.ucb-rule holds its predictions against the library's own forest.
    """

    def __init__(self) -> None:
        self.estimators_: list[QuickTree] = []

    def fit(self, X: Floats, y: Floats) -> None:
        """Each tree gets a seed of the forest's stream and a bootstrap sample from its own."""
        from sklearn import config_context
        from sklearn.tree import DecisionTreeRegressor

        rows, stream = X.astype(np.float32), np.random.RandomState(0)
        with config_context(skip_parameter_validation=True, assume_finite=True):
            for _ in range(60):
                seed = stream.randint(np.iinfo(np.int32).max)
                drawn = np.random.RandomState(seed).randint(0, len(rows), len(rows))
                weights = np.bincount(drawn, minlength=len(rows)).astype(float)
                tree = DecisionTreeRegressor(min_samples_leaf=2, max_features=1.0, random_state=seed)
                self.estimators_.append(QuickTree(tree.fit(rows, y, weights, check_input=False).tree_))


class QuickTree:
    """A fitted tree that does not check what it is asked about."""

    def __init__(self, tree: Any) -> None:
        self._tree = tree

    def predict(self, X: Floats) -> Floats:
        """Predictions, (n, d) -> (n,)."""
        answers: Floats = self._tree.predict(X.astype(np.float32))[:, 0]
        return answers


def fit(points: Floats, values: Floats) -> Prediction:
    """The post's forest, quickly."""
    return tree_spread(QuickForest)(points, values)


def forest_study(
    seed: int,
    *,
    kappa: float = 1.5,
    n_startup: int = 8,
    rule: str = "ucb",
    trials: int = 50,
    data: int = friedman.POST_SEED,
) -> Study:
    """The forest surrogate with one of its settings changed; `rule` is `ucb` or `ei`."""
    return _forest_study(seed, kappa, n_startup, rule, trials, data)


@cache  # by all settings, whether they were named or left as they are
def _forest_study(seed: int, kappa: float, n_startup: int, rule: str, trials: int, data: int) -> Study:
    search = SurrogateSearch(fit, ucb(kappa) if rule == "ucb" else expected_improvement, n_startup)
    return Study(FOUR, search, seed=seed, maximise=True).run(landscape.regressor(data), trials)


def forest_best(seeds: int, **changes: Any) -> list[float]:
    """Best score of each seed, (seeds,)."""
    return [forest_study(seed, **changes).best.value or 0.0 for seed in range(seeds)]


@cache
def batched_best(seed: int, batch: int, trials: int = 50, n_startup: int = 8) -> float:
    """Best score where the forest is fitted once a batch and its most promising candidates are all evaluated."""
    problem, acquire = landscape.regressor(), ucb(1.5)
    rng = np.random.default_rng((seed, batch))
    study = Study(FOUR, RandomSearch(), seed=seed, maximise=True).run(problem, n_startup)
    low, high = FOUR.box
    while len(study.trials) < trials:
        points, values = observed(study.trials)
        candidates = rng.uniform(low, high, size=(400, len(low)))
        worth = acquire(*fit(points, values)(candidates), float(values.max()))
        for index in np.argsort(worth)[::-1][: min(batch, trials - len(study.trials))]:
            config = FOUR.config(candidates[index])
            study.add(config, problem(config))
    return float(study.best.value or 0.0)


def observed(trials: list[Trial]) -> tuple[Floats, Floats]:
    """Points and values of complete trials, (n, d), (n,)."""
    return np.array([FOUR.point(trial.config) for trial in trials]), np.array([trial.value for trial in trials])


def unit(trials: list[Trial]) -> Floats:
    """Places of trials in the unit cube, (n, d)."""
    low, high = FOUR.box
    return (np.array([FOUR.point(trial.config) for trial in trials]) - low) / (high - low)


@cache
def fresh(n: int = 500, data: int = friedman.POST_SEED, seed: int = 10_000) -> tuple[Floats, Floats]:
    """Random points and their noiseless scores, (n, d), (n,)."""
    rng = np.random.default_rng(seed)
    configs = [FOUR.draw(rng) for _ in range(n)]
    return np.array([FOUR.point(config) for config in configs]), landscape.regressor(data).smooth(configs)


def fitted(trials: list[Trial]) -> Prediction:
    """The forest surrogate of some trials."""
    return fit(*observed(trials))
