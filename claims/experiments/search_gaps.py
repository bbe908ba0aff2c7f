"""Gaps between ways to search, and what one way differs by from seed to seed, on the interpolated problems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from claims.experiments import searches

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gap:
    """One comparison: its mean gap on each data set, and repeats of random search on each, shape (data sets, seeds)."""

    effects: Floats
    repeats: Floats


def grid_gap(space: str, seeds: int, trials: int) -> Gap:
    """Best of random search, over seeds, minus best of the grid with as many points."""
    random = np.array([searches.random_best(space, seeds, trials, data) for data in searches.DATA_SETS])
    grid = np.array(searches.grid_bests(searches.GRIDS[space]))
    return Gap(random.mean(axis=1) - grid, random)


def tpe_gap(seeds: int, trials: int) -> Gap:
    """Best of TPE minus best of random search, both over the same seeds."""
    tpe, random = (
        np.array([searches.best(method, seeds, trials, data) for data in searches.DATA_SETS])
        for method in ("tpe", "random")
    )
    return Gap((tpe - random).mean(axis=1), random)


def posts_first_rows(seeds: int, trials: int, tpe_trials: int) -> dict[str, Gap]:
    """The three comparisons that head the recap's table."""
    return {
        "grid and random search, 3 parameters": grid_gap("three", seeds, trials),
        "grid and random search, 6 parameters": grid_gap("six", seeds, trials),
        f"TPE and random search, {tpe_trials} trials": tpe_gap(seeds, tpe_trials),
    }


def wrong_verdicts(seeds: int, trials: int, repeats: int) -> tuple[list[float], list[float]]:
    """How often random search against the grid names the wrong winner, by single runs and by means of several.

    The truth is the sign of the mean over all seeds. Returns one share a data set for each.
    """
    gap = grid_gap("three", seeds, trials)
    truth = np.sign(gap.effects)[:, None]
    single = gap.repeats - (gap.repeats.mean(axis=1) - gap.effects)[:, None]  # (data sets, seeds), random minus grid
    rng = np.random.default_rng(0)
    several = np.stack([single[:, rng.choice(seeds, repeats, replace=False)].mean(axis=1) for _ in range(500)], axis=1)
    return (np.sign(single) != truth).mean(axis=1).tolist(), (np.sign(several) != truth).mean(axis=1).tolist()


def reruns_apart(seeds: int, trials: int, by: float) -> list[float]:
    """Share of pairs of runs of random search that differ by more than `by`, one a data set."""
    random = grid_gap("three", seeds, trials).repeats
    half = seeds // 2
    return (np.abs(random[:, :half] - random[:, half : 2 * half]) > by).mean(axis=1).tolist()
