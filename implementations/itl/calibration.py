"""How fast this machine is, and which rate of arrival brings it near its capacity.

The post's rate is one at which requests are evicted and batches now and then outgrow the captured sizes, but the engine
still catches up. Which rate does that depends on the machine, so it is found in two steps: a few seconds of real runs
give the cost of each operation, and in virtual time the rate is sought at which as large a share of the baseline's
steps falls back as on a machine with the post's own timings. Everything after the real runs is deterministic.
"""

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from implementations.itl.collector import CONTAINERS_PER_HEAP_ENTRY, startup_heap
from implementations.itl.config import EngineConfig
from implementations.itl.cost_model import PUBLISHED_MACHINE, CostModel
from implementations.itl.decoder import Decoder
from implementations.itl.engine import Engine, Model
from implementations.itl.ladder import STARTUP_ENTRIES
from implementations.itl.run_log import RunLog
from implementations.itl.trace import Arrival, arrivals
from implementations.itl.virtual import run_virtual

# The post's rates for its machine, in requests a second.
PUBLISHED_RATE, PUBLISHED_OVERLOAD = 6.5, 10.0
SOUGHT_SECONDS, SOUGHT_SEEDS, HALVINGS = 30.0, (1, 2, 3, 4), 5
SOUGHT_BETWEEN = (0.7, 1.7)  # times the saturated rate

BACKLOG_S, BACKLOG_SEEDS = 60.0, (1, 2)  # published traces, for the sizes of their requests
SETTLED = (0.1, 0.8)  # share of the tokens between which a backlog is served with full batches

# Most sequences at once, captured sizes, and the share of the calibration's time for each of its runs: small, middle
# and full batches on the captured path, and full ones without it.
PROBES = ((3, (1, 2, 3), 0.15), (12, (4, 8, 12), 0.2), (48, (16, 24, 32, 40, 48), 0.4), (48, (), 0.25))
PROBE_RATE_PER_S = 120.0


@dataclass(frozen=True)
class Calibration:
    """What a calibration found.

    Args:
        costs: of each operation on this machine.
        saturated_per_s: requests a second that the baseline serves when kept saturated, in virtual time.
    """

    costs: CostModel
    saturated_per_s: float

    @property
    def near_capacity_per_s(self) -> float:
        """The rate of the post's main runs, on this machine."""
        return near_capacity_per_s(self.costs)

    @property
    def overload_per_s(self) -> float:
        """The rate of the post's overloaded runs: as much above the other as there."""
        return self.near_capacity_per_s * PUBLISHED_OVERLOAD / PUBLISHED_RATE


def calibrate(seconds: float = 6.0, model: Model | None = None, seed: int = 1) -> Calibration:
    """Find this machine's costs and rates.

    Args:
        seconds: of real running, for the probes and as much again for a run at capacity.
        model: a decoder by default.
        seed: of the traces.
    """
    model = model or Decoder()
    logs = [_probe(model, seed, seconds * share, limit, sizes) for limit, sizes, share in PROBES]
    probed = CostModel.fit(logs, collection_cost_s(), where_unseen=PUBLISHED_MACHINE)
    # A pool in use is not a fresh one: its blocks lie scattered, and a decode takes longer. So the costs are fitted
    # again to a run at the capacity that the probes suggest.
    trace = arrivals(seed, seconds, saturated_per_s(probed))
    pressed = Engine(EngineConfig(compact_history=True), model, trace, stop_after_s=seconds).run()
    costs = CostModel.fit([pressed], probed.gc_object_s, where_unseen=probed)
    return Calibration(costs, saturated_per_s(costs))


@lru_cache(maxsize=32)
def saturated_per_s(costs: CostModel, config: EngineConfig | None = None) -> float:
    """Requests a second that an engine serves, in virtual time, when more are always waiting.

    Args:
        costs: of each operation.
        config: settings; the baseline's by default.
    """
    config = replace(config or EngineConfig(), compact_history=True)
    traces = [arrivals(seed, BACKLOG_S, PUBLISHED_RATE, texts=False) for seed in BACKLOG_SEEDS]
    return len(traces) / sum(_request_s(config, trace, costs) for trace in traces)


@lru_cache(maxsize=32)
def near_capacity_per_s(costs: CostModel) -> float:
    """The rate at which as many of the baseline's steps fall back as on the published machine at the post's rate.

    Args:
        costs: of each operation.
    """
    target = fallback_share(PUBLISHED_MACHINE, PUBLISHED_RATE)
    low, high = (factor * saturated_per_s(costs) for factor in SOUGHT_BETWEEN)
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if fallback_share(costs, middle) < target else (low, middle)
    return float((low * high) ** 0.5)


@lru_cache(maxsize=64)
def fallback_share(costs: CostModel, rate_per_s: float) -> float:
    """Share of the baseline's steps that decode one sequence at a time, in virtual time, over a few traces."""
    traces = [arrivals(seed, SOUGHT_SECONDS, rate_per_s, texts=False) for seed in SOUGHT_SEEDS]
    logs = [run_virtual(EngineConfig(), trace, costs, stop_after_s=SOUGHT_SECONDS) for trace in traces]
    return sum(log.n_fallback_steps for log in logs) / sum(len(log.step["start_s"]) for log in logs)


def collection_cost_s(entries: int = STARTUP_ENTRIES, repeats: int = 3) -> float:
    """Seconds that a full collection takes for each object it examines; unfreezes what was frozen.

    Args:
        entries: dictionaries in the heap that is examined; everything alive before is kept out of it.
        repeats: collections; the fastest counts.
    """
    gc.collect()
    gc.freeze()
    heap = startup_heap(entries)
    try:
        return min(_full_collection_s() for _ in range(repeats)) / (len(heap) * CONTAINERS_PER_HEAP_ENTRY)
    finally:
        gc.unfreeze()


def _probe(model: Model, seed: int, seconds: float, limit: int, sizes: tuple[int, ...]) -> RunLog:
    config = EngineConfig(max_num_seqs=limit, capture_sizes=sizes, token_budget=512, compact_history=True)
    trace = arrivals(seed, seconds, PROBE_RATE_PER_S)
    return Engine(config, model, trace, stop_after_s=seconds).run()


def _request_s(config: EngineConfig, trace: Sequence[Arrival], costs: CostModel) -> float:
    """Seconds for each request of a trace that is all there at once, tokenizing included."""
    backlog = [replace(arrival, arrival_s=0.0) for arrival in trace]
    times = np.sort(run_virtual(config, backlog, costs).emission["time_s"])
    first, last = (int(share * len(times)) for share in SETTLED)
    served = (last - first) * len(trace) / len(times)
    tokenizing_s = sum(costs.tokenize(arrival.chars) for arrival in trace) / len(trace)
    return float(times[last] - times[first]) / served + tokenizing_s


def _full_collection_s() -> float:
    began = time.perf_counter()
    gc.collect()
    return time.perf_counter() - began
