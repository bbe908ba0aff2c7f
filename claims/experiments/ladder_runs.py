"""The ladder of fixes near this machine's capacity: real runs by seed, and the same scheduler in virtual time.

A run is one observation, so each is boiled down to plain numbers (`summary`) before the next begins. Real runs of a
seed are made in shuffled order, so that a drift of the machine does not fall on the rungs in their order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from implementations.itl.calibration import Calibration
    from implementations.itl.config import EngineConfig
    from implementations.itl.cost_model import CostModel
    from implementations.itl.partition import Partition
    from implementations.itl.run_log import RunLog

Summary = dict[str, Any]

# One swell of the traffic: 58 such runs and everything else of the slow tier stay under 25 minutes.
REAL_S = 15.0
VIRTUAL_S = REAL_S
PUBLISHED_S = 30.0
EDGES_MS = (0, 5, 10, 15, 20, 30, 50, 80, 120, 200, 400, 800, float("inf"))
CAUSES = ("prefill", "preempt", "graph", "gc", "tok")
# Gaps this many times the median are the extreme ones: the post's 800 ms over its median of 13.7.
EXTREME = 58


@lru_cache(maxsize=1)
def calibration() -> Calibration:
    """This machine's costs and rates, found once a session from a few seconds of real runs."""
    from implementations.itl.calibration import calibrate

    return calibrate()


# --- real runs -------------------------------------------------------------------------------------------------


def real_ladder(seed: int) -> dict[str, Summary]:
    """Every rung at the near-capacity rate, in shuffled order; each summary says when it was run."""
    from implementations.itl.ladder import ladder

    return _real(seed, ladder(), calibration().near_capacity_per_s)


def real_reverse(seed: int) -> dict[str, Summary]:
    """The ladder with its fixes in reverse order."""
    from implementations.itl.ladder import FIXES, ladder

    return _real(seed, ladder(tuple(FIXES)[::-1]), calibration().near_capacity_per_s)


def real_alone(seed: int) -> dict[str, Summary]:
    """Each fix by itself."""
    from implementations.itl.ladder import FIXES, alone

    return _real(seed, {fix: alone(fix) for fix in FIXES}, calibration().near_capacity_per_s)


def real_overload(seed: int) -> dict[str, Summary]:
    """Baseline, all fixes but the last, and all fixes, at the overloading rate."""
    from implementations.itl.ladder import BASELINE, RUNGS, ladder

    chosen = (BASELINE, RUNGS[-2], RUNGS[-1])
    return _real(seed, {name: ladder()[name] for name in chosen}, calibration().overload_per_s)


def _real(seed: int, configs: dict[str, EngineConfig], rate_per_s: float) -> dict[str, Summary]:
    from implementations.itl.collector import startup_heap
    from implementations.itl.decoder import Decoder
    from implementations.itl.ladder import STARTUP_ENTRIES, run_config

    heap, model = startup_heap(STARTUP_ENTRIES), Decoder()
    order = random.Random(seed).sample(list(configs), len(configs))
    found = {}
    for place, name in enumerate(order):
        log = run_config(configs[name], seed, REAL_S, rate_per_s, model=model, heap=heap)
        found[name] = {**summary(log), "place": place, "rate_per_s": rate_per_s, "seed": seed}
    return {name: found[name] for name in configs}


# --- virtual runs ----------------------------------------------------------------------------------------------


def virtual(
    config: EngineConfig, seed: int, rate_per_s: float, costs: CostModel, duration_s: float = VIRTUAL_S
) -> Summary:
    """One run in virtual time."""
    return summary(virtual_log(config, seed, rate_per_s, costs, duration_s))


def virtual_log(
    config: EngineConfig, seed: int, rate_per_s: float, costs: CostModel, duration_s: float = VIRTUAL_S
) -> RunLog:
    """The log of one run in virtual time."""
    from implementations.itl.trace import arrivals
    from implementations.itl.virtual import run_virtual

    return run_virtual(config, arrivals(seed, duration_s, rate_per_s, texts=False), costs)


@lru_cache(maxsize=4)
def virtual_ladder(
    seeds: int, order: tuple[str, ...] | None = None, overload: bool = False
) -> dict[str, list[Summary]]:
    """Every rung in virtual time, one summary a seed from 1 up, at this machine's rates and costs.

    Args:
        seeds: how many.
        order: of the fixes; the post's by default.
        overload: at the overloading rate instead of the near-capacity one.
    """
    from implementations.itl.ladder import FIXES, ladder

    return virtual_runs(ladder(order or tuple(FIXES)), seeds, overload=overload)


@lru_cache(maxsize=2)
def published_ladder(seeds: int) -> dict[str, list[Summary]]:
    """Every rung in virtual time on costs that give the post's own timings, at its rate: the same on every machine."""
    from implementations.itl.ladder import ladder

    return published_runs(ladder(), seeds)


def published_runs(configs: dict[str, EngineConfig], seeds: int) -> dict[str, list[Summary]]:
    """Settings by name, as `published_ladder` runs them, one summary a seed from 1 up."""
    from implementations.itl.calibration import PUBLISHED_RATE
    from implementations.itl.cost_model import PUBLISHED_MACHINE

    return {
        name: [virtual(config, seed, PUBLISHED_RATE, PUBLISHED_MACHINE, PUBLISHED_S) for seed in range(1, seeds + 1)]
        for name, config in configs.items()
    }


def virtual_runs(
    configs: dict[str, EngineConfig], seeds: int, *, overload: bool = False, load: float | None = None
) -> dict[str, list[Summary]]:
    """Settings by name in virtual time, one summary a seed.

    Args:
        configs: the settings.
        seeds: how many, from 1 up.
        overload: at the overloading rate instead of the near-capacity one.
        load: at this multiple of the near-capacity rate instead of either.
    """
    found = calibration()
    rate = found.overload_per_s if overload else found.near_capacity_per_s
    rate = rate if load is None else load * found.near_capacity_per_s
    return {
        name: [virtual(config, seed, rate, found.costs) for seed in range(1, seeds + 1)]
        for name, config in configs.items()
    }


# --- what is kept of a run -------------------------------------------------------------------------------------


def summary(log: RunLog) -> Summary:
    """The numbers of one run, as plain values."""
    from implementations.itl.partition import partition

    found = partition(log.event_log())
    return {**_gaps(found), **_tail(found), **_forward(found), **_requests(log), **_engine(log)}


def _gaps(found: Partition) -> Summary:
    p50, p90, p99, p999 = np.percentile(found.gap_ms, [50, 90, 99, 99.9]).tolist()
    quiet = found.gap_ms[found.gap_ms < p99]
    return {
        "gaps": len(found),
        "p50_ms": p50,
        "p90_ms": p90,
        "p99_ms": p99,
        "p999_ms": p999,
        "max_ms": float(found.gap_ms.max()),
        "mean_ms": float(found.gap_ms.mean()),
        "mean_below_p99_ms": float(quiet.mean()),
    }


def _tail(found: Partition) -> Summary:
    from implementations.itl.tail import cause_histogram, primary_cause, tail_decomposition

    tail, everything = tail_decomposition(found, 99), tail_decomposition(found, 0)
    causes = primary_cause(found.gap_ms, found.parts)
    extreme = found.gap_ms >= EXTREME * np.median(found.gap_ms)
    above_p999 = found.gap_ms > np.percentile(found.gap_ms, 99.9)
    return {
        "tail_share": dict(tail.share),
        "tail_ms": {label: share * tail.total_ms for label, share in tail.share.items()},
        "tail_count": {cause: int(count) for cause, count in tail.count.items()},
        "all_share": dict(everything.share),
        "cause_median_ms": {cause: float(np.median(found.gap_ms[causes == cause])) for cause in set(causes.tolist())},
        "extreme_causes": _counts(causes[extreme]),
        "above_p999_causes": _counts(causes[above_p999]),
        "histogram": {cause: counts.tolist() for cause, counts in cause_histogram(found, EDGES_MS).items()},
    }


def _forward(found: Partition) -> Summary:
    """Shares of the forward pass, time off the processor counted with it as the post's instrument would."""
    from implementations.itl.tail import primary_cause

    some = found.gap_ms > 0
    share = (found.parts["forward"] + found.parts["offcpu"])[some] / found.gap_ms[some]
    causes = primary_cause(found.gap_ms, found.parts)[some]
    low, high, p99 = np.percentile(found.gap_ms[some], [45, 55, 99])
    middle = (found.gap_ms[some] >= low) & (found.gap_ms[some] <= high)
    return {
        "forward_share_clean": float(np.median(share[causes == "clean"])),
        "forward_share_all": float(np.median(share)),
        "forward_share_middle": float(np.median(share[middle])),
        "forward_share_tail": float(np.median(share[found.gap_ms[some] >= p99])),
        "clean_below_half": float(np.mean(share[causes == "clean"] < 0.5)),
    }


def _requests(log: RunLog) -> Summary:
    total = [row.finished_s - row.arrival_s for row in log.requests if row.finished_s is not None]
    ttft = log.ttft_s()
    quarters = np.array_split(ttft, 4)
    return {
        "requests": len(log.requests),
        "ttft_p50_s": float(np.median(ttft)),
        "ttft_quarters_s": [float(np.median(quarter)) for quarter in quarters],
        "total_p50_s": float(np.median(total)),
        "seconds": float(log.step["end_s"][-1]),
    }


def _engine(log: RunLog) -> Summary:
    decode = [1e3 * (end - start) for _, kind, start, end, _ in log.segments if kind == "decode"]
    serving = [pause for pause in log.collections if pause[0] >= log.step["start_s"][0]]
    before = [pause for pause in log.collections if pause[0] < log.step["start_s"][0]]
    return {
        "preemptions": log.n_preemptions,
        "fallback_steps": log.n_fallback_steps,
        "largest_batch": int(log.step["n_decode"].max()),
        "decode_percentiles_ms": np.percentile(decode, [50, 99, 99.9]).tolist(),
        "collections": [sum(generation == kind for _, _, generation in serving) for kind in range(3)],
        "full_collections_ms": [1e3 * (end - start) for start, end, generation in serving if generation == 2],
        "collection_before_serving_ms": [1e3 * (end - start) for start, end, _ in before],
        "worker_cpu_s": log.worker_cpu_s,
    }


def _counts(causes: NDArray[np.str_]) -> dict[str, int]:
    names, counts = np.unique(causes, return_counts=True)
    return dict(zip(names.tolist(), counts.tolist()))


# --- reading several runs --------------------------------------------------------------------------------------


def by_rung(runs: Iterable[dict[str, Summary]]) -> dict[str, list[Summary]]:
    """Summaries by seed and rung, turned round: by rung, one a seed."""
    runs = list(runs)
    return {name: [run[name] for run in runs] for name in runs[0]}


def column(summaries: Sequence[Summary], *path: str) -> list[float]:
    """One number a run: the value under the keys of `path`, 0 where a run lacks it (a cause that never led)."""
    values = []
    for one in summaries:
        value: Any = one
        for key in path:
            value = value.get(key, 0.0) if isinstance(value, dict) else value[key]
        values.append(float(value))
    return values


def log_ratio(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """log(before / after), run by run."""
    return [float(value) for value in np.log(np.divide(before, after))]


def waits_moved_s(seeds: int) -> tuple[list[float], list[float]]:
    """What the watermark adds to the wait for the first token, and to the whole, on costs that give the post's timings.

    Args:
        seeds: how many, from 1 up.

    Returns:
        Median over the requests of a run of the change in each, one a seed: the same request with and without it.
    """
    from implementations.itl.calibration import PUBLISHED_RATE
    from implementations.itl.cost_model import PUBLISHED_MACHINE
    from implementations.itl.ladder import RUNGS, rung

    first, total = [], []
    for seed in range(1, seeds + 1):
        before, after = (
            virtual_log(rung(name), seed, PUBLISHED_RATE, PUBLISHED_MACHINE, 60.0).requests for name in RUNGS[-2:]
        )
        changes = [
            (late.first_token_s - early.first_token_s, late.finished_s - early.finished_s)
            for early, late in zip(before, after)
            if None not in (early.finished_s, late.finished_s, early.first_token_s, late.first_token_s)
        ]
        medians = np.median(changes, axis=0).tolist()
        first.append(medians[0])
        total.append(medians[1])
    return first, total


# --- questions that need their own runs ------------------------------------------------------------------------


def with_faster_decode(seeds: int, factor: float) -> list[Summary]:
    """The baseline in virtual time with every decode taking `factor` of its time; traffic and all else unchanged."""
    from dataclasses import replace

    from implementations.itl.config import EngineConfig

    found = calibration()
    names = ("captured_s", "captured_row_s", "captured_context_s", "eager_row_s", "eager_context_s")
    costs = replace(found.costs, **{name: factor * getattr(found.costs, name) for name in names})
    rate = found.near_capacity_per_s
    return [virtual(EngineConfig(), seed, rate, costs) for seed in range(1, seeds + 1)]


def coverage_of_p99(seeds: int, duration_s: float, resamples: int = 200) -> tuple[float, float]:
    """How often a 95% bootstrap interval covers the mean p99 over all runs.

    Args:
        seeds: runs in all.
        duration_s: of each.
        resamples: of each bootstrap.

    Returns:
        Resampling the gaps of one run (one interval a run); resampling runs (one interval a random ten of them).
    """
    from implementations.itl.config import EngineConfig

    found, rng = calibration(), np.random.default_rng(0)
    logs = [
        virtual_log(EngineConfig(), seed, found.near_capacity_per_s, found.costs, duration_s)
        for seed in range(1, seeds + 1)
    ]
    gaps = [1e3 * log.gaps_s() for log in logs]
    p99 = np.array([np.percentile(one, 99) for one in gaps])
    truth = p99.mean()
    of_gaps = [_covers(truth, [np.percentile(rng.choice(one, one.size), 99) for _ in range(resamples)]) for one in gaps]
    groups = [rng.choice(p99, 10, replace=False) for _ in range(resamples)]
    of_runs = [_covers(truth, rng.choice(group, (resamples, group.size)).mean(axis=1)) for group in groups]
    return float(np.mean(of_gaps)), float(np.mean(of_runs))


def _covers(truth: float, estimates: Sequence[float] | NDArray[np.float64]) -> bool:
    low, high = np.percentile(estimates, [2.5, 97.5])
    return bool(low <= truth <= high)
