"""Small search problems with a known shape, for our samplers and for Optuna's."""

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from implementations.search.space import Categorical, Float, Int, Space

Config = Mapping[str, Any]

MIXED = Space(
    {
        "kind": Categorical(("a", "b", "c")),
        "layers": Int(1, 6),
        "rate": Float(1e-4, 1.0, log=True),
        "share": Float(0.0, 1.0, step=0.125),
        "x": Float(-2.0, 3.0),
    }
)


def mixed_loss(config: Config) -> float:
    """A bowl over all five parameters, smallest 0."""
    level = {"a": 0.0, "b": 0.5, "c": 1.0}[config["kind"]]
    bowl = (math.log10(config["rate"]) + 2) ** 2 + (config["share"] - 0.5) ** 2 + (config["x"] - 1) ** 2
    return float(level + 0.2 * abs(config["layers"] - 3) + bowl)


def suggest(trial: Any, space: Space) -> dict[str, Any]:
    """One configuration of a space, asked of an Optuna trial."""

    def value(name: str) -> Any:
        one = space.parameters[name]
        if isinstance(one, Categorical):
            return trial.suggest_categorical(name, one.choices)
        if isinstance(one, Int):
            return trial.suggest_int(name, one.low, one.high, log=one.log)
        return trial.suggest_float(name, one.low, one.high, log=one.log, step=one.step)

    return space.walk(value)


def optuna_study(sampler: str, seed: int, **kwargs: Any) -> Any:
    """An Optuna study in memory, silent; `sampler` is `TPESampler` or `RandomSampler`."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed), **kwargs)


def optuna_trials(
    sampler: str, seed: int, objective: Callable[[Config], float], n_trials: int, space: Space = MIXED
) -> list[dict[str, Any]]:
    """The configurations of one Optuna study."""
    study = optuna_study(sampler, seed)
    study.optimize(lambda trial: objective(suggest(trial, space)), n_trials=n_trials)
    return [trial.params for trial in study.trials]


def hartmann6(config: Config) -> float:
    """The six-dimensional function of Hartmann over the unit cube, smallest -3.32237."""
    alpha = (1.0, 1.2, 3.0, 3.2)
    widths = (
        (10, 3, 17, 3.5, 1.7, 8),
        (0.05, 10, 17, 0.1, 8, 14),
        (3, 3.5, 1.7, 10, 17, 8),
        (17, 8, 0.05, 10, 0.1, 14),
    )
    centres = (
        (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
        (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
        (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
        (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381),
    )
    x = list(config.values())
    return -sum(
        height * math.exp(-sum(w * (v - c) ** 2 for w, c, v in zip(width, centre, x)))
        for height, width, centre in zip(alpha, widths, centres)
    )


def rosenbrock(config: Config) -> float:
    """The valley of Rosenbrock, in units of a thousand."""
    x = list(config.values())
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairwise(x)) / 1000


def distance(config: Config) -> float:
    """Sum of absolute values."""
    return sum(abs(v) for v in config.values())


def cube(d: int, low: float = 0.0, high: float = 1.0) -> Space:
    """`d` real parameters between the same bounds."""
    return Space({f"x{i}": Float(low, high) for i in range(d)})


# name -> space, loss
PROBLEMS: dict[str, tuple[Space, Callable[[Config], float]]] = {
    "Hartmann in 6": (cube(6), hartmann6),
    "Rosenbrock in 5": (cube(5, -2.0, 2.0), rosenbrock),
    "distance in 10": (cube(10, -1.0, 1.0), distance),
    "mixed in 5": (MIXED, mixed_loss),
}
