"""The chance that independent draws reach the best share of a space.

Follows: 1 - (1 - q)^n, for n draws and a region that holds the share q of the sampling distribution. The number of
parameters does not enter; the distribution does, since it defines the share.
"""

from __future__ import annotations

import math


def hit_probability(share: float, draws: int) -> float:
    """Chance that at least one draw lands in a region of the given share.

    Raises:
        ValueError: a share outside 0 to 1, or a negative number of draws.
    """
    _check_share("share", share)
    if not draws >= 0:
        raise ValueError(f"{draws} draws; give at least 0")
    if share == 1.0:
        return float(draws > 0)
    return -math.expm1(draws * math.log1p(-share))


def draws_needed(share: float, probability: float) -> int:
    """Smallest number of draws whose chance of a hit is at least `probability`.

    Raises:
        ValueError: a share that is not above 0, or a probability outside 0 to 1 (1 excluded).
    """
    _check_share("share", share)
    _check_share("probability", probability)
    if share == 0.0 or probability == 1.0:
        raise ValueError(f"no number of draws reaches a share of {share} with probability {probability}")
    if probability == 0.0 or share == 1.0:
        return int(probability > 0)
    draws = max(0, math.floor(math.log1p(-probability) / math.log1p(-share)) - 1)
    while hit_probability(share, draws) < probability:
        draws += 1
    return draws


def _check_share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} {value}; it must lie between 0 and 1")
