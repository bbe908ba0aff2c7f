"""Grid search, and how fast its resolution falls with the number of parameters.

Follows: the full factorial design: every combination of the values chosen for each axis, in the order of nested loops
with the last axis innermost. A budget of n trials over d axes allows n^(1/d) values on each.

Leaves out: grids over spaces with conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from implementations.search.space import Config, Space
from implementations.search.study import Exhausted, History


def resolution(n_trials: int, n_parameters: int) -> float:
    """Values per axis that a budget allows, n^(1/d), as a real number.

    Raises:
        ValueError: no trial or no parameter.
    """
    if not (n_trials >= 1 and n_parameters >= 1):
        raise ValueError(f"{n_trials} trials over {n_parameters} parameters; both must be at least 1")
    return float(n_trials ** (1.0 / n_parameters))


def values_per_axis(n_trials: int, n_parameters: int) -> int:
    """Whole values per axis that a budget allows.

    Raises:
        ValueError: fewer than two, so that there is no grid to build; says how many parameters there could be.
    """
    values = math.floor(resolution(n_trials, n_parameters) + 1e-9)
    if values < 2:
        most = int(math.log2(n_trials))
        raise ValueError(f"{n_trials} trials over {n_parameters} parameters leave {values} value each; at most {most}")
    return values


def axes_of(space: Space, levels: int | Mapping[str, int]) -> dict[str, list[Any]]:
    """Evenly spread values for each parameter of a space.

    Args:
        space: Without conditions.
        levels: Values per axis, one number for all or one a parameter.

    Raises:
        ValueError: the space has conditions, fewer than one level, or levels for other parameters than the space's.
    """
    if space.conditions:
        raise ValueError(f"a grid over a space with conditions ({', '.join(space.conditions)}) is not defined")
    wanted = dict(levels) if isinstance(levels, Mapping) else dict.fromkeys(space.parameters, levels)
    if odd := [name for name in (*space.parameters, *wanted) if (name in wanted) != (name in space.parameters)]:
        raise ValueError(f"levels {wanted}: {odd[0]!r} is {'extra' if odd[0] in wanted else 'missing'}")
    if low := [name for name, n in wanted.items() if n < 1]:
        raise ValueError(f"{wanted[low[0]]} levels for {low[0]!r}; give at least 1")
    return {name: one.spread(wanted[name]) for name, one in space.parameters.items()}


@dataclass(frozen=True)
class Grid:
    """A sampler that walks through every combination once.

    Args:
        axes: Values by parameter.

    Raises:
        ValueError: no axis, an axis without values, or one text in place of a list of values.
    """

    axes: Mapping[str, Sequence[Any]]

    def __post_init__(self) -> None:
        if not self.axes or not all(len(values) and not isinstance(values, str) for values in self.axes.values()):
            raise ValueError(f"axes {dict(self.axes)}; each needs a list of at least one value")

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.axes.values())

    def configs(self) -> list[Config]:
        """All combinations, the last axis fastest."""
        return [dict(zip(self.axes, values)) for values in product(*self.axes.values())]

    def at(self, number: int) -> Config:
        """The combination of one trial, without listing those before it.

        Raises:
            Exhausted: the grid has no such trial.
            ValueError: `number` is negative.
        """
        if number < 0:
            raise ValueError(f"trial {number}; trials count from 0")
        if number >= len(self):
            raise Exhausted(f"trial {number} of a grid of {len(self)}")
        config = {}
        for name, values in reversed(list(self.axes.items())):
            number, place = divmod(number, len(values))
            config[name] = values[place]
        return dict(reversed(config.items()))

    def propose(self, history: History, rng: np.random.Generator) -> Config:  # noqa: ARG002 - a sampler's arguments
        """The next combination; results play no part."""
        return self.at(len(history.trials))
