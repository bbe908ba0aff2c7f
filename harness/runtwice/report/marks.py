"""Small plots that stand in a table's cell: an interval against what was claimed, and samples as ticks or lines.

They are written by hand, a few hundred bytes each, because a page holds hundreds. Their colours are the page's, and
each has a text of its numbers beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from markupsafe import Markup, escape

from runtwice.report.numerals import numeral

WIDTH, HEIGHT = 150.0, 22.0
_EDGE = 7.0
# The parts evidence adds to a sample's name; samples without them that read alike belong on one scale.
_PART = re.compile(r"( \((above|below|against|repeats|narrower|wider)\))|( #?\d+$)|(^\d+ )")


@dataclass(frozen=True)
class Scale:
    """Values to places between two edges of a plot."""

    low: float
    high: float
    width: float = WIDTH

    @classmethod
    def of(cls, values: Sequence[float], width: float = WIDTH) -> Scale:
        """The scale that shows all of `values`."""
        low, high = min(values), max(values)
        return cls(low, high, width) if high > low else cls(low - 1, high + 1, width)

    def __call__(self, value: float) -> float:
        """The place of a value, in units of the plot."""
        return _EDGE + (value - self.low) / (self.high - self.low) * (self.width - 2 * _EDGE)


def interval(statistic: Mapping[str, Any], reference: float, margin: float) -> Markup:
    """An estimate and its interval against the value of no effect, with the band that counts as none.

    Args:
        statistic: As the ledger keeps it; a bound of None is infinite.
        reference: The value of no effect: 0, or what a ratio was promised to exceed.
        margin: Half the width of the band around it; 0 for none.
    """
    value, low, high = (statistic[key] for key in ("value", "low", "high"))
    finite = [one for one in (value, low, high, reference, reference - margin, reference + margin) if one is not None]
    scale, middle = Scale.of(finite), HEIGHT / 2
    left, right = (0.0 if low is None else scale(low)), (WIDTH if high is None else scale(high))
    at = scale(reference)
    band = ""
    if margin:
        start, end = scale(reference - margin), scale(reference + margin)
        band = f'<rect class="band" x="{start:.1f}" y="1" width="{end - start:.1f}" height="{HEIGHT - 2:g}"/>'
    parts = (
        band,
        f'<path class="ref" d="M{at:.1f} 1V{HEIGHT - 1:g}"/>',
        f'<path class="ci" d="M{left:.1f} {middle:g}H{right:.1f}{_cap(left, low)}{_cap(right, high)}"/>',
        f'<circle class="est" cx="{scale(value):.1f}" cy="{middle:g}" r="3.5"/>' if value is not None else "",
    )
    return _svg("mark", WIDTH, HEIGHT, described(statistic), "".join(parts))


def _cap(x: float, bound: float | None) -> str:
    """A short bar at a finite end of an interval."""
    return "" if bound is None else f"M{x:.1f} {HEIGHT / 2 - 4:g}v8"


def described(statistic: Mapping[str, Any]) -> str:
    """`2.31, 95% interval 0.90 to 3.52, 6 units`."""
    low, high = ("unbounded" if statistic[key] is None else numeral(float(statistic[key])) for key in ("low", "high"))
    confidence = f"{statistic['confidence']:.0%}" if statistic.get("confidence") else ""
    estimate = "no estimate" if statistic["value"] is None else numeral(float(statistic["value"]))
    return f"{estimate}, {confidence} interval {low} to {high}, {statistic['n']} units"


@dataclass(frozen=True)
class Strip:
    """One line of a claim's samples: a name, a plot and its numbers."""

    name: str
    plot: Markup
    number: str
    low: str
    middle: str
    high: str
    values: str


def strips(samples: Mapping[str, Sequence[Any]], capped: Mapping[str, int], curves: bool) -> list[Strip]:
    """The samples of a claim; those of one comparison share a scale.

    Args:
        samples: Values by name.
        capped: How many values there were, where the ledger keeps fewer.
        curves: Whether each sample is a curve along a sweep, to be drawn as a line among its like.
    """
    groups: dict[str, dict[str, list[float]]] = {}
    for name, values in samples.items():
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        if numbers:
            groups.setdefault(_PART.sub("", name).strip(), {})[name] = numbers
    found = []
    for base, members in groups.items():
        alike = len({len(values) for values in members.values()}) == 1
        if curves and alike and len(members) > 1 and len(next(iter(members.values()))) > 1:
            found.append(_lines(base, list(members.values())))
            continue
        scale = Scale.of([value for values in members.values() for value in values], 2 * WIDTH)
        found += [_ticks(name, values, scale, capped.get(name)) for name, values in members.items()]
    return found


def _ticks(name: str, values: list[float], scale: Scale, full: int | None) -> Strip:
    path = "".join(f"M{scale(value):.1f} 5v12" for value in sorted(values))
    zero = f'<path class="ref" d="M{scale(0):.1f} 1V21"/>' if scale.low < 0 < scale.high else ""
    middle = scale(median(values))
    body = f'{zero}<path class="tick" d="{path}"/><path class="mid" d="M{middle:.1f} 2v18"/>'
    number = f"{len(values)} of {full}" if full else str(len(values))
    listed = ", ".join(map(numeral, values)) if 1 < len(values) <= 12 else ""
    return _strip(name, _svg("strip", scale.width, 22, "", body), number, values, listed)


def _lines(name: str, curves: list[list[float]]) -> Strip:
    flat = [value for curve in curves for value in curve]
    scale, height = Scale.of(flat), 60.0
    last = len(curves[0]) - 1

    def path(curve: Sequence[float]) -> str:
        places = (
            f"{_EDGE + i / last * (2 * WIDTH - 2 * _EDGE):.1f} {height - scale(value) / WIDTH * height:.1f}"
            for i, value in enumerate(curve)
        )
        return "M" + "L".join(places)

    middle = [median(column) for column in zip(*curves)]
    body = f'<path class="line" d="{"".join(map(path, curves))}"/><path class="mid" d="{path(middle)}"/>'
    number = f"{len(curves)} curves of {last + 1} points"
    medians = "medians along the sweep: " + ", ".join(map(numeral, middle)) if last < 12 else ""
    return _strip(name, _svg("strip", 2 * WIDTH, height, "", body), number, flat, medians)


def _strip(name: str, plot: Markup, number: str, values: Sequence[float], listed: str) -> Strip:
    low, middle, high = (numeral(find(values)) for find in (min, median, max))
    return Strip(name, plot, number, low, middle, high, listed)


def _svg(kind: str, width: float, height: float, text: str, body: str) -> Markup:
    """A plot; without a text of its own it is decoration beside its numbers."""
    spoken = f'role="img" aria-label="{escape(text)}"' if text else 'aria-hidden="true"'
    return Markup(f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" {spoken}>{body}</svg>')
