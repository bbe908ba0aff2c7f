"""The ladder in virtual time over two swells a run: long enough that every seed meets its evictions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from claims.experiments.ladder_runs import Summary, calibration, virtual

if TYPE_CHECKING:
    from implementations.itl.config import EngineConfig

SECONDS = 30.0


@lru_cache(maxsize=2)
def ladder(seeds: int) -> dict[str, list[Summary]]:
    """Every rung near this machine's capacity and on its costs, one summary a seed from 1 up."""
    from implementations.itl.ladder import ladder as rungs

    return runs(rungs(), seeds)


def runs(configs: dict[str, EngineConfig], seeds: int) -> dict[str, list[Summary]]:
    """Settings by name, as `ladder` runs them."""
    found = calibration()
    rate = found.near_capacity_per_s
    return {
        name: [virtual(config, seed, rate, found.costs, SECONDS) for seed in range(1, seeds + 1)]
        for name, config in configs.items()
    }
