"""How fast this machine is, and which rate of arrival brings it near its capacity.

The post's rate is one at which requests are evicted and batches now and then outgrow the captured sizes, but the engine
still catches up. Which rate does that depends on the machine, so it is found in two steps: a few seconds of real runs
give the cost of each operation, and the engine in virtual time, kept saturated, the rate it can sustain with them.
Everything after the real runs is deterministic.
"""

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from implementations.itl.collector import CONTAINERS_PER_HEAP_ENTRY, startup_heap
from implementations.itl.config import EngineConfig
from implementations.itl.cost_model import PUBLISHED_MACHINE, CostModel
from implementations.itl.decoder import Decoder
from implementations.itl.engine import Engine, Model
from implementations.itl.ladder import STARTUP_ENTRIES
from implementations.itl.run_log import RunLog
from implementations.itl.trace import Arrival, arrivals
from implementations.itl.virtual import run_virtual

# Under PUBLISHED_MACHINE the saturated baseline serves 5.15 requests a second; the post offers 6.5 and, overloaded, 10.
# More than the saturated rate can be offered because saturation itself is slow: it brings fallback steps and swapping.
NEAR_CAPACITY = 1.26
OVERLOAD = 1.94

SATURATED_REQUESTS, SATURATED_SEEDS = 240, (1, 2)
SATURATING_FACTOR = 4.0  # times what the machine serves, so that more are waiting in the troughs of the swell too
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
        """The rate of the post's main runs."""
        return NEAR_CAPACITY * self.saturated_per_s

    @property
    def overload_per_s(self) -> float:
        """The rate of the post's overloaded runs."""
        return OVERLOAD * self.saturated_per_s


def calibrate(seconds: float = 6.0, model: Model | None = None, seed: int = 1) -> Calibration:
    """Find this machine's costs and rates.

    Args:
        seconds: of real running.
        model: a decoder by default.
        seed: of the traces.
    """
    model = model or Decoder()
    logs = [_probe(model, seed, seconds * share, limit, sizes) for limit, sizes, share in PROBES]
    costs = CostModel.fit(logs, collection_cost_s(), where_unseen=PUBLISHED_MACHINE)
    return Calibration(costs, saturated_per_s(costs))


@lru_cache(maxsize=32)
def saturated_per_s(costs: CostModel, config: EngineConfig | None = None) -> float:
    """Requests a second that an engine serves when more are always waiting.

    Args:
        costs: of each operation.
        config: settings; the baseline's by default.
    """
    request_s = _request_cost_s(costs)
    duration_s, offered_per_s = SATURATED_REQUESTS * request_s, SATURATING_FACTOR / request_s
    traces = [arrivals(seed, duration_s, offered_per_s, texts=False) for seed in SATURATED_SEEDS]
    served = [_served_per_s(config or EngineConfig(), trace, costs, duration_s) for trace in traces]
    return sum(served) / len(served)


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


def _request_cost_s(costs: CostModel) -> float:
    """Roughly what a mean request costs when 32 share a step."""
    return costs.prefill(230, 0) + 287 * costs.decode(32 * 400, 32, 32) / 32


def _served_per_s(config: EngineConfig, trace: Sequence[Arrival], costs: CostModel, duration_s: float) -> float:
    """Tokens a second after the first quarter, over the tokens of a mean request."""
    log = run_virtual(replace(config, compact_history=True), trace, costs, stop_after_s=duration_s)
    settled = log.emission["time_s"] >= duration_s / 4
    return float(settled.sum()) / (0.75 * duration_s) * len(trace) / sum(arrival.max_new for arrival in trace)


def _full_collection_s() -> float:
    began = time.perf_counter()
    gc.collect()
    return time.perf_counter() - began
