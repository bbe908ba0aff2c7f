"""Runs in virtual time: the same engine and scheduler, on a clock that a cost model moves."""

from collections.abc import Sequence

from implementations.itl.clock import VirtualClock
from implementations.itl.collector import CONTAINERS_PER_HEAP_ENTRY, THRESHOLDS, ModelledCollector
from implementations.itl.config import EngineConfig
from implementations.itl.cost_model import CostedIntake, CostedModel, CostModel
from implementations.itl.engine import Engine
from implementations.itl.history import CountedHistory, NoHistory
from implementations.itl.ladder import STARTUP_ENTRIES
from implementations.itl.run_log import RunLog
from implementations.itl.scheduler import Scheduler
from implementations.itl.trace import Arrival


def run_virtual(
    config: EngineConfig,
    trace: Sequence[Arrival],
    costs: CostModel,
    *,
    scheduler: Scheduler | None = None,
    startup_entries: int = STARTUP_ENTRIES,
    gc_thresholds: tuple[int, int, int] = THRESHOLDS,
    stop_after_s: float = float("inf"),
) -> RunLog:
    """Serve a trace in virtual time: no arithmetic, no texts, the same log for the same arguments.

    Args:
        config: settings of the engine.
        trace: arrivals; texts are not needed.
        costs: what each operation takes.
        scheduler: another scheduler than the usual one.
        startup_entries: dictionaries alive before serving.
        gc_thresholds: of the modelled collector; those of the interpreter are ``gc.get_threshold()``.
        stop_after_s: stop there, served or not.
    """
    clock = VirtualClock(costs.step_s)
    heap_objects = startup_entries * CONTAINERS_PER_HEAP_ENTRY
    collector = ModelledCollector(clock, costs.gc_object_s, heap_objects, config.gc_freeze, gc_thresholds)
    return Engine(
        config,
        CostedModel(costs, clock),
        trace,
        clock=clock,
        intake=CostedIntake(costs, clock, on_loop=not config.tokenize_off_loop),
        collector=collector,
        history=NoHistory() if config.compact_history else CountedHistory(collector.allocated),
        scheduler=scheduler,
        stop_after_s=stop_after_s,
    ).run()
