"""The search posts' spaces and grids, searches on real fits with the posts' own streams, and many-seed studies.

`real_*` reproduce what the posts ran: their random streams, their 5- or 3-seed sets, every score a fit (a
configuration is fitted once a session, and a study of 120 trials serves the smaller budgets by its prefix). The other
studies run our samplers on the interpolated problem of a data set.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from claims.experiments import friedman, landscape
from implementations.search.grid import Grid
from implementations.search.random_search import RandomSearch
from implementations.search.space import Float, Int, Space
from implementations.search.study import Sampler, Study
from implementations.search.tpe import TPE

DATA_SETS = (friedman.POST_SEED, *friedman.OTHER_SEEDS)

THREE = Space(
    {
        "learning_rate": Float(0.02, 0.25, log=True),
        "max_depth": Int(2, 5),
        "subsample": Float(0.6, 1.0),
    }
)
FOUR = Space({**THREE.parameters, "max_features": Float(0.5, 1.0)})
SIX = Space({**FOUR.parameters, "min_samples_leaf": Int(1, 8), "min_samples_split": Int(2, 16)})
SPACES = {"three": THREE, "four": FOUR, "six": SIX}

GRID_THREE = Grid(friedman.AXES_THREE)
GRID_SIX = Grid(friedman.AXES_SIX)
GRIDS = {"three": GRID_THREE, "six": GRID_SIX}


def inner_grid(shares: Sequence[float]) -> Grid:
    """A grid over the six parameters with values at these shares of each range, instead of its ends."""
    axes = {}
    for name, parameter in SIX.parameters.items():
        low, high = (float(parameter.coordinate(bound)) for bound in (parameter.low, parameter.high))
        axes[name] = [parameter.value(low + share * (high - low)) for share in shares]
    return Grid(axes)


SAMPLERS: dict[str, Sampler] = {"random": RandomSearch(), "tpe": TPE(), "univariate tpe": TPE(multivariate=False)}


class LegacyStream(np.random.RandomState):
    """NumPy's old generator under the new one's names: the posts' draws come from it."""

    integers = np.random.RandomState.randint


def one_stream(seed: int) -> Callable[[int], Any]:
    """A single old-style stream for all trials, as the posts' loops have it."""
    stream = LegacyStream(seed)
    return lambda _number: stream


# --- real fits ----------------------------------------------------------------------------------------------------


@cache
def real_random(space: str, seed: int, trials: int = 64) -> Study:
    """The grid post's random search: one stream, a draw a parameter."""
    study = Study(SPACES[space], RandomSearch(), maximise=True, streams=one_stream(seed))
    return study.run(friedman.score, trials)


@cache
def real_grid(space: str) -> Study:
    """The grid post's grids."""
    return Study(SPACES[space], GRIDS[space], maximise=True).run(friedman.score, len(GRIDS[space]))


def real_scores_of_three(seed: int) -> list[float]:
    """Scores of the trials of `real_random` over three parameters; `drawn_configs` are their configurations."""
    return [float(trial.value) for trial in real_random("three", seed).trials]


def drawn_configs(space: str, seed: int, trials: int = 64) -> list[dict[str, Any]]:
    """The configurations of `real_random` without a fit."""
    study = Study(SPACES[space], RandomSearch(), streams=one_stream(seed)).run(lambda _config: 0.0, trials)
    return [trial.config for trial in study.trials]


# --- the interpolated problem ---------------------------------------------------------------------------------------


def study(sampler: Sampler, seed: int, trials: int, *, data: int = friedman.POST_SEED, space: Space = FOUR) -> Study:
    """One study on the interpolated problem of a data set."""
    return Study(space, sampler, seed=seed, maximise=True).run(landscape.regressor(data), trials)


def curves(method: str, seeds: int, trials: int, data: int = friedman.POST_SEED, space: str = "four") -> np.ndarray:
    """Best score so far, seed by seed, (seeds, trials); methods with the same seed share their start-up trials."""
    return np.array([_curve(method, seed, int(trials), data, space) for seed in range(int(seeds))])


def _curve(method: str, seed: int, trials: int, data: int, space: str) -> list[float]:
    """The first trials of a study that goes on where a longer one is asked for."""
    study, problem = _growing(method, seed, data, space)
    study.run(problem, max(0, trials - len(study.trials)))
    return study.best_so_far()[:trials]


@cache
def _growing(method: str, seed: int, data: int, space: str) -> tuple[Study, landscape.Regressor]:
    return Study(SPACES[space], SAMPLERS[method], seed=seed, maximise=True), landscape.regressor(data)


def best(method: str, seeds: int, trials: int, data: int = friedman.POST_SEED, space: str = "four") -> np.ndarray:
    """Best score of each seed after `trials`, (seeds,)."""
    return curves(method, seeds, trials, data, space)[:, -1]


def grid_best(grid: Grid, data: int = friedman.POST_SEED) -> float:
    """Best score of a grid on the interpolated problem of a data set."""
    return float(landscape.regressor(data).many(grid.configs()).max())


def random_bests(space: Space, seeds: int, trials: int, data: int = friedman.POST_SEED) -> np.ndarray:
    """Best of random search on the interpolated problem, by seed, (seeds,): all trials of a seed scored at once."""
    draws = (_draws(space, seed, trials) for seed in range(seeds))
    return np.array([landscape.regressor(data).many(configs).max() for configs in draws])


def _draws(space: Space, seed: int, trials: int) -> list[dict[str, Any]]:
    """The configurations of a `Study` with this seed under `RandomSearch`."""
    return [space.draw(np.random.default_rng((seed, number))) for number in range(trials)]


@cache
def random_best(space: str, seeds: int, trials: int, data: int = friedman.POST_SEED) -> np.ndarray:
    """`random_bests` of a space by its name, once a session."""
    return random_bests(SPACES[space], seeds, trials, data)


def random_means(space: str, seeds: int, trials: int) -> list[float]:
    """Mean best of random search, data set by data set."""
    return [float(random_best(space, seeds, trials, data).mean()) for data in DATA_SETS]


def grid_bests(grid: Grid) -> list[float]:
    """Best of a grid, data set by data set."""
    return [grid_best(grid, data) for data in DATA_SETS]
