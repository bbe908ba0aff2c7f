"""The ladder of fixes: seven configurations, each keeping every fix before it; and any other set of fixes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from implementations.itl.collector import OldHeap, startup_heap
from implementations.itl.config import EngineConfig
from implementations.itl.decoder import Decoder
from implementations.itl.engine import Engine, Model
from implementations.itl.run_log import RunLog
from implementations.itl.trace import arrivals

BASELINE = "baseline"
FIXES: dict[str, dict[str, object]] = {
    "gc-freeze": {"gc_freeze": True},
    "compact-history": {"compact_history": True},
    "graphs-to-48": {"capture_sizes": (1, 2, 4, 8, 16, 24, 32, 40, 48)},
    "budget-256": {"token_budget": 256},
    "tokenize-off-loop": {"tokenize_off_loop": True},
    "admission-watermark": {"admission_watermark": 0.1},
}
RUNGS = (BASELINE, *FIXES)
STARTUP_ENTRIES = 400_000


def with_fixes(fixes: Iterable[str], base: EngineConfig | None = None) -> EngineConfig:
    """The settings with these fixes, in whatever order: a fix changes one setting and no two the same.

    Raises:
        ValueError: for a fix there is none of.
    """
    return reduce(_with_fix, fixes, base or EngineConfig())


def rung(name: str, order: Sequence[str] = tuple(FIXES), base: EngineConfig | None = None) -> EngineConfig:
    """The settings at a rung of the ladder: its fix and every one before it.

    Args:
        name: ``BASELINE`` or a fix.
        order: of the fixes, from the lowest rung up.
        base: settings without any fix.

    Raises:
        ValueError: if the name is no rung of that order.
    """
    if name == BASELINE:
        return base or EngineConfig()
    if name not in order:
        raise ValueError(f"no rung {name!r}; there are {BASELINE!r} and {', '.join(map(repr, order))}")
    return with_fixes(order[: list(order).index(name) + 1], base)


def ladder(order: Sequence[str] = tuple(FIXES), base: EngineConfig | None = None) -> dict[str, EngineConfig]:
    """Every rung, from the baseline up, by name."""
    return {name: rung(name, order, base) for name in (BASELINE, *order)}


def alone(fix: str, base: EngineConfig | None = None) -> EngineConfig:
    """One fix by itself."""
    return with_fixes([fix], base)


def all_but(fix: str, base: EngineConfig | None = None) -> EngineConfig:
    """Every fix but one."""
    with_fixes([fix])
    return with_fixes([name for name in FIXES if name != fix], base)


def run_rung(
    name: str,
    seed: int,
    duration_s: float,
    rate_per_s: float,
    *,
    order: Sequence[str] = tuple(FIXES),
    base: EngineConfig | None = None,
    model: Model | None = None,
    heap: OldHeap | None = None,
) -> RunLog:
    """Run one rung on the real clock.

    Args:
        name: of the rung.
        seed: of the trace.
        duration_s: for which requests arrive; the run lasts until they are served.
        rate_per_s: mean rate of arrival.
        order: of the fixes.
        base: settings without any fix.
        model: a decoder with random weights by default.
        heap: long-lived objects to keep alive during the run; made here by default.
    """
    return run_config(rung(name, order, base), seed, duration_s, rate_per_s, model=model, heap=heap)


def run_config(
    config: EngineConfig,
    seed: int,
    duration_s: float,
    rate_per_s: float,
    *,
    model: Model | None = None,
    heap: OldHeap | None = None,
) -> RunLog:
    """Run any settings on the real clock; the arguments are those of ``run_rung``."""
    kept_alive = startup_heap(STARTUP_ENTRIES) if heap is None else heap
    trace = arrivals(seed, duration_s, rate_per_s)
    log = Engine(config, model or Decoder(kv_blocks=config.kv_blocks), trace).run()
    del kept_alive
    return log


def _with_fix(config: EngineConfig, fix: str) -> EngineConfig:
    if fix not in FIXES:
        raise ValueError(f"no fix {fix!r}; there are {', '.join(map(repr, FIXES))}")
    return replace(config, **FIXES[fix])  # type: ignore[arg-type]
