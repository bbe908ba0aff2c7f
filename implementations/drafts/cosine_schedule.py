"""A learning rate that falls to zero along a cosine, and the choice of an epoch by its validation loss.

Follows: Loshchilov and Hutter 2017, without restarts.
Leaves out: warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def cosine_rate(step: int, total: int, highest: float, lowest: float = 0.0) -> float:
    """The rate of a step.

    Args:
        step: Steps taken before it, from 0.
        total: Steps the schedule is set to; beyond them the rate stays at `lowest`.
        highest: Rate of the first step.
        lowest: Rate at the end.

    Raises:
        ValueError: a negative step, a schedule of no steps, or a rate that is not finite.
    """
    if not (step >= 0 and total >= 1):
        raise ValueError(f"step {step} of {total}; steps count from 0, and a schedule has at least one")
    if not (math.isfinite(highest) and math.isfinite(lowest)):
        raise ValueError(f"rates from {highest} to {lowest}; both must be finite")
    return lowest + 0.5 * (highest - lowest) * (1 + math.cos(math.pi * min(step, total) / total))


def best_epoch(losses: Sequence[float]) -> int:
    """The epoch, counted from 1, whose validation loss is lowest; the earliest of several.

    Raises:
        ValueError: no epoch, or a loss that is NaN.
    """
    if not len(losses):
        raise ValueError("no losses; a run has at least one epoch")
    if any(math.isnan(loss) for loss in losses):
        raise ValueError(f"a loss of NaN among {len(losses)}; a run that diverged has no best epoch")
    return 1 + min(range(len(losses)), key=losses.__getitem__)
