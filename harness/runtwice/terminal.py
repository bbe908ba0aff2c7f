"""How a run reads on a terminal: the table by topic, what is not as declared, what moved, and one line a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from runtwice import foreign
from runtwice.verdict import Verdict

Row = Mapping[str, Any]

STYLES = {
    Verdict.HOLDS: "green",
    Verdict.REFUTED: "magenta",
    Verdict.WITHIN_NOISE: "yellow",
    Verdict.UNDECIDED: "yellow",
    Verdict.RECORDED: "cyan",
    Verdict.NOT_RUN: "dim",
    Verdict.ERROR: "red",
}
# pytest's one-letter progress, where the verdict is as declared.
LETTERS = {
    Verdict.HOLDS: ".",
    Verdict.REFUTED: "r",
    Verdict.WITHIN_NOISE: "~",
    Verdict.UNDECIDED: "?",
    Verdict.RECORDED: "-",
    Verdict.NOT_RUN: "n",
    Verdict.ERROR: "e",
}


def console(file: IO[str], *, colour: bool, width: int | None = None) -> Console:
    """A console that is plain where colour is off; NO_COLOR is honoured by rich itself."""
    return Console(
        file=file,
        force_terminal=colour,
        color_system="standard" if colour else None,
        width=width or get_terminal_size().columns,
        highlight=False,
    )


def summary(out: Console, rows: Sequence[Row], *, verbose: bool) -> None:
    """Print the counts by topic, then (verbose) a line a claim, or else only what asks for attention."""
    _print_counts(out, rows)
    if verbose:
        for row in rows:
            out.print(line(row), soft_wrap=True)
        return
    unexpected = [row for row in rows if not row["as_declared"]]
    moved = [row for row in rows if _moved(row) and row not in unexpected]
    _section(out, "not as declared", unexpected)
    _section(out, "figures that moved", moved)


def line(row: Row) -> Text:
    """Id, verdict and measured beside printed figures, or the reason where there are none."""
    text = Text(f"{foreign.line(row['id'])}  ")
    text.append(row["verdict"], style=STYLES[Verdict(row["verdict"])])
    if not row["as_declared"]:
        text.append(f" (declared {row['declared']})", style="bold red")
    figures = "; ".join(figure(one) for one in row["figures"])
    reason = foreign.line(row["reason"])
    text.append(f"  {figures or reason}")
    if row["figures"] and (row["verb"] != "figure" or row["verdict"] == Verdict.NOT_RUN):
        text.append(f"  [{reason}]")
    return text


def figure(comparison: Mapping[str, Any]) -> str:
    """`name measured (printed …: exact)`."""
    moved = comparison["moved_by"]
    by = f" by {moved:+.3g}" if isinstance(moved, float) and comparison["agreement"] == "moved" else ""
    return foreign.line(
        f"{comparison['name']} {shown(comparison['measured'])} "
        f"(printed {shown(comparison['printed'])}: {comparison['agreement']}{by})"
    )


def _section(out: Console, title: str, rows: Sequence[Row]) -> None:
    if rows:
        out.print(f"{title} ({len(rows)})", style="bold", soft_wrap=True)
        for row in rows:
            out.print(Text("  ") + line(row), soft_wrap=True)


def _print_counts(out: Console, rows: Sequence[Row]) -> None:
    """Counts by topic: a table, or where it would not fit a line a topic."""
    topics = sorted({row["id"].split(".", 1)[0] for row in rows})
    groups = [(topic, [row for row in rows if row["id"].split(".", 1)[0] == topic]) for topic in topics]
    if len(groups) > 1:
        groups.append(("all", list(rows)))
    table = _table(groups, [verdict for verdict in Verdict if any(row["verdict"] == verdict for row in rows)])
    if Measurement.get(out, out.options.update(width=1000), table).maximum <= out.width:
        out.print(table)
        return
    for topic, members in groups:
        counts = [f"{number} {name}" for name, number in _counts(members).items() if number != "·"]
        out.print(f"{topic}: {', '.join(counts)}", soft_wrap=True)


def _table(groups: Sequence[tuple[str, Sequence[Row]]], present: Sequence[Verdict]) -> Table:
    """A verdict that no claim has gets no column."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("topic", no_wrap=True)
    styles: dict[str, str] = {verdict.value: STYLES[verdict] for verdict in present}
    names = [*styles, "not as declared", "moved", "seconds"]
    for name in names:
        table.add_column("\n".join(name.rsplit(" ", 1)), justify="right", style=styles.get(name), no_wrap=True)
    for topic, members in groups:
        if topic == "all":
            table.add_section()
        numbers = _counts(members)
        table.add_row(topic, *(numbers[name] for name in names))
    return table


def _counts(rows: Sequence[Row]) -> dict[str, str]:
    verdicts = Counter(row["verdict"] for row in rows)
    counts = {verdict.value: verdicts[verdict] for verdict in Verdict}
    counts["not as declared"] = sum(not row["as_declared"] for row in rows)
    counts["moved"] = sum(_moved(row) for row in rows)
    seconds = sum(row["seconds"] for row in rows)
    return {**{name: str(number or "·") for name, number in counts.items()}, "seconds": f"{seconds:.1f}"}


def _moved(row: Row) -> bool:
    return any(one["agreement"] == "moved" for one in row["figures"])


def shown(value: Any) -> str:
    """A measured or printed value on one line."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        items = [shown(item) for item in value]
        return "[" + ", ".join(items if len(items) <= 8 else [*items[:7], f"… {len(items)} in all"]) + "]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(item)}" for key, item in value.items())
    return str(value)


@contextmanager
def progress_bar(out: Console, what: str, total: int) -> Iterator[Any]:
    """A bar on a terminal, one line elsewhere; gives the function that advances it."""
    if not out.is_terminal:
        out.print(f"{what}: {total} runs …")
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
