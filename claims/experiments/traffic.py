"""Counts and distributions of the demonstrator's arrival traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from implementations.itl.trace import Arrival


def counts(seed: int, duration_s: float, rate_per_s: float) -> tuple[int, int]:
    """Requests and gaps of a trace: each request leaves one gap fewer than it has tokens."""
    from implementations.itl.trace import arrivals

    trace = arrivals(int(seed), float(duration_s), float(rate_per_s), texts=False)
    return len(trace), sum(arrival.max_new for arrival in trace) - len(trace)


def drawn_twice(seed: int, duration_s: float, rate_per_s: float) -> tuple[Sequence[Arrival], Sequence[Arrival]]:
    """The same trace drawn from scratch twice, with other draws from the global generator in between."""
    import random

    from implementations.itl.trace import arrivals

    arguments = (int(seed), float(duration_s), float(rate_per_s))
    first = arrivals(*arguments)
    random.random()
    arrivals.cache_clear()
    return first, arrivals(*arguments)


def distribution(seeds: Iterable[int], duration_s: float, rate_per_s: float) -> dict[str, object]:
    """Rate, swell, prompt and output lengths over the traces of many seeds, each as the post words it."""
    from implementations.itl.trace import arrivals

    traces = [arrivals(seed, float(duration_s), float(rate_per_s), texts=False) for seed in seeds]
    requests = [arrival for trace in traces for arrival in trace if arrival.arrival_s < duration_s]
    times = np.array([arrival.arrival_s for arrival in requests])
    cycle_s = _strongest_period_s(times, range(5, 31))
    documents = [arrival.chars for arrival in requests if arrival.document]
    return {
        "rate": len(requests) / (len(traces) * duration_s),
        "cycle_s": cycle_s,
        "swell_pct": 100 * _swell_depth(times, cycle_s),
        "prompt_chars": float(np.median([arrival.chars for arrival in requests if not arrival.document])),
        "doc_pct": 100 * len(documents) / len(requests),
        "doc_chars": [min(documents), max(documents)],
        "output_tokens": float(np.mean([arrival.max_new for arrival in requests])),
    }


def _swell_depth(times: NDArray[np.float64], period_s: float) -> float:
    """Amplitude a of an intensity proportional to 1 + a sin: twice the mean of the sine over the arrivals."""
    return float(2 * np.abs(np.exp(2j * np.pi * times / period_s).mean()))


def _strongest_period_s(times: NDArray[np.float64], periods_s: Iterable[int]) -> int:
    return max(periods_s, key=lambda period_s: _swell_depth(times, period_s))
