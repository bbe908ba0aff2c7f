"""What a partition found, as text: tables on a terminal, plain columns elsewhere.

Follows: `findings.py` for what there is to say.
Leaves out: colours where NO_COLOR is set or the output is no terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from implementations.itl.findings import Findings, WorstGap, many, percentile_name
from implementations.itl.rung_table import STATISTICS, Rungs, median_and_range
from implementations.itl.tail import ANSWERS
from implementations.itl.timeline import CAUSES, LABELS

PLAIN_WIDTH = 160
# Parts of a gap below this share of it are left out of its line.
WORTH_NAMING = 0.01


def console(file: IO[str]) -> Console:
    """A console that is plain where the file is no terminal, and reads no markup out of ids and paths."""
    width = None if file.isatty() else PLAIN_WIDTH
    return Console(file=file, highlight=False, markup=False, emoji=False, width=width)


def print_findings(out: Console, found: Findings) -> None:
    """Prints everything about one log."""
    out.print(Text(found.source, style="bold"), soft_wrap=True)
    out.print(_counts(found), soft_wrap=True)
    out.print(_percentiles(found), soft_wrap=True)
    out.print(_baseline(found), soft_wrap=True)
    _print_tail(out, found)
    _print_histogram(out, found)
    if found.worst:
        _print_worst(out, found.worst)
    for warning in found.warnings:
        out.print(Text.assemble(("warning: ", "bold yellow"), warning.text), soft_wrap=True)


def print_rungs(out: Console, rungs: Rungs) -> None:
    """Prints the ladder: median and range of each percentile by rung."""
    table = _table(out, "rung", "runs", *(f"{statistic} ms" for statistic in STATISTICS))
    for name, values in rungs.items():
        runs = max(len(found) for found in values.values())
        table.add_row(name, str(runs), *(_range(values.get(statistic, [])) for statistic in STATISTICS))
    out.print(Text("\nladder: median (lowest to highest run)", style="bold"))
    out.print(table)


def _counts(found: Findings) -> str:
    records = ", ".join(many(count, table.removesuffix("s")) for table, count in found.records.items())
    return f"{many(found.requests, 'request')}, {many(found.gaps, 'gap')}; {records} in {found.span_s:.4g} s"


def _percentiles(found: Findings) -> str:
    shown = (f"{percentile_name(q)} {_ms(ms)}" for q, ms in found.percentiles_ms.items())
    return f"gap in ms: {', '.join(shown)}"


def _baseline(found: Findings) -> str:
    line = found.baseline
    if not line.identifiable:
        return "baseline of a captured step: none"
    at = f" at size {line.only_size} only" if line.only_size is not None else ""
    how = "given" if found.baseline_given else "fitted to this log"
    return f"baseline of a captured step: {line.slope_ms:.4g} ms a sequence + {line.intercept_ms:.4g} ms{at} ({how})"


def _print_tail(out: Console, found: Findings) -> None:
    """Time and count side by side, since they need not agree on what is worst."""
    tail = found.tail
    title = (
        f"tail: {many(tail.gaps, 'gap')} of {_ms(tail.threshold_ms)} ms and more (p{tail.q:g}), {_ms(tail.total_ms)} ms"
    )
    out.print(Text(f"\n{title}", style="bold"), soft_wrap=True)
    table = _table(out, "label", "share of its time", "primary cause of")
    for label in (*LABELS, *ANSWERS[len(CAUSES) :]):
        share, count = tail.share.get(label), tail.count.get(label)
        if share or count:
            table.add_row(
                Text(label, style="" if label in CAUSES else "dim"),
                "" if share is None else f"{share:.1%}",
                "" if count is None else f"{count:,} ({count / tail.gaps:.1%})",
            )
    out.print(table)
    by_time = max(CAUSES, key=lambda cause: tail.share[cause])
    by_count = max(CAUSES, key=lambda cause: tail.count[cause])
    if by_time != by_count and tail.count[by_count]:
        out.print(f"by time {by_time} leads the causes, by count {by_count}", soft_wrap=True)


def _print_histogram(out: Console, found: Findings) -> None:
    causes = [cause for cause in ANSWERS if any(found.histogram[cause])]
    out.print(Text("\ngaps by length and primary cause", style="bold"))
    table = _table(out, "ms", "gaps", *causes)
    for place, (low, high) in enumerate(pairwise(found.edges_ms)):
        counts = [found.histogram[cause][place] for cause in causes]
        if sum(counts):
            name = f"{low:g} and more" if math.isinf(high) else f"{low:g} to {high:g}"
            table.add_row(name, f"{sum(counts):,}", *(f"{count:,}" if count else "·" for count in counts))
    out.print(table)


def _print_worst(out: Console, worst: Sequence[WorstGap]) -> None:
    out.print(Text("\nlongest gaps", style="bold"))
    table = _table(out, "ms", "request", "from s", "to s", "cause", "parts in ms")
    table.columns[-1].justify, table.columns[-2].justify = "left", "left"
    for gap in worst:
        parts = sorted(gap.parts_ms.items(), key=lambda part: -part[1])
        shown = ", ".join(f"{label} {_ms(ms)}" for label, ms in parts if ms > WORTH_NAMING * gap.gap_ms)
        table.add_row(
            _ms(gap.gap_ms), _printable(gap.request), f"{gap.start_s:.6f}", f"{gap.end_s:.6f}", gap.cause, shown
        )
    out.print(table)


def _table(out: Console, first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD if out.is_terminal else None, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _printable(request: int | str) -> str:
    """An id as it is, or quoted where it would move the cursor."""
    return str(request) if str(request).isprintable() else repr(request)


def _range(values: list[float]) -> str:
    if not values:
        return ""
    middle, low, high = median_and_range(values)
    return _ms(middle) if len(values) == 1 else f"{_ms(middle)} ({_ms(low)} to {_ms(high)})"


def _ms(ms: float) -> str:
    """Four digits that count, without an exponent."""
    return f"{ms:,.0f}" if ms >= 1000 else f"{ms:.4g}"
