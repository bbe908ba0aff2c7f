"""What the times are called, and what percentiles and averages of them can and cannot show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim

GAPS_S = st.lists(st.floats(1e-4, 5.0), min_size=1, max_size=60)


@pytest.fixture
def answer():
    """The tokens of an answer that came at these times, one by one."""
    from implementations.serving.timing import Arrivals, Counting, Emission

    return lambda times_s: Arrivals(tuple(Emission(time_s, 1) for time_s in times_s), Counting.STATED)


@pytest.fixture
def frozen():
    """Gaps in milliseconds of which one is a freeze."""
    return lambda count, gap_ms, freeze_s: [gap_ms] * (count - 1) + [1e3 * freeze_s]


@claim("request.total-formula")
def test_mean_gaps_add_up_to_the_whole(evidence, answer):
    """Any arrivals: first token and a mean gap for each other, against the last; the post's row with its median."""
    relative = evidence.given("relative")

    @given(st.floats(1e-3, 10.0), GAPS_S)
    def check(first_s, gaps_s):
        found = answer(first_s + np.concatenate([[0.0], np.cumsum(gaps_s)]))
        whole_s = found.first_s + (found.tokens - 1) * float(np.mean(found.replicated_s()))
        assert abs(whole_s - found.last_s) <= relative * found.last_s

    first_ms = evidence.printed("ttft_ms", of="request.results-table")[1]
    gap_ms = evidence.printed("gap_p50_ms", of="request.results-table")[1]
    evidence.figure("with_median_s", (first_ms + 63 * gap_ms) / 1e3)
    evidence.every(check)


@claim("request.ttft-definition")
def test_the_wait_for_the_first_token_is_the_sum_of_its_parts(evidence):
    """Any durations on a virtual clock: what the client reads against the sum of five parts, waiting included."""
    from implementations.itl.clock import VirtualClock
    from implementations.serving.protocol import event
    from implementations.serving.reply import Read, read_stream
    from implementations.serving.timing import arrivals

    tolerance_s = evidence.given("tolerance_s")
    token = event(b'{"choices":[{"index":0,"text":"a","finish_reason":"stop"}]}')

    @given(st.floats(0, 100), st.lists(st.floats(0, 10), min_size=5, max_size=5))
    def check(enter_s, parts_s):
        clock = VirtualClock()
        clock.sleep(enter_s)
        pressed_s = clock.now()
        for part_s in parts_s:  # waiting, splitting, reading, choosing, the way back
            clock.advance(part_s)
        found = arrivals(read_stream([Read(clock.now(), token)]))
        assert abs(found.first_s - pressed_s - sum(parts_s)) <= tolerance_s

    evidence.every(check)


@claim("request.itl-definition")
def test_gaps_are_one_fewer_than_tokens(evidence, answer):
    """Random arrivals of 64 tokens: how many gaps, and their sum against last less first."""
    times_s = np.random.default_rng(0).exponential(0.03, 64).cumsum()
    found = answer(times_s)
    gaps_s = found.per_chunk_s()
    evidence.figure("tokens", found.tokens)
    evidence.figure("gaps", len(gaps_s))
    evidence.identical(sum(gaps_s), float(times_s[-1] - times_s[0]))


@claim("request.one-huge-gap-hidden-by-average")
def test_the_mean_does_not_see_one_freeze(evidence, frozen):
    """A thousand even gaps and one freeze among them: which figure is well above the usual gap."""
    count, gap_ms, freeze_s = (evidence.given(name) for name in ("gaps", "gap_ms", "freeze_s"))
    gaps_ms, alarm_ms = frozen(count, gap_ms, freeze_s), evidence.given("alarm") * gap_ms
    evidence.figure("mean_ms", float(np.mean(gaps_ms)))
    evidence.figure("mean_of_63_ms", float(np.mean(frozen(63, gap_ms, freeze_s))))
    evidence.procedure(wrong=bool(np.mean(gaps_ms) > alarm_ms), right=bool(max(gaps_ms) > alarm_ms), correct=True)


@claim("request.p99-misses-single-freeze")
def test_p99_does_not_see_one_freeze_either(evidence, frozen):
    """One freeze in more than a hundred gaps: p99 by the linear rule against the maximum."""
    from implementations.serving.timing import percentile

    gap_ms, freeze_s = evidence.given("gap_ms"), evidence.given("freeze_s")
    alarm_ms = evidence.given("alarm") * gap_ms
    for count in (63, 100, 101):
        evidence.figure(f"p99_of_{count}_ms", percentile(frozen(count, gap_ms, freeze_s), 99))
    short = sorted(frozen(63, gap_ms, freeze_s))
    evidence.figure("floor_rule_of_63_ms", short[int(0.99 * (len(short) - 1))] * 1.0)
    for count in evidence.given("lengths"):
        gaps_ms = frozen(count, gap_ms, freeze_s)
        wrong, right = percentile(gaps_ms, 99) > alarm_ms, max(gaps_ms) > alarm_ms
        evidence.procedure(wrong=bool(wrong), right=bool(right), correct=True, label=f"{count} gaps")


@claim(
    "request.percentile-definition",
    expect="refuted",
    because="of 63 gaps one exceeds the client's p99, which is 1 in 63 and not 1 in 100",
)
def test_one_gap_in_a_hundred_is_above_p99(evidence):
    """63 random gaps a seed: the share above the median, and above p99 by the client's rule, which rounds down."""
    count, above_median, above_p99 = int(evidence.given("gaps")), [], []
    for seed in range(evidence.given("seeds")):
        gaps = np.sort(np.random.default_rng(seed).exponential(1.0, count))
        above_median.append(float((gaps > np.median(gaps)).mean()))
        above_p99.append(float((gaps > gaps[int(0.99 * (count - 1))]).mean()))
    evidence.figure("exceeded_by_one_in", 1 / float(np.mean(above_p99)))
    evidence.identical(round(float(np.mean(above_median)), 1), 0.5, label="median")
    evidence.identical(round(float(np.mean(above_p99)), 3), 0.01, label="p99")


@claim("request.mistake-start-of-clock")
def test_the_servers_watch_does_not_see_the_line(evidence):
    """A queue at low and at high load: by how much the mean wait grows, by either watch, on each seed."""
    from claims.experiments.waiting_line import growth

    low, high = evidence.given("load_low"), evidence.given("load_high")
    grown = [growth(seed, low, high, int(evidence.given("requests"))) for seed in range(evidence.given("seeds"))]
    sees = evidence.given("sees")
    wrong, right = max(by_server for by_server, _ in grown), min(by_user for _, by_user in grown)
    evidence.keep("growth by the user's watch", [by_user for _, by_user in grown])
    evidence.procedure(wrong=wrong, right=right, correct=lambda found: found > sees)


@claim("request.mistake-chunks")
def test_messages_are_not_tokens(evidence):
    """A stream of messages of one to four tokens each: messages, tokens by usage, the gaps that follow."""
    from claims.experiments.counted_messages import stream
    from implementations.serving.timing import arrivals

    bundles, gap_s = [int(tokens) for tokens in evidence.given("bundles")], float(evidence.given("gap_s"))
    reply = stream(bundles, gap_s)
    found = arrivals(reply)
    evidence.procedure(wrong=len(reply.chunks), right=found.tokens, correct=sum(bundles), label="tokens")
    span_s = (len(bundles) - 1) * gap_s
    evidence.procedure(
        wrong=round(float(np.mean(found.per_chunk_s())), 9),
        right=round(float(np.mean(found.replicated_s())), 9),
        correct=round(span_s / (sum(bundles) - 1), 9),
        label="mean gap",
    )


@claim("request.client-edge-cases")
def test_short_and_empty_ends_of_a_stream(evidence):
    """No message, one message, and an empty last one: what the post's arithmetic and ours make of each."""
    from claims.experiments.counted_messages import naive_figures, naive_rate, stream
    from implementations.serving.timing import arrivals

    gap_s, tokens = float(evidence.given("gap_s")), int(evidence.given("tokens"))

    def attempt(function, reply):
        try:
            return function(reply)
        except Exception as error:
            return type(error).__name__

    def ours(reply):
        return len(arrivals(reply).per_chunk_s())

    nothing, one = stream([], gap_s), stream([1], gap_s)
    trailing = stream([1] * tokens, gap_s, trailing_empty=True)
    for label, reply, function in (
        ("no message", nothing, naive_figures),
        ("one message", one, naive_figures),
        ("one message, its rate", one, naive_rate),
    ):
        evidence.procedure(wrong=attempt(function, reply), right=attempt(ours, reply), correct=0, label=label)
    wrong = attempt(lambda reply: naive_figures(reply)["gaps"], trailing)
    evidence.procedure(wrong=wrong, right=attempt(ours, trailing), correct=tokens - 1, label="an empty last message")
