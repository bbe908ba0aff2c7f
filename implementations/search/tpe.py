"""The tree-structured Parzen estimator: draw from the density of good trials, keep what bad ones avoid.

Follows: Bergstra et al. (2011) with the settings of Optuna 5. After `n_startup` random trials: the best tenth (at most
25) of the finished trials are *good*, all others *bad*; a density is fitted to each; of 24 draws from the good one,
the draw with the greatest ratio good/bad is tried next. Only the order of the values enters. Maximising the ratio is
maximising expected improvement under the split: for a good share q it is proportional to 1 / (q + (1 - q) bad/good).

Pruned trials rank behind complete ones: those that got further first, then by the value at their last step. Running
trials count as bad, so that parallel workers do not crowd. Conditions are walked from the root: a parameter that
exists is chosen from the trials that had it.

Leaves out: several objectives, constraints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from implementations.search.parzen import Bandwidths, ParzenDensity
from implementations.search.space import Categorical, Config, Floats, Space
from implementations.search.study import History, State, Trial


def best_tenth(n: int) -> int:
    """How many of n finished trials are good: a tenth, rounded up, at most 25."""
    return min(math.ceil(0.1 * n), 25)


def split(history: History, n_good: int, *, liar: bool = True) -> tuple[list[Trial], list[Trial]]:
    """Good and bad trials, each in the order they were asked for; failed ones are in neither.

    Args:
        history: All trials.
        n_good: How many are good.
        liar: Whether running trials count as bad.

    Raises:
        ValueError: a negative number of good trials.
    """
    if n_good < 0:
        raise ValueError(f"{n_good} good trials; there must be at least 0")
    ranked = sorted(history.having(State.COMPLETE), key=history.loss)
    ranked += sorted(history.having(State.PRUNED), key=lambda trial: _how_far(history, trial))
    bad = ranked[n_good:] + (history.having(State.RUNNING) if liar else [])
    return sorted(ranked[:n_good], key=_number), sorted(bad, key=_number)


def _number(trial: Trial) -> int:
    return trial.number


def _how_far(history: History, trial: Trial) -> tuple[float, float]:
    if not trial.reports:
        return 1.0, 0.0
    step, value = max(trial.reports.items())
    return -step, math.inf if math.isnan(value) else history.sign * value


@dataclass(frozen=True)
class TPE:
    """The sampler.

    Args:
        n_startup: Finished trials before the densities choose.
        n_candidates: Draws from the good density.
        n_good: Number of good trials among n finished ones.
        multivariate: Whether unconditional parameters share one density, instead of one each.
        grouped: Whether parameters under the same condition share one too; needs `multivariate`.
        liar: Whether running trials count as bad.
        bandwidths: Of the densities.

    Raises:
        ValueError: no candidate, a negative number of start-up trials, or groups without `multivariate`.
    """

    n_startup: int = 10
    n_candidates: int = 24
    n_good: Callable[[int], int] = best_tenth
    multivariate: bool = True
    grouped: bool = False
    liar: bool = True
    bandwidths: Bandwidths = field(default_factory=Bandwidths)

    def __post_init__(self) -> None:
        if not self.n_candidates >= 1:
            raise ValueError(f"{self.n_candidates} candidates; draw at least 1")
        if not self.n_startup >= 0:
            raise ValueError(f"{self.n_startup} start-up trials; there must be at least 0")
        if self.grouped and not self.multivariate:
            raise ValueError("grouped parameters share a density; set multivariate=True")

    def propose(self, history: History, rng: np.random.Generator) -> Config:
        """A random configuration at first, then block by block the best draw by the ratio of the densities."""
        finished = history.having(State.COMPLETE, State.PRUNED)
        if len(finished) < self.n_startup:
            return history.space.draw(rng)
        good, bad = split(history, self.n_good(len(finished)), liar=self.liar)
        config: Config = {}
        for block in self.blocks(history.space):
            if history.space.active(block[0], config):
                config.update(self._choose(history.space, block, good, bad, rng))
        return {name: config[name] for name in history.space.parameters if name in config}

    def blocks(self, space: Space) -> list[tuple[str, ...]]:
        """Parameters that share a density, parents before their children."""
        if not self.multivariate:
            return [(name,) for name in space.parameters]
        free = tuple(name for name in space.parameters if name not in space.conditions)
        bound = [name for name in space.parameters if name in space.conditions]
        if not self.grouped:
            return [free, *((name,) for name in bound)]
        conditions = dict.fromkeys(space.conditions[name] for name in bound)
        return [free, *(tuple(n for n in bound if space.conditions[n] == one) for one in conditions)]

    def _choose(
        self, space: Space, block: Sequence[str], good: Iterable[Trial], bad: Iterable[Trial], rng: np.random.Generator
    ) -> Config:
        better, worse = (self.density(space, block, trials) for trials in (good, bad))
        candidates = better.draw(self.n_candidates, rng)
        best = int(np.argmax(better.log_density(candidates) - worse.log_density(candidates)))
        return {name: _plain(space, name, float(candidates[name][best])) for name in block}

    def density(self, space: Space, block: Sequence[str], trials: Iterable[Trial]) -> ParzenDensity:
        """The density of the given parameters over those trials that have all of them."""
        having = [trial.config for trial in trials if all(name in trial.config for name in block)]
        observations = {name: _numbers(space, name, [config[name] for config in having]) for name in block}
        return ParzenDensity({name: space.parameters[name] for name in block}, observations, self.bandwidths)


def _numbers(space: Space, name: str, values: Sequence[Any]) -> Floats:
    parameter = space.parameters[name]
    if isinstance(parameter, Categorical):
        values = [parameter.coordinate(value) for value in values]
    return np.array(values, dtype=float)


def _plain(space: Space, name: str, value: float) -> Any:
    """A drawn number as the parameter's own kind of value."""
    parameter = space.parameters[name]
    if isinstance(parameter, Categorical):
        return parameter.value(value)
    return parameter.value(float(parameter.coordinate(value)))
