"""Two pictures of gaps: how long they are and why, and how their percentiles move along a ladder of settings.

Follows: the decode-step-stall post's histogram by primary cause and its ladder table.
Leaves out: the screen. Files are drawn by Matplotlib's Agg canvas, whatever backend is set.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from implementations.itl.findings import Findings
from implementations.itl.rung_table import STATISTICS, Rungs, median_and_range
from implementations.itl.tail import ANSWERS

# Okabe and Ito's palette, which most kinds of colour blindness tell apart.
COLOURS = {
    "prefill": "#0072B2",
    "preempt": "#D55E00",
    "graph": "#E69F00",
    "gc": "#CC79A7",
    "tok": "#009E73",
    "clean": "#C4C4C4",
    "mixed": "#6F6F6F",
}
STATISTIC_COLOURS = {"p50": "#000000", "p99": "#0072B2", "p99.9": "#E69F00", "max": "#D55E00"}
DPI = 144

Counts = NDArray[Any]


def histogram(findings: Findings) -> Figure:
    """Gaps of one log by length and primary cause: how many, and below which share of each bin a cause leads."""
    counts = {cause: np.array(findings.histogram[cause]) for cause in ANSWERS if any(findings.histogram[cause])}
    # Grey below, causes on top of it, the first of ANSWERS topmost.
    order = sorted(counts, key=ANSWERS.index, reverse=True)
    total = np.sum(list(counts.values()), axis=0)
    figure = _figure(max(8.0, 0.62 * len(total) + 2), 7.6)
    number, share = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    _stack(number, {cause: counts[cause] for cause in order})
    _stack(share, {cause: 100 * counts[cause] / np.maximum(total, 1) for cause in order})
    _label_bars(number, total)
    number.set_ylabel("gaps (thousands)" if total.max() >= 20_000 else "gaps", fontsize=12)
    number.set_title(_title(findings), fontsize=12, loc="left")
    number.margins(y=0.1)  # room for the counts above the bars
    number.legend(title="primary cause", reverse=True, fontsize=11, title_fontsize=11, frameon=False)
    share.set_ylabel("share of the bin (%)", fontsize=12)
    share.set_ylim(0, 100)
    share.set_xlim(-0.6, len(total) - 0.4)
    share.set_xticks(range(len(total)), bin_names(findings.edges_ms), rotation=40, ha="right", fontsize=11)
    share.set_xlabel("length of the gap between two tokens of a request (ms)", fontsize=12)
    return figure


def ladder(rungs: Rungs) -> Figure:
    """Percentiles along a ladder: a tick a run, a bar over their range, dots and a line at the medians."""
    names = list(rungs)
    figure = _figure(max(8.0, 1.3 * len(names) + 2.5), 6.2)
    axes = figure.subplots()
    shown = [statistic for statistic in STATISTICS if all(rungs[name].get(statistic) for name in names)]
    for place, statistic in enumerate(shown):
        offset = 0.12 * (place - (len(shown) - 1) / 2)
        _draw_statistic(axes, [rungs[name][statistic] for name in names], statistic, offset)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ms, _: f"{ms:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("gap between two tokens (ms, log scale)", fontsize=12)
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right", fontsize=11)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_title(f"Gaps by setting: median (dot) and range of {_runs(rungs)}", fontsize=12, loc="left")
    axes.tick_params(labelsize=11)
    figure.legend(reverse=True, fontsize=11, frameon=False, loc="outside right upper")
    _tidy(axes)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Writes a PNG file."""
    figure.savefig(path, format="png")


def bin_names(edges_ms: tuple[float, ...]) -> list[str]:
    """`10–15` for each bin, `700+` for the last."""
    return [f"{low:g}+" if math.isinf(high) else f"{low:g}–{high:g}" for low, high in pairwise(edges_ms)]


def _figure(width: float, height: float) -> Figure:
    """A figure in inches; the padding is for slanted labels, which the layout takes for shorter than they are."""
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    return Figure(figsize=(width, height), dpi=DPI, layout=layout)


def _stack(axes: Axes, layers: dict[str, Counts]) -> None:
    bottom: Counts = np.zeros(1)
    for cause, height in layers.items():
        axes.bar(range(len(height)), height, 0.86, bottom=bottom, color=COLOURS[cause], label=cause)
        bottom = bottom + height
    _tidy(axes)
    axes.tick_params(labelsize=11)


def _label_bars(axes: Axes, total: Counts) -> None:
    """The number above each bar: next to the typical gaps those of the tail have no height."""
    for place, count in enumerate(total.tolist()):
        if count:
            axes.annotate(f"{count:,}", (place, count), (0, 2), textcoords="offset points", ha="center", fontsize=9)
    axes.margins(y=0.08)
    if total.max() >= 20_000:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count / 1000:g}"))


def _title(findings: Findings) -> str:
    p50, p99, p999, longest = (findings.percentiles_ms[q] for q in (50.0, 99.0, 99.9, 100.0))
    return (
        f"{Path(findings.source).name}: {findings.gaps:,} gaps of {findings.requests:,} requests\n"
        f"p50 {p50:.3g}, p99 {p99:.3g}, p99.9 {p999:.3g}, longest {longest:.4g} ms"
    )


def _draw_statistic(axes: Axes, by_rung: list[list[float]], statistic: str, offset: float) -> None:
    colour = STATISTIC_COLOURS[statistic]
    place = np.arange(len(by_rung)) + offset
    middle, low, high = np.transpose([median_and_range(values) for values in by_rung])
    axes.vlines(place, low, high, color=colour, linewidth=2.5, alpha=0.45)
    axes.plot(place, middle, color=colour, marker="o", markersize=6.5, linewidth=1.2, label=statistic)
    for x, values in zip(place, by_rung):
        axes.plot([x] * len(values), values, linestyle="", marker="_", markersize=8, color=colour)


def _runs(rungs: Rungs) -> str:
    numbers = sorted({len(values) for rung in rungs.values() for values in rung.values()})
    low, high = numbers[0], numbers[-1]
    return f"{low} run{'s' if low > 1 else ''} each" if low == high else f"{low} to {high} runs"


def _tidy(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    axes.set_axisbelow(True)
