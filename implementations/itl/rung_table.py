"""Several runs of several settings, as a ladder: each percentile of the gaps by rung, one value a run.

Follows: the decode-step-stall post, where a run is one observation and a rung is shown by median and range.
Leaves out: tests of a difference between rungs; median and range of a few runs are a picture, no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from implementations.itl.findings import Findings, percentile_name

STATISTICS = ("p50", "p99", "p99.9", "max")
# What a ledger calls them, where the name of a figure is that of the rung and one of these.
IN_LEDGER = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
LADDER_CLAIM = "ladder-table"

Rungs = dict[str, dict[str, list[float]]]


def rungs_of_logs(found: Iterable[tuple[str, Findings]]) -> Rungs:
    """Percentiles in ms by rung, one value a log, in the order the rungs first come.

    Args:
        found: the rung and the findings of each log.
    """
    rungs: Rungs = {}
    for name, findings in found:
        values = rungs.setdefault(name, {statistic: [] for statistic in STATISTICS})
        for q, ms in findings.percentiles_ms.items():
            if percentile_name(q) in values:
                values[percentile_name(q)].append(ms)
    return rungs


def rungs_of_ledger(path: Path) -> Rungs:
    """The ladder that a ledger of `runtwice` holds.

    Raises:
        ValueError: not a ledger, or one without a ladder.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        rows = document["claims"]["rows"]
        ladders = [row for row in rows if str(row["id"]).endswith(f".{LADDER_CLAIM}") and row["figures"]]
    except (ValueError, KeyError, TypeError) as fault:
        raise ValueError(f"{path}: not a ledger: {type(fault).__name__} {fault}") from fault
    if not ladders:
        raise ValueError(f"{path}: a ledger without measured figures of a claim {LADDER_CLAIM!r}")
    return _by_rung(ladders[0]["figures"])


def _by_rung(figures: Iterable[dict[str, Any]]) -> Rungs:
    rungs: Rungs = {}
    for figure in figures:
        rung, _, statistic = str(figure["name"]).rpartition("_")
        if statistic in IN_LEDGER:
            measured = figure["measured"]
            values = measured if isinstance(measured, list) else [measured]
            rungs.setdefault(rung, {})[IN_LEDGER[statistic]] = [float(value) for value in values]
    return rungs


def median_and_range(values: list[float]) -> tuple[float, float, float]:
    """Median, lowest and highest."""
    return median(values), min(values), max(values)
