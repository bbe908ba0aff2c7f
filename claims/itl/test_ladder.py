"""The fix ladder near this machine's capacity: six real runs a rung, one observation each.

Six runs of 15 s tell large effects only (about twice the spread from run to run). Where a claim needs more, it is
decided on the same scheduler in virtual time, over more seeds and longer runs, and the real runs are kept beside it.
"""

from itertools import pairwise

import numpy as np

from runtwice import claim

RUNGS = {
    "baseline": "baseline",
    "gcfreeze": "gc-freeze",
    "compact": "compact-history",
    "graphs48": "graphs-to-48",
    "budget256": "budget-256",
    "offloop": "tokenize-off-loop",
    "watermark": "admission-watermark",
}
LABELS = ("prefill", "preempt", "graph", "gc", "tok", "forward", "residual")
CAUSES = ("prefill", "preempt", "graph", "gc", "tok")
FIRST, LAST = "baseline", "admission-watermark"


def column(runs, *path):
    """One number a run."""
    from claims.experiments.ladder_runs import column as read

    return np.array(read(runs, *path))


def shares(runs, part="tail_share"):
    """Shares by label, a run; time off the processor counts as forward pass, as the post's instrument has it."""
    found = {label: column(runs, part, label) for label in LABELS}
    found["forward"] = found["forward"] + column(runs, part, "offcpu")
    return found


@claim("itl.median-forward-tail-not")
def test_the_median_is_forward_pass_and_the_tail_is_not(evidence, ladder):
    """Median forward share of gaps without a cause, and of gaps at or above p99, a baseline run."""
    runs = ladder[FIRST]
    clean, tail = column(runs, "forward_share_clean"), column(runs, "forward_share_tail")
    evidence.figure("clean_share_pct", 100 * float(np.median(clean)))
    evidence.figure("tail_share_pct", 100 * tail)
    evidence.above(clean, float(evidence.given("clean_at_least")), label="clean")
    evidence.above(evidence.given("tail_at_most") - tail, 0.0, label="tail")


@claim("itl.fwd-share-table")
def test_table_of_forward_shares(evidence, ladder):
    """The same two shares of the first five baseline runs, beside the post's."""
    runs = ladder[FIRST][:5]
    evidence.figure("clean_pct_runs", 100 * column(runs, "forward_share_clean"))
    evidence.figure("tail_pct_runs", 100 * column(runs, "forward_share_tail"))


@claim("itl.clean-share-selects")
def test_a_typical_gap_has_the_share_of_a_clean_one(evidence, ladder):
    """Median forward share of gaps without a cause against that of all gaps, and of the middle tenth by length."""
    runs = ladder[FIRST]
    clean = column(runs, "forward_share_clean")
    evidence.figure("clean_share_pct", 100 * float(np.median(clean)))
    evidence.equivalent(clean, column(runs, "forward_share_all"), label="all gaps")
    evidence.equivalent(clean, column(runs, "forward_share_middle"), label="middle tenth")


@claim("itl.stopwatch-on-train")
def test_the_forward_pass_alone_does_not_show_the_stalls(evidence, ladder):
    """p99.9 over the median, of gaps and of forward passes, as a log ratio a baseline run."""
    runs = ladder[FIRST]
    passes = [run["decode_percentiles_ms"] for run in runs]
    of_passes = np.array([p999 / p50 for p50, _, p999 in passes])
    of_gaps = column(runs, "p999_ms") / column(runs, "p50_ms")
    evidence.above(np.log(of_gaps / of_passes), float(evidence.given("log_factor")))


@claim("itl.tail-table")
def test_table_of_tail_shares(evidence, ladder):
    """p99 and the share of each label in the tail of the first five baseline runs, beside the post's."""
    runs = ladder[FIRST][:5]
    evidence.figure("p99_ms", column(runs, "p99_ms"))
    for label, values in shares(runs).items():
        evidence.figure(f"{label}_pct", 100 * values)


@claim("itl.preempt-holds-tail-time")
def test_preemption_holds_most_of_the_tail(evidence, ladder, virtual_ladder):
    """Preemption's share of tail time against the largest other cause, a virtual baseline run; real runs kept."""
    evidence.figure("range_pct", 100 * shares(ladder[FIRST])["preempt"])
    found = shares(virtual_ladder[FIRST])
    others = np.max([found[cause] for cause in CAUSES if cause != "preempt"], axis=0)
    evidence.above(found["preempt"], others, paired=True)


@claim("itl.count-and-time-disagree")
def test_prefill_leads_by_count_and_preemption_by_time(evidence, ladder, virtual_ladder):
    """By count prefill against the next cause, by time preemption, a virtual baseline run; real runs kept."""
    evidence.figure("prefill_count", column(ladder[FIRST], "tail_count", "prefill"))
    runs = virtual_ladder[FIRST]
    counts, times = {cause: column(runs, "tail_count", cause) for cause in CAUSES}, shares(runs)
    for leader, by, found in (("prefill", "count", counts), ("preempt", "time", times)):
        others = np.max([found[cause] for cause in CAUSES if cause != leader], axis=0)
        evidence.above(found[leader], others, paired=True, label=f"{leader} by {by}")


@claim("itl.report-count-and-time")
def test_causes_rank_differently_by_count_and_by_time(evidence, ladder):
    """One less the rank correlation of the causes by count and by time in the tail, a baseline run."""
    from scipy.stats import spearmanr

    runs, times = ladder[FIRST], shares(ladder[FIRST])
    by_time = np.transpose([times[cause] for cause in CAUSES])
    by_count = np.transpose([column(runs, "tail_count", cause) for cause in CAUSES])
    evidence.above([1 - spearmanr(one, other).statistic for one, other in zip(by_time, by_count)], 0.0)


@claim("itl.graph-misses-tiny-in-tail")
def test_graph_misses_hold_more_of_all_time_than_of_the_tail(evidence, ladder, virtual_ladder):
    """Graph share of all gap time against its share of tail time, a virtual baseline run; real runs kept."""
    tail, everything = (100 * shares(ladder[FIRST], part)["graph"] for part in ("tail_share", "all_share"))
    evidence.figure("tail_pct", tail)
    evidence.figure("all_pct_range", everything)
    evidence.figure("all_pct_median", float(np.median(everything)))
    tail, everything = (shares(virtual_ladder[FIRST], part)["graph"] for part in ("tail_share", "all_share"))
    evidence.above(everything, tail, paired=True)


@claim("itl.histogram-run4")
def test_histogram_of_the_baseline(evidence, ladder):
    """Gaps by length in the baseline run of seed 4, beside the post's."""
    for cause, counts in ladder[FIRST][3]["histogram"].items():
        evidence.keep(f"gaps by length, {cause}", counts)
    _histogram(evidence, ladder[FIRST][3])


@claim("itl.histogram-watermark")
def test_histogram_after_all_fixes(evidence, ladder):
    """Gaps by length in the last rung's run of seed 4, beside the post's."""
    _histogram(evidence, ladder[LAST][3])


def _histogram(evidence, run):
    edges = [0, 5, 10, 15, 20, 30, 50, 80, 120, 200, 400, 800, "inf"]
    counts = np.sum(list(run["histogram"].values()), axis=0)
    for (low, high), count in zip(pairwise(edges), counts):
        evidence.figure(f"n_{low}_{high}", int(count))
    evidence.figure("p99_ms", run["p99_ms"])


@claim("itl.band-ordering")
def test_causes_sit_at_different_heights(evidence, ladder):
    """Median gap by primary cause over the real baseline runs that have it: graph misses lowest."""
    for cause in ("gc", "preempt"):
        both = [run for run in ladder[FIRST] if {"graph", cause} <= set(run["cause_median_ms"])]
        graph, other = (column(both, "cause_median_ms", name) for name in ("graph", cause))
        evidence.above(np.log(other), np.log(graph), paired=True, label=f"{cause} above graph")


@claim(
    "itl.only-preempt-above-800",
    expect="refuted",
    because="full collections of some 300 ms reach that far too: its share is 0.34 to 0.73 over six baseline runs",
)
def test_preemption_alone_makes_the_longest_gaps(evidence, ladder):
    """Share of preemption among the gaps of at least 58 medians (the post's 800 ms over its median), a baseline run."""
    runs = [run["extreme_causes"] for run in ladder[FIRST] if run["extreme_causes"]]
    found = [causes.get("preempt", 0) / sum(causes.values()) for causes in runs]
    evidence.above(found, float(evidence.given("share")))


@claim("itl.ladder-table")
def test_table_of_the_ladder(evidence, ladder):
    """p50, p99, p99.9 and maximum of each rung, median and range over the runs, beside the post's."""
    for name, rung in RUNGS.items():
        for statistic in ("p50", "p99", "p999", "max"):
            evidence.figure(f"{name}_{statistic}", column(ladder[rung], f"{statistic}_ms"))


@claim("itl.rung-share-table")
def test_table_of_tail_shares_by_rung(evidence, ladder):
    """Median share of each label in the tail, rung by rung, beside the post's."""
    for name, rung in RUNGS.items():
        evidence.figure(name, [100 * float(np.median(values)) for values in shares(ladder[rung]).values()])


@claim("itl.ladder-end-to-end")
def test_the_ladder_lowers_the_extreme_tail(evidence, ladder):
    """Log ratio of p99.9 and of the worst gap, baseline over all fixes, a seed."""
    for cause in ("clean", *CAUSES):
        evidence.keep(
            f"gaps above p99.9 with cause {cause}, all fixes", column(ladder[LAST], "above_p999_causes", cause)
        )
    for statistic in ("p999_ms", "max_ms"):
        before, after = column(ladder[FIRST], statistic), column(ladder[LAST], statistic)
        evidence.above(np.log(before / after), 0.0, label=statistic)


@claim(
    "itl.median-unmoved",
    expect="undecided",
    because="the median falls by 0.33 ms of 3.36, about one spread of the six real runs of the baseline",
)
def test_the_fixes_leave_the_median_within_its_own_spread(evidence, ladder):
    """Change of the median gap from end to end, against its spread over the baseline's real runs."""
    evidence.figure("p50_before", column(ladder[FIRST], "p50_ms"))
    evidence.figure("p50_after", column(ladder[LAST], "p50_ms"))
    # Not in virtual time: there a median is the cost of one batch size, and hardly varies from run to run.
    before, after = (column(ladder[name], "p50_ms") for name in (FIRST, LAST))
    evidence.smaller_than_noise(after - before, before)


@claim(
    "itl.adjacent-rungs-suggestive",
    expect="undecided",
    because="six runs a rung see changes of about one spread: log p99.9 moves by 0.1 to 1.2 spreads from rung "
    "to rung, intervals up to 2.5",
)
def test_single_steps_are_within_the_spread_of_runs(evidence, ladder, real_reverse):
    """Change of log p99.9 from each rung to the next, against its spread over the six real runs of the rung before."""
    evidence.keep(
        "one real run a rung in reverse order, p99.9 in ms", [one["p999_ms"] for one in real_reverse.values()]
    )
    names = list(RUNGS.values())
    for before, after in pairwise(names):
        first, second = (np.log(column(ladder[name], "p999_ms")) for name in (before, after))
        evidence.smaller_than_noise(second - first, first, label=after)


@claim(
    "itl.each-fix-zeroes-its-column",
    expect="refuted",
    because="at the rung of the budget 14 percent of the tail is prefill still; the other four fall below one percent",
)
def test_each_fix_empties_its_own_column(evidence, ladder):
    """Median tail share of each cause at the rung of its fix (for collections, the second)."""
    at = {
        "gc": "compact-history",
        "graph": "graphs-to-48",
        "prefill": "budget-256",
        "tok": "tokenize-off-loop",
        "preempt": "admission-watermark",
    }
    for cause, rung in at.items():
        evidence.figure(f"{cause}_pct", 100 * float(np.median(shares(ladder[rung])[cause])))


@claim("itl.gc-freeze-p999")
def test_freezing_leaves_p99_within_its_spread(evidence, ladder, virtual_ladder):
    """Change of log p99 when the heap is frozen, against its spread over the baseline's runs; real runs kept."""
    _within_spread(evidence, ladder, virtual_ladder, "p99_ms", "baseline", "gc-freeze")


@claim(
    "itl.graphs48-body-only",
    expect="undecided",
    because="log p99.9 falls by 0.8 [0.3, 1.4] spreads over 12 seeds; our fallback path is five times slower "
    "than the captured one",
)
def test_more_captured_sizes_leave_p999_within_its_spread(evidence, ladder, virtual_ladder):
    """Change of log p99.9 at the rung of the captured sizes, against its spread at the rung before; real runs kept."""
    _within_spread(evidence, ladder, virtual_ladder, "p999_ms", "compact-history", "graphs-to-48")


@claim(
    "itl.offloop-no-gain",
    expect="undecided",
    because="log p99 falls by 0.05 in six runs, 0.5 [0, 1.8] of its spread at the rung before, which is small (0.07)",
)
def test_tokenizing_off_the_loop_leaves_p99_within_its_spread(evidence, ladder):
    """Change of log p99 at the rung of the tokenizer, against its spread over the real runs of the rung before."""
    first, second = (np.log(column(ladder[name], "p99_ms")) for name in ("budget-256", "tokenize-off-loop"))
    evidence.smaller_than_noise(second - first, first)


def _within_spread(evidence, ladder, virtual_ladder, statistic, before, after):
    evidence.keep("real runs, log ratio", np.log(column(ladder[after], statistic) / column(ladder[before], statistic)))
    first, second = (np.log(column(virtual_ladder[name], statistic)) for name in (before, after))
    evidence.smaller_than_noise(second - first, first)


@claim("itl.graphs48-zero-fallback")
def test_no_step_falls_back_once_all_sizes_are_captured(evidence, ladder, virtual_ladder):
    """Fallback steps of each run at the baseline, before the rung of the captured sizes, and at it; decided on more."""
    evidence.figure("baseline", column(ladder["baseline"], "fallback_steps"))
    evidence.figure("before", column(ladder["compact-history"], "fallback_steps"))
    evidence.figure("after", int(column(ladder["graphs-to-48"], "fallback_steps").max()))
    before, after = (column(virtual_ladder[name], "fallback_steps") for name in ("baseline", "graphs-to-48"))
    evidence.above(before, after, paired=True)


@claim("itl.budget256-p99")
def test_a_smaller_budget_lowers_p99(evidence, ladder):
    """Log ratio of p99 before and at the rung of the budget, a seed."""
    before, after = column(ladder["graphs-to-48"], "p99_ms"), column(ladder["budget-256"], "p99_ms")
    evidence.above(np.log(before / after), 0.0)


@claim("itl.watermark-preemptions")
def test_the_watermark_takes_most_preemptions_away(evidence, ladder, virtual_ladder):
    """Preemptions and worst gap before and at the last rung, as log ratios a seed in virtual time; real runs kept."""
    for name, rung in (("before", "tokenize-off-loop"), ("after", LAST)):
        evidence.figure(name, column(ladder[rung], "preemptions"))
    before, after = (virtual_ladder[name] for name in ("tokenize-off-loop", LAST))
    ratio = (column(before, "preemptions") + 1) / (column(after, "preemptions") + 1)
    evidence.above(np.log(ratio), float(evidence.given("log_factor")), label="preemptions")
    evidence.above(np.log(column(before, "max_ms") / column(after, "max_ms")), 0.0, label="worst gap")


@claim("itl.watermark-ttft-cost")
def test_the_watermark_makes_people_wait_for_the_first_token(evidence, ladder, virtual_ladder):
    """Median time to first token with and without the watermark, a seed in virtual time; real runs kept."""
    names = ("tokenize-off-loop", LAST)
    evidence.keep(
        "real runs, log ratio", np.log(np.divide(*(column(ladder[name], "ttft_p50_s") for name in names[::-1])))
    )
    before, after = (column(virtual_ladder[name], "ttft_p50_s") for name in names)
    evidence.above(np.log(after / before), 0.0)


@claim("itl.fix-costs")
def test_fixes_cost_something_elsewhere(evidence, ladder, virtual_ladder):
    """First-token time at the rungs of the watermark and the budget, virtual; the tokenizer process's own time."""
    for after, before in (("admission-watermark", "tokenize-off-loop"), ("budget-256", "graphs-to-48")):
        late, early = (column(virtual_ladder[name], "ttft_p50_s") for name in (after, before))
        evidence.above(np.log(late / early), 0.0, label=f"time to first token, {after}")
    evidence.above(column(ladder["tokenize-off-loop"], "worker_cpu_s"), 0.0, label="tokenizer process, s")
