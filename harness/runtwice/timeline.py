"""Draws a history as SVG: a row a claim, a column a ledger, a square a verdict, and a ring where something changed.

Written by hand, so that it needs no library and opens in any browser. Verdicts are told apart by their letter as well
as by colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from runtwice import foreign
from runtwice.history import Entry, History, machine
from runtwice.terminal import LETTERS
from runtwice.verdict import Verdict

CELL, GAP, LINE = 18, 3, 16
COLOURS = {
    Verdict.HOLDS: "#2a7f62",
    Verdict.REFUTED: "#8e44ad",
    Verdict.WITHIN_NOISE: "#c79a00",
    Verdict.UNDECIDED: "#d9b94a",
    Verdict.RECORDED: "#3b7ea1",
    Verdict.NOT_RUN: "#b8b8b8",
    Verdict.ERROR: "#c0392b",
}
_WIDTH_OF_LETTER = 6.7
_FONT = "font-family='ui-monospace, Menlo, Consolas, monospace' font-size='11'"


def draw(found: History) -> str:
    """The whole picture."""
    series: dict[tuple[str, str], list[Entry]] = {}
    for entry in found.entries:
        series.setdefault((entry.id, machine(entry.found)), []).append(entry)
    machines = sorted({name for _, name in series})
    marks = {name: f" ({number})" if len(machines) > 1 else "" for number, name in enumerate(machines, 1)}
    columns = {one.path: number for number, one in enumerate(found.ledgers)}
    left = max(len(id_ + marks[name]) for id_, name in series) * _WIDTH_OF_LETTER + 12
    top = 11 * _WIDTH_OF_LETTER + 8
    below = top + len(series) * (CELL + GAP) + LINE
    notes = ["ringed: something changed since the ledger before; point at a square to read what"]
    notes += [f"({number}) {name}" for number, name in enumerate(machines, 1) if len(machines) > 1]
    width, height = left + max(len(columns) * (CELL + GAP), 640), below + (len(notes) + 1) * LINE
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:g}' height='{height:g}' {_FONT}>",
        "<rect width='100%' height='100%' fill='white'/>",
        *_dates(found, left, top),
        *_rows(series, marks, columns, left, top),
        *_legend(left, below),
        *(_text(left, below + number * LINE, note) for number, note in enumerate(notes, 1)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _dates(found: History, left: float, top: float) -> Iterator[str]:
    """The day of each ledger above its column, once for those of one day."""
    before = ""
    for number, one in enumerate(found.ledgers):
        day, x = str(one.block["created"])[:10], left + number * (CELL + GAP) + CELL / 2 + 4
        if day != before:
            yield _text(x, top - 6, day, f"fill='#444' transform='rotate(-90 {x:g} {top - 6:g})'")
        before = day


def _rows(
    series: Mapping[tuple[str, str], list[Entry]],
    marks: Mapping[str, str],
    columns: Mapping[Path, int],
    left: float,
    top: float,
) -> Iterator[str]:
    for number, ((id_, name), entries) in enumerate(series.items()):
        y = top + number * (CELL + GAP)
        yield _text(6, y + CELL - 5, id_ + marks[name])
        for entry in entries:
            yield from _square(entry, left + columns[entry.found.path] * (CELL + GAP), y)


def _square(entry: Entry, x: float, y: float) -> Iterator[str]:
    verdict = Verdict(entry.row["verdict"])
    what = [f"{entry.created}: {verdict.value}", entry.row["reason"]]
    what += [f"{one.name or one.kind.value}: {one.before} → {one.after}" for one in entry.changes]
    what += entry.packages if entry.changes else ()
    ring = " stroke='black' stroke-width='2'" if entry.changes else ""
    yield (
        f"<rect x='{x:g}' y='{y:g}' width='{CELL}' height='{CELL}' rx='3' fill='{COLOURS[verdict]}'{ring}>"
        f"<title>{escape(foreign.visible(chr(10).join(map(str, what))))}</title></rect>"
    )
    yield _text(x + 5, y + CELL - 5, _letter(verdict), "fill='white' pointer-events='none'")


def _legend(x: float, y: float) -> Iterator[str]:
    """Each verdict's square, letter and name, on one line."""
    for verdict in Verdict:
        yield f"<rect x='{x:g}' y='{y - 9:g}' width='10' height='10' rx='2' fill='{COLOURS[verdict]}'/>"
        yield _text(x + 14, y, f"{_letter(verdict)} {verdict.value}")
        x += (len(verdict.value) + 5) * _WIDTH_OF_LETTER


def _letter(verdict: Verdict) -> str:
    return "h" if verdict is Verdict.HOLDS else LETTERS[verdict]


def _text(x: float, y: float, text: str, how: str = "fill='#222'") -> str:
    return f"<text x='{x:g}' y='{y:g}' {how}>{escape(foreign.line(text))}</text>"
