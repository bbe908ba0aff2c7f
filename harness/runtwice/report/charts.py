"""Draws a topic's plots as SVG that takes its colours and its font from the page.

Matplotlib writes colours as it is told; the ones used here stand for the page's own and are put in their places
afterwards, so that one drawing serves the light and the dark page. Text stays text.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from statistics import median
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from runtwice.report.numerals import numeral
from runtwice.report.plots import Data, Plot

# Written by Matplotlib, replaced by the page's variables.
_SERIES = [f"#0000{i:02x}" for i in range(1, 9)]
_INK, _GRID = "#010101", "#010102"
_VARIABLES = {_INK: "var(--ink)", _GRID: "var(--grid)", **{one: f"var(--c{i})" for i, one in enumerate(_SERIES, 1)}}
# Inches at 72 to the inch; as wide as a phone's page, so that text keeps its size there.
_WIDTH, _HEIGHT = 5.2, 3.5
_FONT = 10.0
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", "-.", ":")

Floats = NDArray[np.float64]


def draw(plot: Plot, data: Data, key: str) -> Markup:
    """One plot as an SVG element.

    Args:
        plot: What to draw.
        data: Its numbers.
        key: A text that no other plot of the page has; the drawing's ids are made of it.
    """
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": key,
        "font.size": _FONT,
        "text.color": _INK,
        "axes.edgecolor": _INK,
        "axes.labelcolor": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "axes.unicode_minus": True,
        "text.parse_math": False,  # a price in dollars is no formula
        "path.simplify": True,
    }
    with mpl.rc_context(settings):
        figure = _drawn(plot, replace(data, series={_label(name): units for name, units in data.series.items()}))
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(file.getvalue(), plot.title)


def _drawn(plot: Plot, data: Data) -> Figure:
    rows = math.ceil(len(data.series) / 4) if len(data.series) > 1 else 0
    figure = Figure(figsize=(_WIDTH, _HEIGHT + 0.2 * rows), layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06))
    axes = figure.subplots()
    draw_kind = {"bars": _bars, "stack": _stack, "curves": _curves, "ranges": _ranges, "roofline": _roofline}[plot.kind]
    draw_kind(axes, plot, data)
    _scales(axes, plot, data)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="both" if plot.kind in ("curves", "roofline") and data.numeric else "y", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    if len(data.series) > 1:
        figure.legend(loc="outside upper center", ncols=min(4, len(data.series)), frameon=False, handlelength=1.8)
    return figure


@dataclass(frozen=True)
class _Series:
    """Where a series has values, shape (places,), and what they are: median, lowest and highest of the units."""

    places: Floats
    middle: Floats
    low: Floats
    high: Floats
    ticks: list[tuple[float, float]]

    @property
    def repeated(self) -> bool:
        """True where a place has more than one unit."""
        return bool(self.ticks)


def _series(data: Data, units: Sequence[Sequence[float]], *, numeric: bool, offset: float = 0.0) -> _Series:
    at = list(map(float, data.x if numeric else range(len(data.x))))
    there = [(x + offset, values) for x, values in zip(at, units) if values]
    places = np.array([x for x, _ in there])
    middle, low, high = (np.array([find(values) for _, values in there]) for find in (median, min, max))
    ticks = [(x, value) for x, values in there for value in values if len(values) > 1]
    return _Series(places, middle, low, high, ticks)


def _bars(axes: Axes, plot: Plot, data: Data) -> None:
    width = 0.8 / len(data.series)
    for i, (name, units) in enumerate(data.series.items()):
        one = _series(data, units, numeric=False, offset=(i - (len(data.series) - 1) / 2) * width)
        axes.bar(one.places, one.middle, 0.92 * width, color=_SERIES[i % 8], label=name)
        if one.repeated:
            axes.vlines(one.places, one.low, one.high, color=_INK, linewidth=1.1)
    if plot.y_scale == "linear":
        axes.axhline(0, color=_INK, linewidth=0.8)
    elif positive := [value for units in data.series.values() for one in units for value in one if value > 0]:
        axes.set_ylim(bottom=min(positive) / 3)  # a bar of the least has a height


def _stack(axes: Axes, plot: Plot, data: Data) -> None:
    layers = np.array([[median(values) if values else 0.0 for values in units] for units in data.series.values()])
    if plot.share:
        layers = 100 * layers / np.maximum(layers.sum(axis=0), np.finfo(float).tiny)
    bottom = np.zeros(len(data.x))
    for i, (name, layer) in enumerate(zip(data.series, layers)):
        axes.bar(np.arange(len(data.x)), layer, 0.82, bottom=bottom, color=_SERIES[i % 8], label=name)
        bottom = bottom + layer


def _curves(axes: Axes, _plot: Plot, data: Data) -> None:
    for i, ((name, units), dash) in enumerate(zip(data.series.items(), cycle(_DASHES))):
        one = _series(data, units, numeric=data.numeric)
        colour = _SERIES[i % 8]
        if one.repeated:
            axes.fill_between(one.places, one.low, one.high, color=colour, alpha=0.18, linewidth=0)
        marker = _MARKERS[i % 8] if len(one.places) <= 15 else ""
        axes.plot(one.places, one.middle, dash, color=colour, marker=marker, markersize=4, linewidth=1.6, label=name)


def _ranges(axes: Axes, plot: Plot, data: Data) -> None:
    step = min(0.16, 0.7 / len(data.series))
    for i, (name, units) in enumerate(data.series.items()):
        one = _series(data, units, numeric=False, offset=(i - (len(data.series) - 1) / 2) * step)
        colour = _SERIES[i % 8]
        axes.vlines(one.places, one.low, one.high, color=colour, linewidth=2.2, alpha=0.45)
        joined, marker = float(plot.connected), _MARKERS[i % 8]
        axes.plot(one.places, one.middle, color=colour, marker=marker, markersize=5, linewidth=joined, label=name)
        axes.plot(*np.reshape(one.ticks, (-1, 2)).T, linestyle="", marker="_", markersize=5, color=colour)


def _roofline(axes: Axes, _plot: Plot, data: Data) -> None:
    bandwidth, peak = data.roof["bandwidth"], data.roof["peak"]
    every, ridge = np.array(data.x, dtype=float), peak / bandwidth
    reach = np.array([min(every.min(), ridge) / 2, ridge, max(every.max(), ridge) * 2])
    axes.plot(reach, np.minimum(peak, bandwidth * reach), color=_INK, linewidth=1.6)
    for i, (name, units) in enumerate(data.series.items()):
        one = _series(data, units, numeric=True)
        axes.vlines(one.places, one.low, one.high, color=_SERIES[i % 8], linewidth=2, alpha=0.5)
        marker = _MARKERS[i % 8]
        axes.plot(one.places, one.middle, linestyle="", marker=marker, color=_SERIES[i % 8], markersize=5, label=name)


def _label(name: str) -> str:
    """A series' name for the legend, which leaves out what begins with an underscore."""
    return f"\u200b{name}" if name.startswith("_") else name


def _scales(axes: Axes, plot: Plot, data: Data) -> None:
    log_x, log_y = (plot.kind == "roofline" or scale == "log" for scale in (plot.x_scale, plot.y_scale))
    if log_y:
        axes.set_yscale("log")
        _log_ticks(axes.yaxis)
    if data.numeric and plot.kind in ("curves", "roofline"):
        if log_x:
            axes.set_xscale("log")
            _log_ticks(axes.xaxis)
        if len(data.x) <= 8 and plot.kind == "curves":
            axes.set_xticks([float(one) for one in data.x], [numeral(one) for one in data.x])
            axes.xaxis.set_minor_locator(NullLocator())
        return
    names = [numeral(one) for one in data.x]
    slanted = sum(map(len, names)) > 42
    axes.set_xticks(range(len(names)), names, rotation=35 if slanted else 0, ha="right" if slanted else "center")
    if slanted:
        axes.tick_params("x", pad=1)


def _log_ticks(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: numeral(float(value))))
    axis.set_minor_formatter(NullFormatter())


def _inline(document: str, title: str) -> Markup:
    """The `svg` element alone: no size, font or style sheet of its own, the page's colours, ids only where used."""
    text = document[document.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" @>', text, count=1)
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", text)
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)
    text = re.sub(r"#0[01]0[01]0[0-9a-f]", lambda found: _VARIABLES.get(found[0], found[0]), text)
    text = re.sub(r"\s*\n\s*", " ", text)
    text = re.sub(r'<g id="[^"]*"', "<g", text).replace("xlink:href", "href")
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), text)
    return Markup(text.replace("@", f'class="chart" role="img" aria-label="{escape(title)}"', 1))
