"""One server, requests at random times: what they wait, and what a stopwatch at the server would say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def first_token_times(seed: int, load: float, requests: int) -> tuple[Floats, Floats]:
    """Times to the first token of requests that arrive at random and are served in turn.

    Args:
        seed: of arrivals and service.
        load: how busy the server is, from 0 to 1.
        requests: how many.

    Returns:
        By the watch that starts when the server begins, and by the one that starts when the user asks; in mean service
        times (requests,).
    """
    rng = np.random.default_rng(seed)
    arrival = np.cumsum(rng.exponential(1 / load, requests))
    service = rng.gamma(4.0, 0.25, requests)  # of mean 1
    begin = np.empty(requests)
    free = 0.0
    for number in range(requests):
        begin[number] = max(arrival[number], free)
        free = begin[number] + service[number]
    return service, begin + service - arrival


def growth(seed: int, low: float, high: float, requests: int) -> tuple[float, float]:
    """By how much the mean time grows between two loads, by either watch."""
    quiet, busy = (first_token_times(seed, load, requests) for load in (low, high))
    return float(busy[0].mean() / quiet[0].mean()), float(busy[1].mean() / quiet[1].mean())
