"""Times of single requests: a process is one observation, and the sizes that are compared take turns in it."""

import math

import numpy as np

from runtwice import claim
from runtwice.timing import Arm

EXPERIMENT = "claims.experiments.request_times"


def medians(runs):
    """Of the gaps of each run."""
    return [float(np.median(run["gaps_ms"])) for run in runs]


def middle(values):
    """The median, as a plain number."""
    return float(np.median(values))


def exponents(runs):
    """Of the time of reading in the length of the prompt, by least squares on logarithms; one a process."""
    lengths = np.log(list(runs))
    return [
        float(np.polyfit(lengths, np.log([runs[size][place]["read_ms"] for size in runs]), 1)[0])
        for place in range(len(next(iter(runs.values()))))
    ]


def cost_ratios(size, runs):
    """A token of the answer over a token of the prompt; one a process."""
    return [gap_ms / (run["read_ms"] / size) for gap_ms, run in zip(medians(runs), runs)]


@claim(
    "request.correction-four-times",
    expect={"numpy<2": "refuted"},
    because="before NumPy 2 a scalar of 64 bits did not widen an array of 32",
)
def test_the_scalar_of_64_bits_makes_writing_slower(evidence):
    """One token of a pass whose scores are divided by a NumPy root and by a Python root, timed by turns."""
    notes = int(evidence.given("notes"))

    def arm(divisor):
        return Arm(f"{EXPERIMENT}:typed", setup=f"{EXPERIMENT}:typing", settings={"divisor": divisor, "notes": notes})

    evidence.ratio(slow=arm("numpy"), fast=arm("python"), promised=evidence.given("at_least"))


@claim("request.prefill-ratio")
def test_a_token_of_the_answer_costs_several_of_the_prompt(evidence, by_prompt):
    """Median gap over the time of reading a token, at each length of the prompt."""
    runs = by_prompt(evidence.given("processes"))
    evidence.figure("ratio", middle(cost_ratios(256, runs[256])))
    evidence.figure("reading_ms_per_token", middle([run["read_ms"] / 256 for run in runs[256]]))
    evidence.figure("typing_ms_per_token", middle(medians(runs[256])))
    for size, found in runs.items():
        evidence.above(cost_ratios(size, found), evidence.given("at_least"), label=f"{size} tokens")


@claim("request.prefill-below-bus-rate")
def test_reading_spends_its_time_elsewhere(evidence):
    """Share of the time of reading 256 tokens, computed as the post does, that goes into anything but products."""
    from claims.experiments.plain_decoder import table_shares

    shares = table_shares(int(evidence.given("processes")), int(evidence.given("prompt_tokens")))
    evidence.above([1 - share for share in shares], evidence.given("elsewhere_at_least"))


@claim("request.no-cache-cost")
def test_reading_everything_again_is_much_slower(evidence):
    """The next token with the cache, and with the whole text read again, timed by turns."""
    settings = {name: int(evidence.given(name)) for name in ("tokens", "layers")}

    def arm(name):
        return Arm(f"{EXPERIMENT}:{name}", setup=f"{EXPERIMENT}:continued", settings=settings)

    evidence.ratio(slow=arm("without_cache"), fast=arm("with_cache"), promised=evidence.given("at_least"))


@claim("request.longer-question-longer-ttft")
def test_longer_prompts_wait_longer(evidence, by_prompt):
    """Time to the first token along the three lengths, a curve a process."""
    runs = by_prompt(evidence.given("processes"))
    for size, found in runs.items():
        evidence.figure(f"read_ms_{size}", middle([run["read_ms"] for run in found]))
    evidence.trend([[run["ttft_ms"] for run in process] for process in zip(*runs.values())], "rises")


@claim("request.ttft-is-reading")
def test_the_first_token_waits_for_reading(evidence, by_prompt):
    """Share of the time to the first token that is reading, at each length."""
    runs = by_prompt(evidence.given("processes"))
    for name in ("ttft_ms", "read_ms"):
        evidence.figure(name, [middle([run[name] for run in found]) for found in runs.values()])
    for size, found in runs.items():
        shares = [run["read_ms"] / run["ttft_ms"] for run in found]
        evidence.above(shares, evidence.given("share_at_least"), label=f"{size} tokens")


@claim("request.ttft-superlinear")
def test_reading_grows_faster_than_the_prompt(evidence, by_prompt):
    """The exponent of reading in the length of the prompt, a process; and what counted operations would make of it."""
    from claims.experiments.request_times import shape

    runs, size = by_prompt(evidence.given("processes")), shape()

    def operations(tokens, seen):
        return 2 * size.layers * size.layer_entries * tokens + 4 * size.layers * size.width * tokens * seen

    short, long = min(runs), max(runs)
    evidence.figure("length_ratio", long / short)
    evidence.figure("time_ratio", middle([b["read_ms"] / a["read_ms"] for a, b in zip(runs[short], runs[long])]))
    evidence.figure("counted_ratio_square", operations(long, long) / operations(short, short))
    evidence.figure("counted_ratio_causal", operations(long, (long + 1) / 2) / operations(short, (short + 1) / 2))
    evidence.above(exponents(runs), evidence.given("exponent_above"))


@claim("request.results-table")
def test_the_table_is_recorded(evidence, by_prompt):
    """The post's columns for our decoder: the median of the processes, beside the post's."""
    runs = by_prompt(evidence.given("processes"))
    columns = {
        "chop_ms": lambda run: run["chop_ms"],
        "read_ms": lambda run: run["read_ms"],
        "ttft_ms": lambda run: run["ttft_ms"],
        "gap_p50_ms": lambda run: float(np.percentile(run["gaps_ms"], 50)),
        "gap_p99_ms": lambda run: float(np.percentile(run["gaps_ms"], 99)),
        "total_s": lambda run: run["total_s"],
        "tokens_per_s": lambda run: 1e3 * len(run["gaps_ms"]) / sum(run["gaps_ms"]),
    }
    for name, column in columns.items():
        evidence.figure(name, [middle([column(run) for run in found]) for found in runs.values()])
        unit = {"ms": "ms", "s": "s"}.get(name.rpartition("_")[2]) if name != "tokens_per_s" else "tokens/s"
        for size, found in runs.items():
            evidence.recorded(f"{name} of {size}", [column(run) for run in found], unit=unit)


@claim("request.mean-gap-above-median")
def test_mean_gaps_are_above_the_median(evidence, by_prompt):
    """Mean and median of the gaps of each request, at each length."""
    runs = by_prompt(evidence.given("processes"))
    evidence.figure("gap_p50_256", middle(medians(runs[256])))
    evidence.figure("total_256_s", middle([run["total_s"] for run in runs[256]]))
    for size, found in runs.items():
        means = [float(np.mean(run["gaps_ms"])) for run in found]
        evidence.above(means, medians(found), paired=True, label=f"{size} tokens")


@claim(
    "request.most-time-is-typing",
    expect="refuted",
    because="after 1,024 tokens of prompt writing 64 takes about 0.28 of the time",
)
def test_writing_takes_most_of_the_time(evidence, by_prompt):
    """Share of writing in the whole, at each length of the prompt."""
    runs = by_prompt(evidence.given("processes"))

    def shares(found):
        return [sum(run["gaps_ms"]) / 1e3 / run["total_s"] for run in found]

    evidence.figure("typing_pct_256", 100 * middle(shares(runs[256])))
    for size, found in runs.items():
        evidence.above(shares(found), evidence.given("more_than"), label=f"{size} tokens")


@claim("request.answer-length-matters")
def test_the_whole_wait_is_linear_in_the_answer(evidence, request_times):
    """Requests with answers of several lengths: how much of the spread of their times a straight line explains."""
    answers = [int(size) for size in evidence.given("answers")]
    settings = {"answers": answers, "prompt_tokens": int(evidence.given("prompt_tokens"))}
    curves = request_times("by_answer", evidence.given("processes"), **settings)
    explained = [float(np.corrcoef(answers, curve)[0, 1] ** 2) for curve in curves]
    slopes = [float(np.polyfit(answers, curve, 1)[0]) for curve in curves]
    evidence.keep("seconds a token", slopes)
    evidence.above(explained, evidence.given("explained_at_least"))


@claim("request.gap-grows-with-cache")
def test_gaps_are_longer_after_a_long_prompt(evidence, by_prompt):
    """Median gaps after 1,024 tokens against those after 64, of one process each."""
    runs = by_prompt(evidence.given("processes"))
    evidence.figure("gap_p50_ms", [middle(medians(found)) for found in runs.values()])
    evidence.above(medians(runs[1024]), medians(runs[64]), paired=True)


@claim("request.gap-drift-within-answer")
def test_gaps_grow_within_an_answer(evidence, request_times):
    """The slope of the gaps along one long answer, a process, by least squares."""
    settings = {name: int(evidence.given(name)) for name in ("layers", "prompt_tokens", "answer_tokens")}
    runs = request_times("long_answer", evidence.given("processes"), **settings)
    evidence.above([float(np.polyfit(np.arange(len(gaps)), gaps, 1)[0]) for gaps in runs], 0.0)


@claim("request.sharing-mechanism")
def test_a_shared_trip_is_cheaper_a_token(evidence, request_times):
    """Milliseconds a token of one pass over 1 to 256 tokens, a curve a process."""
    sizes = [int(size) for size in evidence.given("sizes")]
    curves = request_times(
        "by_shared_pass", evidence.given("processes"), sizes=sizes, rounds=int(evidence.given("rounds"))
    )
    evidence.keep("one token over one of 256", [curve[0] / curve[-1] for curve in curves])
    evidence.trend(curves, "falls")


@claim(
    "request.bus-one-or-fifty",
    expect="refuted",
    because="fifty rows through the tables take 4.0 to 4.4 times as long as one, over six processes",
)
def test_fifty_passengers_cost_as_much_as_one(evidence):
    """A trip through the tables with 50 rows over one with a single row, in logarithms, a process each."""
    from claims.experiments.weight_trips import processes

    alone, full = (int(rows) for rows in evidence.given("passengers"))
    trips = [run["trip_s"] for run in processes(int(evidence.given("processes")), [alone, full])]
    ratios = [run[str(full)] / run[str(alone)] for run in trips]
    evidence.keep("fifty over one", ratios)
    evidence.above([-math.log(ratio) for ratio in ratios], -math.log(evidence.given("at_most")))


def _batch_curves(evidence, batch_speeds):
    batches = tuple(int(size) for size in evidence.given("batches"))
    runs, context, rounds = (int(evidence.given(name)) for name in ("seeds", "context_tokens", "rounds"))
    return batches, batch_speeds(runs, batches, context, rounds)


@claim("request.batch-many-users")
def test_a_larger_batch_writes_more(evidence, batch_speeds):
    """Tokens a second of all sequences together, by the size of the batch, a curve a run."""
    _, curves = _batch_curves(evidence, batch_speeds)
    evidence.trend(curves, "rises")


@claim("request.mistake-mixing-throughputs")
def test_all_gain_and_each_loses(evidence, batch_speeds):
    """Tokens a second of all and of each, by the size of the batch, a curve a run."""
    batches, curves = _batch_curves(evidence, batch_speeds)
    evidence.trend(curves, "rises", label="all")
    evidence.trend(np.divide(curves, batches), "falls", label="each")


@claim("request.cheatsheet-machines")
def test_the_order_of_costs(evidence, by_prompt):
    """Milliseconds a token of splitting, reading and writing, at each length."""
    for size, found in by_prompt(evidence.given("processes")).items():
        split = [run["chop_ms"] / size for run in found]
        read = [run["read_ms"] / size for run in found]
        evidence.above(read, split, paired=True, label=f"read above split, {size} tokens")
        evidence.above(medians(found), read, paired=True, label=f"write above read, {size} tokens")


@claim("request.cheatsheet-itl-factors")
def test_what_moves_the_gap_and_what_the_first_token(evidence, by_prompt, halved):
    """Logarithms of how gap and first token change with twice the layers and with sixteen times the prompt."""
    runs = by_prompt(evidence.given("processes"))
    short, long = (runs[int(size)] for size in evidence.given("prompts"))

    def change(after, before):
        return np.log(np.divide(after, before)).tolist()

    by_layers = change(medians(short), medians(halved(evidence.given("processes"))))
    with_prompt = change(medians(long), medians(short))
    evidence.above(by_layers, with_prompt, paired=True, label="gap: layers doubled above prompt times 16")
    first = change(*([run["ttft_ms"] for run in found] for found in (long, short)))
    evidence.above(first, with_prompt, paired=True, label="prompt times 16: first token above gap")


@claim("request.mistake-warmup")
def test_the_first_request_is_the_slowest(evidence, request_times):
    """The first request of a process against the median of the next ones."""
    settings = {"layers": int(evidence.given("layers")), "requests": int(evidence.given("requests"))}
    runs = request_times("first_requests", evidence.given("processes"), **settings)
    evidence.above([run[0] for run in runs], [middle(run[1:]) for run in runs], paired=True)


@claim("request.steady-beat")
def test_the_99th_gap_is_near_the_median(evidence, by_prompt):
    """p99 over p50 of the gaps of each request, at each length."""
    runs = by_prompt(evidence.given("processes"))

    def percentiles(q):
        return {size: [float(np.percentile(run["gaps_ms"], q)) for run in found] for size, found in runs.items()}

    half, high = percentiles(50), percentiles(99)
    evidence.figure("gap_p50_ms", [middle(found) for found in half.values()])
    evidence.figure("gap_p99_ms", [middle(found) for found in high.values()])
    for size in runs:
        spreads = [-b / a for a, b in zip(half[size], high[size])]
        evidence.above(spreads, -evidence.given("p99_over_p50_below"), label=f"{size} tokens")


@claim("request.protocol")
def test_each_run_by_itself_says_the_same(evidence, by_prompt):
    """The conclusions on ratio, exponent and growth of the gap, drawn from each process alone."""
    runs = by_prompt(evidence.given("processes"))
    evidence.figure("answer_tokens", 1 + len(runs[64][0]["gaps_ms"]))
    count = len(runs[64])
    conclusions = {
        "ratio": [ratio > evidence.given("ratio_at_least") for ratio in cost_ratios(256, runs[256])],
        "exponent": [one > evidence.given("exponent_above") for one in exponents(runs)],
        "gap": [long > short for long, short in zip(medians(runs[1024]), medians(runs[64]))],
    }
    for label, found in conclusions.items():
        evidence.identical([bool(one) for one in found], [True] * count, label=label)


@claim("request.random-brain-same-work")
def test_the_weights_do_not_matter_to_the_work(evidence):
    """Operations counted, and logarithms of the time of a token, of weights of several patterns against random ones."""
    from claims.experiments.weight_patterns import PATTERNS, counts, processes

    runs = processes(int(evidence.given("processes")))
    expected = counts("random")
    for name in PATTERNS:
        if name in (
            "random",
            "subnormal",
        ):  # numbers below the normal range are a case of their own, in the topic flops
            continue
        if counts(name) != expected:
            raise ValueError(f"{name}: {counts(name)} operations where random weights take {expected}")
        evidence.equivalent(
            [math.log(run[name]) for run in runs], [math.log(run["random"]) for run in runs], label=name
        )
