"""What the post's own tables say of one another: no engine, only arithmetic on the printed figures."""

from itertools import pairwise

from runtwice import claim

CAUSES = ("prefill", "preempt", "graph", "gc", "tok", "forward", "residual")
RUNGS = ("baseline", "gcfreeze", "compact", "graphs48", "budget256", "offloop", "watermark")


@claim("itl.parable-mean-hides-waits")
def test_one_long_wait_in_105_departures_makes_the_mean(evidence):
    """The mean of 104 gaps as promised and one as long as the longest wait."""
    departures = evidence.given("departures_per_long_wait")
    evidence.derived(
        "mean_gap_min",
        lambda promise, wait: ((departures - 1) * promise + wait) / departures,
        evidence.printed("promise_min"),
        evidence.printed("wait_min"),
    )


@claim("itl.runs-and-gaps-total")
def test_runs_and_gaps_multiply_out(evidence):
    """Configurations times seeds, and that many runs of a typical number of gaps."""
    rungs, seeds = evidence.printed("rungs"), evidence.printed("seeds")
    typical = evidence.printed("gaps_typical", of="itl.workload-counts")
    evidence.derived("runs", lambda rungs, seeds: rungs * seeds, rungs, seeds)
    evidence.derived("gaps_million", lambda rungs, seeds, gaps: rungs * seeds * gaps / 1e6, rungs, seeds, typical)


@claim("itl.tail-rows-sum")
def test_the_tail_shares_of_each_run_add_up(evidence):
    """Sums of the seven printed shares of each run, every one free within its rounding."""
    columns = [evidence.printed(f"{cause}_pct", of="itl.tail-table") for cause in CAUSES]
    for shares in zip(*columns):
        evidence.derived("row_sum_pct", sum, list(shares))


@claim(
    "itl.rung-shares-do-not-sum",
    expect="refuted",
    because="the seven rows add up to 98.4, 97.9, 98.3, 96.4, 102.9, 99.9 and 100.0 percent",
)
def test_the_median_shares_of_each_rung_add_up(evidence):
    """Sums of the seven printed medians of each configuration, every one free within its rounding."""
    for rung in RUNGS:
        evidence.derived("row_sum_pct", sum, evidence.printed(rung, of="itl.rung-share-table"))


@claim("itl.p999-consistent-with-histogram")
def test_the_percentile_lies_in_the_bin_its_rank_points_to(evidence):
    """Counting down from the longest gap to the rank of the percentile, in both printed histograms."""
    edges = evidence.given("edges_ms")
    before, after = (_histogram(evidence, name, edges) for name in ("histogram-run4", "histogram-watermark"))

    def bin_of_rank(counts):
        left = 0.001 * sum(counts)
        for edge, count in zip(reversed(edges), reversed(counts)):
            left -= count
            if left <= 0:
                return float(edge)
        raise ValueError(f"{sum(counts)} gaps hold no such rank")

    evidence.derived("rank_from_top", lambda counts: 0.001 * sum(counts), before)
    evidence.derived("baseline_bin_from_ms", bin_of_rank, before)
    evidence.derived("watermark_bin_from_ms", bin_of_rank, after)


def _histogram(evidence, name, edges):
    ends = [*edges[1:], "inf"]
    return [evidence.printed(f"n_{low}_{high}", of=f"itl.{name}") for low, high in zip(edges, ends)]


@claim("itl.range-overlaps")
def test_the_printed_ranges_overlap_as_stated(evidence):
    """Intersections of the printed ranges, at the ends of the ladder and around the budget step."""

    def span(rung, column):
        return evidence.printed(f"{rung}_{column}", of="itl.ladder-table")

    def overlap(one, other):
        low, high = max(one["low"], other["low"]), min(one["high"], other["high"])
        return [low, high] if low <= high else "disjoint"

    evidence.derived("p99_overlap", overlap, span("baseline", "p99"), span("watermark", "p99"))
    evidence.derived("budget_overlap", overlap, span("graphs48", "p99"), span("budget256", "p99"))
    evidence.derived("p999_ends", overlap, span("baseline", "p999"), span("watermark", "p999"))
    evidence.derived("max_ends", overlap, span("baseline", "max"), span("watermark", "max"))


@claim(
    "itl.budget256-largest-step",
    expect="refuted",
    because="the median p99 falls by 8.6 ms at the compact history and by 7.8 ms at the budget",
)
def test_the_budget_step_is_the_largest(evidence):
    """The configuration at which the printed median p99 falls by the most milliseconds."""
    p99 = [evidence.printed(f"{rung}_p99", of="itl.ladder-table") for rung in RUNGS]

    def largest(*ranges):
        falls = [before["mid"] - after["mid"] for before, after in pairwise(ranges)]
        return RUNGS[1 + falls.index(max(falls))]

    evidence.derived("largest_step", largest, *p99)


@claim("itl.last-tail-composition")
def test_the_last_row_rounds_to_the_summary(evidence):
    """The last row of the median shares, rounded to whole percents."""
    shares = evidence.printed("watermark", of="itl.rung-share-table")
    evidence.derived("forward_pct", float, shares[CAUSES.index("forward")])
    evidence.derived("prefill_pct", float, shares[CAUSES.index("prefill")])


@claim("itl.cheatsheet-ranges")
def test_the_summary_card_rounds_the_table(evidence):
    """Smallest and largest share of each cause over the five baseline runs."""
    for cause in ("preempt", "prefill", "gc", "tok"):
        shares = evidence.printed(f"{cause}_pct", of="itl.tail-table")
        evidence.derived(f"{cause}_pct", lambda column: column, shares)
    graph = evidence.printed("graph_pct", of="itl.tail-table")
    evidence.derived("graph_pct", lambda column: "<1" if max(column) < 1 else f"up to {max(column)}", graph)


@claim("itl.tail-columns-support")
def test_a_thousandth_of_a_run_is_about_a_hundred_gaps(evidence):
    """A thousandth of the smallest and of the largest printed number of gaps a run."""
    for name in ("gaps_min", "gaps_max"):
        gaps = evidence.printed(name, of="itl.workload-counts")
        evidence.derived("p999_gaps", lambda gaps: gaps / 1000, gaps)


@claim("itl.cause-table")
def test_the_closing_table_repeats_the_bands(evidence):
    """The bands of the text, written as the table writes them; graph misses' share from the table of tail time."""
    for cause in ("prefill", "graph", "gc", "tok"):
        band = evidence.printed(f"{cause}_text_ms")
        evidence.derived(f"{cause}_band", lambda ends: f"{ends['low']:g}–{ends['high']:g} ms", band)
    graph = evidence.printed("graph_pct", of="itl.tail-table")
    evidence.derived("graph_tail_share", lambda column: "<1%" if max(column) < 1 else f"{max(column)}%", graph)


@claim(
    "itl.rare-events-spare-the-average",
    expect="refuted",
    because="171 gaps of at least 0.8 s add 1.2 ms to the mean of 116,178 gaps, 8.6 percent of the median of 13.7 ms",
)
def test_the_longest_gaps_barely_move_the_mean(evidence):
    """Waiting that the gaps above 800 ms of run 4 must hold, spread over all its gaps, against the median."""
    edges, threshold = [0, 5, 10, 15, 20, 30, 50, 80, 120, 200, 400, 800], evidence.given("threshold_ms")
    counts = _histogram(evidence, "histogram-run4", edges)
    barely = evidence.given("barely_below")

    def effect(counts, p50):
        per_gap = counts[edges.index(threshold)] * threshold / sum(counts)
        return "barely" if per_gap / p50 < barely else "noticeably"

    evidence.derived("effect_on_mean", effect, counts, evidence.printed("p50_ms"))
