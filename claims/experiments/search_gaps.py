"""Gaps between ways to search, and what one way differs by from seed to seed, on the interpolated problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from claims.experiments import searches

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gap:
    """One comparison on the posts' data set: its gap, and the best of random search, a seed each, shape (seeds,)."""

    effects: Floats
    repeats: Floats


def real_best_of_six(seed: int) -> float:
    """Best of the posts' 64 random trials over six parameters, every score a fit."""
    return float(searches.real_random("six", seed).best_so_far()[-1])


def posts_first_rows(six: Sequence[float], seeds: int, trials: int, tpe_trials: int) -> dict[str, Gap]:
    """The three comparisons that head the recap's table.

    With six parameters every score is a fit: the grid's points are corners of the space, where the interpolation has
    nothing to go by.

    Args:
        six: `real_best_of_six` of some seeds.
        seeds: of the other two comparisons.
        trials: of random search over three parameters.
        tpe_trials: of TPE, and of random search beside it.
    """
    three = searches.random_best("three", seeds, trials)
    tpe, random = (searches.best(method, seeds, tpe_trials) for method in ("tpe", "random"))
    return {
        "grid and random search, 3 parameters": Gap(three - searches.grid_best(searches.GRID_THREE), three),
        "grid and random search, 6 parameters": Gap(
            np.array(six) - searches.real_grid("six").best_so_far()[-1], np.array(six)
        ),
        f"TPE and random search, {tpe_trials} trials": Gap(tpe - random, random),
    }


def _three_parameters(seeds: int, trials: int) -> tuple[Floats, Floats]:
    """Best of random search, shape (data sets, seeds), and what it is ahead of the grid, in the first space."""
    random = np.array([searches.random_best("three", seeds, trials, data) for data in searches.DATA_SETS])
    return random, random - np.array(searches.grid_bests(searches.GRID_THREE))[:, None]


def wrong_verdicts(seeds: int, trials: int, repeats: int) -> tuple[list[float], list[float]]:
    """How often random search against the grid names the wrong winner, by single runs and by means of several.

    The truth is the sign of the mean over all seeds. Returns one share a data set for each.
    """
    _, single = _three_parameters(seeds, trials)
    truth = np.sign(single.mean(axis=1))[:, None]
    rng = np.random.default_rng(0)
    several = np.stack([single[:, rng.choice(seeds, repeats, replace=False)].mean(axis=1) for _ in range(500)], axis=1)
    return (np.sign(single) != truth).mean(axis=1).tolist(), (np.sign(several) != truth).mean(axis=1).tolist()


def reruns_apart(seeds: int, trials: int, by: float) -> list[float]:
    """Share of pairs of runs of random search that differ by more than `by`, one a data set."""
    random, _ = _three_parameters(seeds, trials)
    half = seeds // 2
    return (np.abs(random[:, :half] - random[:, half : 2 * half]) > by).mean(axis=1).tolist()
