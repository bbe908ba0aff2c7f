"""A measurement as text: counts, a table of times, speeds; and the progress of a run on a terminal.

Leaves out: colours and bars where the output is no terminal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from implementations.serving.measurement import Measurement
from implementations.serving.timing import percentile

PLAIN_WIDTH = 120


def console(file: IO[str]) -> Console:
    """A console that is plain where the file is no terminal, and reads no markup out of messages."""
    width = None if file.isatty() else PLAIN_WIDTH
    return Console(file=file, highlight=False, markup=False, emoji=False, width=width)


@contextmanager
def progress(file: IO[str], what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, nothing elsewhere.

    Args:
        file: where to draw.
        what: beside the bar.
        total: steps.

    Yields:
        A function to call at every step.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    out = console(file)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def print_measurement(out: Console, found: Measurement) -> None:
    """Prints everything about a run."""
    failed = len(found.failures)
    out.print(
        f"{len(found.served) + failed} requests: {len(found.served)} answered, {failed} failed; "
        f"{len(found.warm_up)} before them as warm-up, in no figure",
        soft_wrap=True,
    )
    for reason, count in Counter(found.failures).most_common():
        out.print(f"  failed {count} ×: {reason}", soft_wrap=True)
    counted = ", ".join(f"{how} ({count})" for how, count in found.counting().items())
    out.print(f"tokens: {_prompt(found)}{found.tokens:,} out; {counted or 'none'}", soft_wrap=True)
    out.print(_table(out, found))
    speeds = (found.tokens_per_s, found.peak_tokens_per_s, percentile(found.each_tokens_per_s(), 50))
    everybody, peak, each = ("·" if math.isnan(speed) else f"{speed:,.1f}" for speed in speeds)
    out.print(f"tokens/s: {everybody} for everybody (peak {peak}), {each} for one request (median)", soft_wrap=True)
    out.print("percentiles by NumPy's linear rule", soft_wrap=True)


def _prompt(found: Measurement) -> str:
    return "" if found.prompt_tokens is None else f"{found.prompt_tokens:,} in, "


def _table(out: Console, found: Measurement) -> Table:
    table = Table(box=SIMPLE_HEAD if out.is_terminal else None, pad_edge=False)
    table.add_column("ms")
    rows = [(sample.name, sample.summary_ms()) for sample in found.samples()]
    names = list(rows[0][1])
    for name in names:
        table.add_column(name, justify="right")
    for label, values in rows:
        table.add_row(label, *(_cell(name, values[name]) for name in names))
    return table


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "·"
    return f"{value:,}" if name == "n" else f"{value:,.2f}"
