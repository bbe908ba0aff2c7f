"""The pictures: what they show is what was found, and a reader can tell what that is."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl import plots
from implementations.itl.rung_table import STATISTICS
from tests.implementations.itl.test_findings import findings, lines

LADDER = {
    "baseline": {"p50": [3.0, 4.0, 5.0], "p99": [15, 16, 17], "p99.9": [50, 40, 180], "max": [60, 90, 200]},
    "all fixes": {"p50": [3.1, 4.1, 4.9], "p99": [12, 13, 14], "p99.9": [20, 30, 25], "max": [35, 50, 40]},
}
LEGIBLE_POINTS = 9


@pytest.fixture(scope="module")
def found():
    return findings(lines(engine_log(6_000)), BASELINE)


def bars(axes):
    """Heights by cause, from bottom to top."""
    return {bars.get_label(): np.array([bar.get_height() for bar in bars]) for bars in axes.containers}


def texts(figure):
    """Every text but the numbers beside the vertical axes, some of which lie outside the view and are not drawn."""
    figure.draw_without_rendering()
    found = [text for legend in figure.legends for text in legend.get_texts()]
    for axes in figure.axes:
        found += [axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title, *axes.texts]
        found += axes.get_xticklabels() + (axes.get_legend().get_texts() if axes.get_legend() else [])
    return [text for text in found if text.get_text() and text.get_visible()]


def test_bars_are_the_histogram(found):
    """Stacked counts above, shares that fill the bin below."""
    number, share = plots.histogram(found).axes
    assert {cause: counts.tolist() for cause, counts in bars(number).items()} == {
        cause: counts for cause, counts in found.histogram.items() if any(counts)
    }
    total = sum(bars(number).values())
    assert total.sum() == found.gaps
    assert sum(bars(share).values())[total > 0] == pytest.approx(100)
    tops = [bar.get_y() + bar.get_height() for bar in number.containers[-1]]
    assert tops == total.tolist()


def test_axes_say_what_they_show(found):
    """Labels with units, a tick for each bin, a legend of causes, the number above each bar."""
    number, share = plots.histogram(found).axes
    assert number.get_ylabel() == "gaps"
    assert "(ms)" in share.get_xlabel()
    assert "(%)" in share.get_ylabel()
    assert [tick.get_text() for tick in share.get_xticklabels()] == plots.bin_names(found.edges_ms)
    assert {text.get_text() for text in number.get_legend().get_texts()} == set(bars(number))
    assert sum(int(note.get_text().replace(",", "")) for note in number.texts) == found.gaps


def test_many_gaps_are_counted_in_thousands(found):
    """The axis says so where it counts thousands."""
    many = replace(found, histogram={cause: [100 * n for n in counts] for cause, counts in found.histogram.items()})
    assert plots.histogram(many).axes[0].get_ylabel() == "gaps (thousands)"


def test_bins_have_names():
    """The last one is open."""
    assert plots.bin_names((0.0, 0.15, 700.0, float("inf"))) == ["0–0.15", "0.15–700", "700+"]


def test_ladder_shows_median_and_range():
    """A line through the medians of each percentile, a bar from the lowest to the highest run."""
    axes = plots.ladder(LADDER).axes[0]
    medians = {line.get_label(): line.get_ydata().tolist() for line in axes.lines if line.get_label() in STATISTICS}
    assert medians == {"p50": [4, 4.1], "p99": [16, 13], "p99.9": [50, 25], "max": [90, 40]}
    ranges = [segment[:, 1].tolist() for lines in axes.collections for segment in lines.get_segments()]
    assert ranges == [[3, 5], [3.1, 4.9], [15, 17], [12, 14], [40, 180], [20, 30], [60, 200], [35, 50]]
    assert axes.get_yscale() == "log"
    assert "ms" in axes.get_ylabel()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [*LADDER]
    assert "3 runs each" in axes.get_title(loc="left")


def test_statistic_that_a_rung_lacks_is_left_out():
    """A line needs a value at every rung."""
    axes = plots.ladder({"one": {"p50": [1.0], "max": [3.0]}, "two": {"p50": [2.0]}}).axes[0]
    assert [line.get_label() for line in axes.lines if line.get_label() in STATISTICS] == ["p50"]


@pytest.mark.parametrize("draw", [lambda found: plots.histogram(found), lambda found: plots.ladder(LADDER)])
def test_texts_are_legible_and_inside_the_picture(found, draw):
    """No text below nine points, none cut off at an edge."""
    figure = draw(found)
    size = figure.get_window_extent()
    for text in texts(figure):
        box = text.get_window_extent()
        assert text.get_fontsize() >= LEGIBLE_POINTS, text.get_text()
        assert size.x0 <= box.x0 < box.x1 <= size.x1, text.get_text()
        assert size.y0 <= box.y0 < box.y1 <= size.y1, text.get_text()


def test_file_is_a_png(tmp_path, found):
    """Of the figure's size, and not blank."""
    from matplotlib.image import imread

    figure = plots.histogram(found)
    plots.save(figure, tmp_path / "gaps.picture")
    assert (tmp_path / "gaps.picture").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    image = imread(tmp_path / "gaps.picture", format="png")
    assert image.shape[1] == pytest.approx(figure.get_size_inches()[0] * plots.DPI, abs=1)
    assert image[..., :3].std() > 0.1
