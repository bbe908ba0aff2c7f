"""The traffic and the settings of the demonstrator, and what its collector costs."""

from itertools import pairwise

import numpy as np

from runtwice import claim


@claim("itl.demonstrator-config")
def test_the_engine_has_the_sizes_of_the_post(evidence):
    """Defaults of our engine, model and ladder against the sizes the post gives for its own."""
    from implementations.itl.config import BLOCK_TOKENS, EngineConfig
    from implementations.itl.decoder import Shape
    from implementations.itl.ladder import STARTUP_ENTRIES

    config, shape = EngineConfig(), Shape()
    evidence.figure("layers", shape.layers)
    evidence.figure("width", shape.width)
    evidence.figure("blocks", config.kv_blocks)
    evidence.figure("block_tokens", BLOCK_TOKENS)
    evidence.figure("captured", config.capture_sizes)
    evidence.figure("max_num_seqs", config.max_num_seqs)
    evidence.figure("budget", config.token_budget)
    evidence.figure("truncation_tokens", config.max_model_len)
    evidence.figure("startup_objects", STARTUP_ENTRIES)


@claim("itl.workload-counts")
def test_counts_follow_from_the_trace(evidence):
    """Requests and gaps of the five published seeds, counted in the traces alone."""
    from claims.experiments import traffic

    counts = [
        traffic.counts(seed, evidence.given("duration_s"), evidence.given("rate_per_s"))
        for seed in evidence.given("seeds")
    ]
    requests, gaps = zip(*counts)
    evidence.figure("requests_min", min(requests))
    evidence.figure("requests_max", max(requests))
    evidence.figure("gaps_min", min(gaps))
    evidence.figure("gaps_max", max(gaps))
    evidence.figure("gaps_typical", float(np.mean(gaps)))


@claim("itl.histogram-total")
def test_both_histograms_hold_the_gaps_of_the_trace(evidence):
    """Sum of each printed histogram against the number of gaps in the trace of that run."""
    from claims.experiments import traffic

    seed, duration_s, rate = (evidence.given(name) for name in ("seed", "duration_s", "rate_per_s"))
    _, gaps = traffic.counts(seed, duration_s, rate)
    evidence.figure("gaps", gaps)
    for name in ("histogram-run4", "histogram-watermark"):
        edges = [0, 5, 10, 15, 20, 30, 50, 80, 120, 200, 400, 800, "inf"]
        bins = [f"n_{low}_{high}" for low, high in pairwise(edges)]
        counts = [evidence.printed(one, of=f"itl.{name}") for one in bins]
        evidence.identical(sum(counts), float(gaps), label=name)


@claim("itl.trace-deterministic")
def test_a_trace_depends_on_its_seed_alone(evidence):
    """Traces drawn twice, other random numbers drawn in between; and the traces of two seeds."""
    from claims.experiments import traffic

    one, other = evidence.given("seeds")
    duration_s, rate = evidence.given("duration_s"), evidence.given("rate_per_s")
    first, second = traffic.drawn_twice(one, duration_s, rate)
    evidence.identical(second, first, label="drawn twice")
    differs = traffic.drawn_twice(other, duration_s, rate)[0] != first
    evidence.identical(differs, True, label="another seed")


@claim("itl.workload-distribution")
def test_the_traffic_has_the_stated_shape(evidence):
    """Rate, period and depth of the swell, prompt and output lengths and documents over many seeds."""
    from claims.experiments import traffic

    seeds, duration_s, rate = (evidence.given(name) for name in ("seeds", "duration_s", "rate_per_s"))
    found = traffic.distribution(range(1, seeds + 1), duration_s, rate)
    for name, value in found.items():
        evidence.figure(name, value)


@claim("itl.gen0-count-arithmetic")
def test_collections_follow_from_the_objects_a_token_leaves(evidence):
    """Tracked objects a token, counted by the collector, times the tokens of the five traces, over the threshold."""
    from claims.experiments import collections_of_history as history
    from claims.experiments import traffic

    objects = history.tracked_objects_per_token(evidence.given("tokens"))
    evidence.figure("logprob_objects", history.candidates_per_token())
    counts = []
    for seed in range(1, 1 + evidence.given("seeds")):
        requests, gaps = traffic.counts(seed, evidence.given("duration_s"), evidence.given("rate_per_s"))
        counts.append(objects * (requests + gaps) / evidence.given("threshold"))
    evidence.figure("gen0", counts)


@claim("itl.compact-history")
def test_a_flat_history_spares_the_young_generation(evidence):
    """Youngest collections of the same bursts with an object a token and with a flat array, a log ratio a seed."""
    from claims.experiments import collections_of_history as history

    pairs = [history.collections_of_burst(seed) for seed in range(1, 1 + evidence.given("seeds"))]
    evidence.figure("gen2_after", max(after.full for _, after in pairs))
    ratios = [float(np.log(before.youngest / max(1, after.youngest))) for before, after in pairs]
    evidence.above(ratios, float(evidence.given("log_ratio")))


@claim("itl.gc-freeze-cost")
def test_record_the_collection_before_freezing(evidence):
    """Milliseconds of one full collection with the start-up heap alive, several times over."""
    from claims.experiments import collections_of_history as history

    seconds = history.startup_collection_seconds(evidence.given("repeats"))
    evidence.recorded("collection before freezing", [1e3 * one for one in seconds], unit="ms")
