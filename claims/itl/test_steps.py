"""What a step costs the requests in it: emission times, prompt chunks, documents, evictions, quiet gaps."""

import numpy as np

from runtwice import claim


@claim("itl.emission-boundary")
def test_one_time_a_step_after_its_last_segment(evidence, bursts):
    """Distinct emission times of each step of six bursts, and the segments around them."""
    for log in bursts(evidence.given("seeds")):
        times = {}
        for _, time_s, step in log.emissions:
            times.setdefault(step, set()).add(time_s)
        evidence.identical(max(map(len, times.values())), 1, label="times a step")
        ends, starts = {}, {}
        for step, _, start_s, end_s, _ in log.segments:
            ends[step] = max(end_s, ends.get(step, end_s))
            starts[step] = min(start_s, starts.get(step, start_s))
        stamps = {step: min(found) for step, found in times.items()}
        early = sum(stamp < ends[step] for step, stamp in stamps.items())
        late = sum(stamp >= starts[step + 1] for step, stamp in stamps.items() if step + 1 in starts)
        evidence.identical((early, late), (0, 0), label="stamps before a segment's end or after the next one's start")


@claim("itl.step-shared-by-all")
def test_a_pause_in_one_step_delays_everybody_in_flight(evidence):
    """Requests with a gap as long as a pause put into one step, against those that decode before and after it."""
    from claims.experiments import engine_runs

    step, pause_s = evidence.given("at_step"), evidence.given("pause_s")
    log = engine_runs.run_with_pause(evidence.given("seed"), step, pause_s)
    emitted = engine_runs.emissions_by_request(log)
    # The pause comes before the step's own start, so it lies between the emissions of the two steps.
    in_flight = {who for who, stamps in emitted.items() if {step - 1, step} <= {at for _, at in stamps}}
    held = {who for at, gaps in engine_runs.gaps_by_step(log).items() for who, gap_s in gaps if gap_s >= pause_s}
    evidence.identical(held, in_flight)


@claim("itl.prefill-chunk-delays")
def test_a_longer_chunk_delays_longer(evidence):
    """Prefill part of the gap of a decoding request over the step that computes a prompt of growing length."""
    from claims.experiments import engine_runs

    chunks = list(evidence.given("chunk_tokens"))
    curves = [engine_runs.prefill_part_ms(seed, chunks) for seed in range(evidence.given("seeds"))]
    evidence.trend(curves, "rises")


@claim("itl.tokenizer-blocks-loop")
def test_a_longer_document_holds_everybody_up_longer(evidence):
    """Smallest tokenizer part over the gaps in flight while a document of growing length is tokenized on the loop."""
    from claims.experiments import engine_runs

    lengths = list(evidence.given("document_chars"))
    curves = [engine_runs.tokenizer_part_ms(seed, lengths) for seed in range(evidence.given("seeds"))]
    evidence.trend(curves, "rises")


@claim("itl.two-kinds-of-victim")
def test_the_victim_waits_longer_and_the_others_wait_too(evidence, bursts):
    """Median gap of the victims against that of the requests beside them, a run; and the others' copying time."""
    from claims.experiments import engine_runs

    logs = bursts(evidence.given("seeds"))
    pairs = [np.median(engine_runs.victim_against_bystanders_s(log), axis=0) for log in logs]
    victims, others = np.transpose(pairs)
    evidence.above(victims, others, paired=True, label="victims against the others, s")
    evidence.above([engine_runs.bystanders_swap_ms(log) for log in logs], 0.0, label="others' copying time, ms")


@claim(
    "itl.quiet-gap-one-step",
    expect="refuted",
    because="87 percent: our forward pass takes 0.35 ms a token, so that the loop's own 0.05 ms is more than 2 percent",
)
def test_a_request_by_itself_waits_for_the_forward_pass(evidence):
    """Median share of the decode segment in the gaps of a single request, a run; every gap is one step."""
    from claims.experiments import engine_runs

    shares = [engine_runs.quiet_forward_share(evidence.given("tokens")) for _ in range(evidence.given("runs"))]
    evidence.figure("share_pct", 100 * float(np.median(shares)))
    evidence.above(shares, float(evidence.given("forward_share")))


@claim(
    "itl.stall-definition",
    expect="refuted",
    because="with segments logged as the post does, every gap of every run has preempt > 0: there is no ordinary gap",
)
def test_the_definition_sets_some_gaps_apart(evidence):
    """Gaps of six bursts in which all five causes are zero, with empty segments logged as the post's engine does."""
    from claims.experiments import engine_runs

    for seed in range(1, 1 + evidence.given("seeds")):
        ordinary = engine_runs.gaps_without_any_cause(seed)
        evidence.identical(ordinary > 0, True, label="some gaps are no stall")


@claim("itl.reconcile-error")
def test_the_parts_add_up_to_rounding(evidence, bursts):
    """Largest difference between a gap and its parts in six bursts, in units of the last place of the gap."""
    from implementations.itl.partition import partition

    allowed = evidence.given("units_in_the_last_place")
    for log in bursts(evidence.given("seeds")):
        found = partition(log.event_log())
        error = np.abs(sum(found.parts.values()) - found.gap_ms)
        beyond = int((error > allowed * np.spacing(found.gap_ms)).sum())
        evidence.identical(beyond, 0, label="gaps beyond")


@claim("itl.clean-is-not-forward-only")
def test_gaps_without_a_cause_are_forward_pass(evidence):
    """Share of those less than half forward pass among the gaps without a primary cause: the middle one of bursts."""
    from claims.experiments import engine_runs

    below = engine_runs.clean_gaps_below(evidence.given("seeds"), evidence.given("forward_share"))
    evidence.figure("below_half_pct", 100 * below)
