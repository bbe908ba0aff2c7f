"""The command `runtwice partition LOG`: where the time of slow gaps went, for any engine's log.

Follows: `stream.py` for the partition, `docs/event-log.md` for the log.
Leaves out: everything it only passes on; errors are one line on standard error and exit status 2.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from implementations.itl import findings, summary
from implementations.itl.baseline import Baseline
from implementations.itl.events import EventLog
from implementations.itl.findings import Findings
from implementations.itl.gap_file import GapFile
from implementations.itl.rung_table import Rungs, rungs_of_ledger, rungs_of_logs
from implementations.itl.spill import Spill, spill_lines, spill_log
from implementations.itl.stream import stream_partition
from implementations.itl.trace_events import Between, write_trace

# History of the JSON form: 1 — the first.
JSON_SCHEMA = 1


class Refused(click.ClickException):
    """What the command cannot do, as one line; a fault in a log begins with `file:line:`."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the line."""
        click.echo(self.format_message(), err=file is None, file=file)


@dataclass(frozen=True)
class Options:
    """What was asked for, the same for every log."""

    tail_percentile: float
    worst: int
    baseline: Baseline | None
    trace: Path | None
    between: Between | None


@click.command(
    "partition",
    epilog="\b\nExample:\n  runtwice partition engine.jsonl --png engine\n"
    "  runtwice partition old=a1.jsonl old=a2.jsonl new=b1.jsonl new=b2.jsonl",
)
@click.argument("logs", nargs=-1, required=True, metavar="[RUNG=]LOG...")
@click.option(
    "--tail-percentile",
    type=click.FloatRange(0, 100),
    default=99.0,
    show_default=True,
    help="Gaps at or above this percentile are the tail.",
)
@click.option("--worst", type=click.IntRange(0), default=10, show_default=True, help="How many of the longest gaps.")
@click.option(
    "--baseline",
    type=(float, float),
    metavar="SLOPE INTERCEPT",
    help="What a captured step costs, in ms a sequence and ms; fitted to the log otherwise.",
)
@click.option("--trace", type=click.Path(path_type=Path), help="Write trace events for chrome://tracing or Perfetto.")
@click.option(
    "--between", type=(float, float), metavar="FROM TO", help="Trace only these seconds of the log, in its own time."
)
@click.option(
    "--png",
    "png",
    type=click.Path(path_type=Path),
    metavar="PREFIX",
    help="Write PREFIX-histogram.png and, for several logs or a ledger, PREFIX-ladder.png.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="What to print."
)
def partition(
    logs: tuple[str, ...],
    tail_percentile: float,
    worst: int,
    baseline: tuple[float, float] | None,
    trace: Path | None,
    between: Between | None,
    png: Path | None,
    form: str,
) -> None:
    """Split the gaps between tokens over what the engine was doing.

    LOG is a .jsonl or .npz event log, or a ledger (.json) that holds a ladder. Several logs make a ladder: those
    given as RUNG=LOG under one name are runs of one setting.
    """
    with _one_line_errors():
        options = Options(tail_percentile, worst, Baseline(*baseline) if baseline else None, trace, between)
        if between and not trace:
            raise Refused("--between says which part --trace is to show; there is no --trace")
        if trace and len(logs) > 1:
            raise Refused("--trace takes one log")
        named = [_named(log) for log in logs]
        found = [(rung, _findings(path, options)) for rung, path in named if path.suffix != ".json"]
        rungs = rungs_of_logs(found) if len(found) > 1 else {}
        for _, path in named:
            rungs |= rungs_of_ledger(path) if path.suffix == ".json" else {}
        _show([one for _, one in found], rungs, form)
        if png:
            _plot([one for _, one in found], rungs, png)


def _named(log: str) -> tuple[str, Path]:
    """Rung and path; a log without a rung is one by its own name."""
    rung, given, path = log.partition("=")
    if given and not Path(log).exists():
        return rung, Path(path)
    return Path(log).stem, Path(log)


def _findings(path: Path, options: Options) -> Findings:
    with tempfile.TemporaryDirectory(prefix="runtwice-") as name:
        folder = Path(name)
        with _spilled(path, folder) as spill, GapFile(folder) as gaps, _working(f"splitting {path}"):
            streamed = stream_partition(spill, gaps, options.baseline)
            if not len(gaps):
                raise Refused(f"{path}: no gaps, for no request emits twice")
            found = findings.find(
                streamed,
                str(path),
                spill.requests,
                tail_percentile=options.tail_percentile,
                worst=options.worst,
                baseline_given=options.baseline is not None,
            )
            if options.trace:
                write_trace(options.trace, spill, streamed, options.between)
            return found


@contextmanager
def _spilled(path: Path, folder: Path) -> Iterator[Spill]:
    with _working(f"reading {path}"):
        match path.suffix:
            case ".jsonl":
                spill = spill_lines(path, folder)
            case ".npz":
                spill = spill_log(EventLog.load(path), str(path), folder)
            case ending:
                what = f"not {ending!r}" if ending else "and this has no ending"
                raise Refused(f"{path}: a log is read as .jsonl or .npz, {what}")
    with spill:
        yield spill


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Says on a terminal what takes so long."""
    out = summary.console(sys.stderr)
    if not out.is_terminal:
        yield
        return
    with out.status(what):
        yield


def _show(found: list[Findings], rungs: Rungs, form: str) -> None:
    if form == "json":
        document = {"schema": JSON_SCHEMA, "logs": [one.to_json() for one in found], "rungs": rungs}
        click.echo(json.dumps(document, allow_nan=False))
        return
    out = summary.console(sys.stdout)
    for place, one in enumerate(found):
        if place:
            out.print()
        summary.print_findings(out, one)
    if rungs:
        summary.print_rungs(out, rungs)


def _plot(found: list[Findings], rungs: Rungs, png: Path) -> None:
    try:
        from implementations.itl import plots
    except ImportError as fault:
        raise Refused(f"--png needs Matplotlib ({fault}); it comes with `pip install 'runtwice[report]'`") from fault
    prefix = png.with_suffix("") if png.suffix == ".png" else png
    for place, one in enumerate(found, 1):
        ending = "histogram" if len(found) == 1 else f"histogram-{place}"
        plots.save(plots.histogram(one), _announced(prefix, ending))
    if rungs:
        plots.save(plots.ladder(rungs), _announced(prefix, "ladder"))


def _announced(prefix: Path, ending: str) -> Path:
    path = prefix.with_name(f"{prefix.name}-{ending}.png")
    click.echo(f"writing {path}", err=True)
    return path


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # click ends quietly where the reader has gone, as `| head` does
    except FileNotFoundError as fault:
        raise Refused(f"{fault.filename}: no such file") from fault
    except OSError as fault:
        where = f"{fault.filename}: " if fault.filename else ""
        raise Refused(f"{where}{fault.strerror or fault}") from fault
    except ValueError as fault:
        raise Refused(str(fault)) from fault
