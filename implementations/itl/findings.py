"""What a partition says of a log, as plain values: percentiles, tail, histogram, the worst gaps, and warnings.

Follows: `tail.py`, a block of gaps at a time.
Leaves out: how it is shown (`summary.py`, `plots.py`).

"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.itl.baseline import Baseline
from implementations.itl.gap_file import GAP, Gaps
from implementations.itl.stream import Streamed
from implementations.itl.tail import ANSWERS, TailDecomposition, primary_cause
from implementations.itl.timeline import LABELS, Floats

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
# Edges of histogram bins in each decade: near enough to equal steps of the logarithm, and round.
DECADE = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
# A tail with more of this than that is one the log says little about.
MUCH_RESIDUAL = 0.1


@dataclass(frozen=True)
class WorstGap:
    """One of the longest gaps.

    Args:
        request: its request, as the log calls it.
        start_s: when the token before it came, in the log's own time.
        end_s: when the token after it did.
        gap_ms: its length.
        cause: its primary cause, `clean` if it has none.
        parts_ms: ms per label.
    """

    request: int | str
    start_s: float
    end_s: float
    gap_ms: float
    cause: str
    parts_ms: dict[str, float]


@dataclass(frozen=True)
class Caveat:
    """Something that makes the answer doubtful.

    Args:
        kind: what to look for in the JSON form.
        text: one line.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Findings:
    """Everything `runtwice partition` has to say of one log.

    Args:
        source: the log.
        requests: how many requests emit tokens.
        gaps: how many gaps there are.
        span_s: from the first record to the last.
        records: steps, segments and collections read.
        percentiles_ms: length of gaps, `PERCENTILES`; 100 is the longest.
        tail: the gaps at or above a percentile.
        edges_ms: edges of the histogram's bins, the last infinite.
        histogram: gaps per bin, for each primary cause.
        worst: the longest gaps, the longest first.
        baseline: the one that graph excess was taken over.
        baseline_given: whether it was given or fitted to the log.
        warnings: what makes the answer doubtful.
    """

    source: str
    requests: int
    gaps: int
    span_s: float
    records: dict[str, int]
    percentiles_ms: dict[float, float]
    tail: TailDecomposition
    edges_ms: tuple[float, ...]
    histogram: dict[str, list[int]]
    worst: tuple[WorstGap, ...]
    baseline: Baseline
    baseline_given: bool
    warnings: tuple[Caveat, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values; an infinite edge is null."""
        found = asdict(self)
        found["percentiles_ms"] = {percentile_name(q): ms for q, ms in self.percentiles_ms.items()}
        found["edges_ms"] = [None if math.isinf(edge) else edge for edge in self.edges_ms]
        found["warnings"] = [asdict(warning) for warning in self.warnings]
        found["worst"] = [asdict(gap) for gap in self.worst]
        return found


def percentile_name(q: float) -> str:
    """`p99.9`, or `max` for the hundredth."""
    return "max" if q == 100 else f"p{q:g}"


def find(
    streamed: Streamed,
    source: str,
    requests: Sequence[int | str],
    *,
    tail_percentile: float = 99.0,
    worst: int = 10,
    baseline_given: bool = False,
) -> Findings:
    """Reads what there is to say off a streamed partition.

    Args:
        streamed: the partition.
        source: what the log is called.
        requests: ids of the requests by their numbers.
        tail_percentile: gaps at or above it are the tail.
        worst: how many of the longest gaps to name.
        baseline_given: whether the baseline is the user's.

    Raises:
        ValueError: a log without gaps, or a percentile outside 0 to 100.
    """
    gaps = streamed.gaps
    wanted = dict.fromkeys((*PERCENTILES, tail_percentile, 1.0))
    percentiles = gaps.percentiles(tuple(wanted))
    edges = bin_edges(percentiles[1.0], percentiles[100.0])
    tail, tally = _Tail(tail_percentile, percentiles[tail_percentile]), _Tally(edges, worst)
    for block in gaps.blocks():
        causes = _causes(block)
        tail.add(block, causes)
        tally.add(block, causes)
    decomposed = tail.decomposition()
    return Findings(
        source=source,
        requests=streamed.emitting,
        gaps=len(gaps),
        span_s=streamed.clock.span * 2.0**-streamed.clock.exponent,
        records=streamed.records,
        percentiles_ms={q: percentiles[q] for q in PERCENTILES},
        tail=decomposed,
        edges_ms=edges,
        histogram={cause: counts.tolist() for cause, counts in tally.counts.items()},
        worst=tuple(_worst_gap(row, requests) for row in tally.longest),
        baseline=streamed.baseline,
        baseline_given=baseline_given,
        warnings=tuple(_warnings(streamed, tally, decomposed)),
    )


def bin_edges(low_ms: float, high_ms: float) -> tuple[float, ...]:
    """Round edges, six a decade: from 0, then from about `low_ms` to about `high_ms`, then to infinity.

    Gaps below a microsecond are one bin: no engine emits that fast.
    """
    low = math.floor(math.log10(max(low_ms, 1e-3)))
    high = math.floor(math.log10(max(high_ms, 2e-3)))
    # Rounded to their own digits: 0.15 rather than 0.15000000000000002.
    ladder = [float(f"{step}e{decade}") for decade in range(low, high + 1) for step in DECADE]
    first = max([edge for edge in ladder if edge <= low_ms], default=ladder[0])
    return (0.0, *(edge for edge in ladder if first <= edge <= max(high_ms, first)), math.inf)


def _parts(block: Gaps) -> dict[str, Floats]:
    return {label: block["parts_ms"][:, place] for place, label in enumerate(LABELS)}


def _causes(block: Gaps) -> NDArray[np.str_]:
    return primary_cause(block["gap_ms"], _parts(block))


class _Tail:
    """Adds up a tail decomposition."""

    def __init__(self, q: float, threshold_ms: float) -> None:
        self.q, self.threshold_ms = q, threshold_ms
        self.parts_ms = np.zeros(len(LABELS))
        self.total_ms, self.gaps = 0.0, 0
        self.count = dict.fromkeys(ANSWERS, 0)

    def add(self, block: Gaps, causes: NDArray[np.str_]) -> None:
        tail = block["gap_ms"] >= self.threshold_ms
        self.parts_ms += block["parts_ms"][tail].sum(axis=0)
        self.total_ms += float(block["gap_ms"][tail].sum())
        self.gaps += int(np.count_nonzero(tail))
        for cause in ANSWERS:
            self.count[cause] += int(np.count_nonzero(causes[tail] == cause))

    def decomposition(self) -> TailDecomposition:
        share = self.parts_ms / self.total_ms if self.total_ms > 0 else np.zeros(len(LABELS))
        return TailDecomposition(
            self.q, self.threshold_ms, self.gaps, self.total_ms, dict(zip(LABELS, share.tolist())), self.count
        )


class _Tally:
    """Counts gaps by length and cause, keeps the longest, and counts what is odd."""

    def __init__(self, edges_ms: tuple[float, ...], worst: int) -> None:
        self.edges_ms = np.array(edges_ms)
        self.counts = {cause: np.zeros(len(edges_ms) - 1, np.int64) for cause in ANSWERS}
        self.worst = worst
        self.longest = np.empty(0, GAP)
        self.skipped_steps = self.gaps_that_skip = self.contradictions = 0

    def add(self, block: Gaps, causes: NDArray[np.str_]) -> None:
        bins = np.searchsorted(self.edges_ms, block["gap_ms"], side="right") - 1
        for cause, counts in self.counts.items():
            counts += np.bincount(bins[causes == cause], minlength=len(counts))
        longest = np.concatenate([self.longest, block])
        self.longest = longest[np.lexsort((longest["end_s"], -longest["gap_ms"]))][: self.worst]
        self.skipped_steps += int(block["skipped_steps"].sum())
        self.gaps_that_skip += int(np.count_nonzero(block["skipped_steps"]))
        self.contradictions += int(np.count_nonzero(block["emitted_while_evicted"]))


def _worst_gap(row: np.void, requests: Sequence[int | str]) -> WorstGap:
    block = np.array([row], GAP)
    return WorstGap(
        request=requests[int(row["request"])],
        start_s=float(row["start_s"]),
        end_s=float(row["end_s"]),
        gap_ms=float(row["gap_ms"]),
        cause=str(_causes(block)[0]),
        parts_ms=dict(zip(LABELS, row["parts_ms"].tolist())),
    )


def _warnings(streamed: Streamed, tally: _Tally, tail: TailDecomposition) -> Iterator[Caveat]:
    baseline = streamed.baseline
    if tally.contradictions:
        yield Caveat(
            "emitted while evicted",
            f"{many(tally.contradictions, 'token')} came while the request was evicted: those evictions ended earlier"
            " than recorded (or were never closed), and their gaps are charged to preempt",
        )
    if tally.skipped_steps:
        yield Caveat(
            "skipped steps",
            f"{many(tally.gaps_that_skip, 'gap')} sat out {many(tally.skipped_steps, 'decode step')} that no eviction"
            " explains: are all evictions on record, and does the scheduler rotate?",
        )
    if streamed.unjudged_steps:
        yield Caveat(
            "baseline not identifiable",
            f"graph excess of {many(streamed.unjudged_steps, 'eager step')} cannot be told: {_lacking(baseline)};"
            " give one with --baseline",
        )
    if streamed.negative_baseline_steps:
        yield Caveat(
            "negative baseline",
            f"the baseline is below zero for {many(streamed.negative_baseline_steps, 'eager step')}; taken as zero",
        )
    if baseline.falling:
        yield Caveat(
            "falling baseline", f"the baseline falls by {-baseline.slope_ms:.3g} ms a sequence; no decode does"
        )
    for table, count in streamed.overlapping.items():
        if count:
            what = many(count, table.removesuffix("s"))
            verb = "begins" if count == 1 else "begin"
            yield Caveat(f"overlapping {table}", f"{what} {verb} before an earlier one ends; the earlier start counts")
    if tail.share["residual"] > MUCH_RESIDUAL:
        yield Caveat("much residual", f"{tail.share['residual']:.0%} of the tail's time is covered by no record")


def _lacking(baseline: Baseline) -> str:
    if not baseline.identifiable:
        return "no step ran from a captured graph"
    return f"captured steps are all of size {baseline.only_size}"


def many(count: int, what: str) -> str:
    """`1 gap`, `2,000 gaps`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
