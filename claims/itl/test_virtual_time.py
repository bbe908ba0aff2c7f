"""What scheduling alone decides: the same scheduler on a virtual clock that takes this machine's fitted costs."""

from dataclasses import replace

import numpy as np

from runtwice import claim

FIRST, LAST = "baseline", "admission-watermark"


def column(runs, *path):
    """One number a run."""
    from claims.experiments.ladder_runs import column as read

    return np.array(read(runs, *path))


def swept(configs, seeds, **options):
    """Summaries by name, one a seed, at a chosen load."""
    from claims.experiments.ladder_runs import virtual_runs

    return virtual_runs(configs, int(seeds), **options)


def beside(virtual_ladder, configs):
    """Summaries by name of the same seeds and length as the ladder's."""
    from claims.experiments.virtual_ladders import runs

    return runs(configs, len(virtual_ladder[FIRST]))


@claim("itl.budget-tradeoff")
def test_a_smaller_budget_trades_first_tokens_for_steady_ones(evidence):
    """p99 of the gaps and median time to first token over the token budget, a curve a seed, at moderate load."""
    from implementations.itl.config import EngineConfig

    budgets = list(evidence.given("budgets"))
    configs = {str(budget): EngineConfig(token_budget=int(budget)) for budget in budgets}
    found = swept(configs, evidence.given("seeds"), load=float(evidence.given("load")))
    for statistic, shape in (("p99_ms", "rises"), ("ttft_p50_s", "falls")):
        curves = np.transpose([column(found[str(budget)], statistic) for budget in budgets])
        evidence.trend(curves, shape, label=f"{statistic} with the budget")


@claim("itl.near-capacity-rate")
def test_queues_drain_below_capacity_and_not_above(evidence):
    """Time to first token along the run and over the offered rate, and preemptions over it; a curve a seed."""
    from implementations.itl.config import EngineConfig

    loads, seeds = list(evidence.given("loads")), evidence.given("seeds")
    found = [swept({"baseline": EngineConfig()}, seeds, load=float(load))["baseline"] for load in loads]
    evidence.trend(np.transpose([column(runs, "preemptions") for runs in found]), "rises", label="preemptions")
    evidence.trend(np.transpose([column(runs, "ttft_p50_s") for runs in found]), "rises", label="time to first token")
    quarters = [one["ttft_quarters_s"] for one in found[-1]]
    evidence.trend(quarters, "rises", label="time to first token along an overloaded run")


@claim("itl.run2-lighter")
def test_preemption_owns_more_of_the_tail_where_there_is_more_of_it(evidence):
    """Preemption's share of tail time over the offered rate, with which preemptions rise; a curve a seed."""
    from implementations.itl.config import EngineConfig

    loads, seeds = list(evidence.given("loads")), evidence.given("seeds")
    found = [swept({"baseline": EngineConfig()}, seeds, load=float(load))["baseline"] for load in loads]
    evidence.trend(np.transpose([column(runs, "tail_share", "preempt") for runs in found]), "rises")


@claim(
    "itl.waiting-is-moved",
    expect="undecided",
    because="over 12 seeds a request's whole wait changes by about half of what its first token waits longer, which is "
    "the bound itself: -0.01 s [-0.13, 0.08] from it",
)
def test_the_watermark_moves_the_wait_and_does_not_remove_it(evidence):
    """Half of what it adds to a request's wait for the first token, less what it changes of the whole, a seed."""
    from claims.experiments.ladder_runs import waits_moved_s

    first, total = waits_moved_s(int(evidence.given("seeds")))
    evidence.above(np.array(first) / 2 - np.abs(total), 0.0)


@claim(
    "itl.watermark-alone",
    expect="refuted",
    because="by itself it brings 27 percent [15, 38] of the fall in log p99.9 over 12 seeds",
)
def test_the_watermark_alone_brings_most_of_the_gain(evidence, published_ladder):
    """Share of the whole ladder's fall in log p99.9 that the watermark by itself brings, a seed."""
    from claims.experiments.ladder_runs import published_runs
    from implementations.itl.ladder import alone

    runs = {**published_ladder, "alone": published_runs({LAST: alone(LAST)}, len(published_ladder[FIRST]))[LAST]}
    start, end, one = (np.log(column(runs[name], "p999_ms")) for name in (FIRST, LAST, "alone"))
    evidence.above((start - one) / (start - end), float(evidence.given("share")))


@claim(
    "itl.fixes-do-not-cross",
    expect="refuted",
    because="a budget of 256 takes 2.1 [1.2, 3.1] spreads off the tail time of graph misses over 12 seeds: "
    "shorter steps keep batches below 32",
)
def test_no_fix_moves_another_cause(evidence, virtual_ladder, real_alone):
    """Tail milliseconds of every other cause with one fix by itself, against their spread over the baseline's runs."""
    from implementations.itl.ladder import FIXES, alone

    own = {
        "gc-freeze": "gc",
        "compact-history": "gc",
        "graphs-to-48": "graph",
        "budget-256": "prefill",
        "tokenize-off-loop": "tok",
        "admission-watermark": "preempt",
    }
    found = beside(virtual_ladder, {fix: alone(fix) for fix in FIXES})
    for fix, real in real_alone.items():
        evidence.keep(
            f"one real run, {fix} alone: tail ms by cause", [real["tail_ms"][one] for one in sorted(set(own.values()))]
        )
    for fix, cause in own.items():
        for other in sorted(set(own.values()) - {cause}):
            before, after = (column(runs, "tail_ms", other) for runs in (virtual_ladder[FIRST], found[fix]))
            if before.any():
                evidence.smaller_than_noise(after - before, before, label=f"{fix} on {other}")


@claim(
    "itl.faster-forward-spares-tail",
    expect="refuted",
    because="halving every decode takes more off log p99.9 than off the log median: fewer requests run at once, "
    "and fewer are evicted",
)
def test_a_faster_forward_pass_helps_the_median_more_than_the_tail(evidence):
    """Gain in log median less gain in log p99.9 when every decode takes half as long, the traffic unchanged, a seed."""
    from claims.experiments import ladder_runs
    from implementations.itl.config import EngineConfig

    seeds = int(evidence.given("seeds"))
    before = swept({FIRST: EngineConfig()}, seeds)[FIRST]
    after = ladder_runs.with_faster_decode(seeds, factor=float(evidence.given("factor")))
    gains = [np.log(column(before, name) / column(after, name)) for name in ("p50_ms", "p999_ms")]
    evidence.above(gains[0], gains[1], paired=True)


@claim(
    "itl.without-touching-forward",
    expect="undecided",
    because="without the captured sizes p99.9 is higher by 1.4 [0.3, 2.6] of its spread over 12 seeds",
)
def test_the_gain_is_there_without_the_captured_sizes(evidence, virtual_ladder):
    """Log p99.9 of all fixes but the captured sizes, against all fixes, and its spread over the last rung's runs."""
    from implementations.itl.ladder import all_but

    without = beside(virtual_ladder, {"others": all_but("graphs-to-48")})["others"]
    effect = np.log(column(without, "p999_ms") / column(virtual_ladder[LAST], "p999_ms"))
    evidence.smaller_than_noise(effect, np.log(column(virtual_ladder[LAST], "p999_ms")))


@claim("itl.targeted-fix-table")
def test_more_memory_or_fewer_sequences_lower_preemptions(evidence, virtual_ladder):
    """Preemptions with more blocks, and with fewer sequences, each alone, against the baseline."""
    from implementations.itl.config import EngineConfig

    base = EngineConfig()
    configs = {
        "more blocks": replace(base, kv_blocks=int(evidence.given("kv_blocks"))),
        "fewer sequences": replace(base, max_num_seqs=int(evidence.given("max_num_seqs"))),
    }
    before = column(virtual_ladder[FIRST], "preemptions")
    for name, runs in beside(virtual_ladder, configs).items():
        evidence.above(before, column(runs, "preemptions"), paired=True, label=name)


@claim(
    "itl.overload-sidebar",
    expect="undecided",
    because="the watermark lowers p99.9 by far more than five times, but the other five fixes together move it "
    "by as much in some seeds: capturing up to 48 raises our capacity",
)
def test_under_overload_only_the_watermark_helps(evidence, real_overload):
    """Log p99.9 at the overloading rate: the other five fixes within its spread, the watermark far below it."""
    from claims.experiments import ladder_runs

    found = ladder_runs.virtual_ladder(int(evidence.given("seeds")), overload=True)
    start, others, end = (np.log(column(found[name], "p999_ms")) for name in (FIRST, "tokenize-off-loop", LAST))
    evidence.keep(
        "one real run, p99.9 in ms of baseline, five fixes, all", [one["p999_ms"] for one in real_overload.values()]
    )
    evidence.figure("preempt_pct", 100 * column(found[FIRST], "tail_share", "preempt"))
    evidence.figure("ttft_s", column(found[FIRST], "ttft_p50_s"))
    evidence.above(others - end, float(evidence.given("log_factor")), label="the watermark")
    evidence.above(evidence.given("log_factor") - np.abs(start - others), 0.0, label="the other five stay below that")


@claim("itl.runs-are-the-sample")
def test_resampling_gaps_claims_far_too_much(evidence):
    """How often a 95% interval for p99 covers the mean over all runs: from one run's gaps, and from groups of runs."""
    from claims.experiments import ladder_runs

    wrong, right = ladder_runs.coverage_of_p99(int(evidence.given("seeds")), float(evidence.given("duration_s")))
    low = float(evidence.given("acceptable_coverage"))
    evidence.procedure(wrong=wrong, right=right, correct=lambda coverage: coverage >= low)


@claim("itl.swap-against-recompute")
def test_recomputing_costs_the_others_more_the_longer_the_context(evidence):
    """Log ratio of what a token of context adds: computing it again, against copying it out and back, a repeat."""
    from claims.experiments import preemption_costs

    contexts = [int(tokens) for tokens in evidence.given("context_tokens")]
    slopes = [preemption_costs.seconds_per_token(contexts, seed) for seed in range(int(evidence.given("repeats")))]
    evidence.above([np.log(recompute / swap) for swap, recompute in slopes], float(evidence.given("log_factor")))
