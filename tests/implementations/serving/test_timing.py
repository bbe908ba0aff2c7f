"""Times of an answer, against closed forms; numbers are rows of the evidence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.serving.timing import Arrivals, Counting, Emission, arrivals, peak_tokens_per_s, percentile
from tests.implementations.serving.streams import DONE, chat, completion, counts, reply_of, usage_chunk

EMISSIONS = st.lists(st.tuples(st.floats(0, 100, allow_nan=False), st.integers(1, 5)), min_size=1, max_size=30).map(
    lambda pairs: tuple(Emission(time_s, tokens) for time_s, tokens in sorted(pairs))
)


def answer(*emissions):
    return Arrivals(tuple(Emission(*one) for one in emissions), Counting.STATED)


@given(EMISSIONS)
def test_gaps_add_up_to_the_time_from_first_to_last(emissions):
    """n tokens have n - 1 gaps whatever the chunks; per chunk they add up too, divided ones do not."""
    found = Arrivals(emissions, Counting.STATED)
    span_s = found.last_s - found.first_s
    assert len(found.replicated_s()) == found.tokens - 1
    assert sum(found.replicated_s()) == pytest.approx(span_s, abs=1e-9)
    assert sum(found.per_chunk_s()) == pytest.approx(span_s, abs=1e-9)
    assert sum(found.divided_s()) <= span_s + 1e-9
    if found.tokens > 1:
        assert np.mean(found.replicated_s()) == pytest.approx(found.tpot_s, abs=1e-9)


@given(EMISSIONS)
def test_the_three_definitions_are_one_where_chunks_hold_one_token(emissions):
    """They only disagree about chunks of several tokens."""
    found = Arrivals(tuple(Emission(one.time_s, 1) for one in emissions), Counting.STATED)
    assert found.per_chunk_s() == found.divided_s() == found.replicated_s()


def test_the_three_definitions_on_chunks_of_several_tokens():
    """Row 1 and row 22: a chunk of 4 tokens after 200 ms, one of 1 after 50 ms, by hand; 2 came with the first."""
    found = answer((1.0, 2), (1.2, 4), (1.25, 1))
    assert found.per_chunk_s() == pytest.approx([0.2, 0.05])
    assert found.divided_s() == pytest.approx([0.05, 0.05])
    assert found.replicated_s() == pytest.approx([0.0, 0.05, 0.05, 0.05, 0.05, 0.05])
    assert found.tpot_s == pytest.approx(0.25 / 6)


def test_a_running_count_tells_the_tokens_of_each_chunk():
    """Row 1: the usage of each chunk less that of the one before, the first one's further tokens included."""
    running = [(1, "ab", 2), (2, "cdef", 6), (3, "g", 7)]
    chunks = [
        (t, {**completion(text, finish), "usage": counts(n)})
        for (t, text, n), finish in zip(running, (None, None, "stop"))
    ]
    found = arrivals(reply_of(*chunks, (3, DONE)))
    assert (found.emissions, found.counting) == (((1, 2), (2, 4), (3, 1)), Counting.STATED)


def test_listed_token_ids_are_counted():
    """Where a chunk carries its ids, their number is its tokens, text or not."""
    chunks = [(1, completion("", token_ids=[7, 8])), (2, completion("é", "stop", token_ids=[9]))]
    assert arrivals(reply_of(*chunks)).emissions == ((1, 2), (2, 1))


def test_chunks_are_not_tokens():
    """Row 3: 4 tokens a chunk counted as 1 gave a peak below the mean; the peak is of tokens, and never below it."""
    chunks = [(0.25 * place, completion("abcd", "stop" if place == 9 else None)) for place in range(10)]
    found = arrivals(reply_of(*chunks, (2.5, usage_chunk(40))))
    assert (found.tokens, found.counting) == (40, Counting.SPREAD)
    assert peak_tokens_per_s([found]) >= found.tokens / (found.last_s - found.first_s)


@given(st.lists(EMISSIONS, min_size=1, max_size=4))
def test_the_peak_is_never_below_the_mean(every):
    """By pigeonhole, whatever the spacing."""
    answers = [Arrivals(emissions, Counting.STATED) for emissions in every]
    times_s = [one.time_s for emissions in every for one in emissions]
    span_s = max(times_s) - min(times_s)
    peak = peak_tokens_per_s(answers)
    if span_s == 0:
        assert math.isnan(peak)
    else:
        assert peak >= sum(one.tokens for one in answers) / span_s * (1 - 1e-9)


def test_a_role_chunk_is_no_token():
    """Row 4: the role came after 5 ms and the first token after 214; the time to the first token is 214."""
    found = arrivals(
        reply_of(
            (0.005, chat({"role": "assistant", "content": None})), (0.214, chat({"content": "a"}, "stop")), (0.3, DONE)
        )
    )
    assert found.first_s == 0.214


def test_end_to_end_is_the_last_token_and_adds_up():
    """Row 7: usage and [DONE] come 0.4 s later and stretch nothing; TTFT and gaps add up to the whole exactly."""
    found = arrivals(
        reply_of((0.1, completion("a")), (0.2, completion("b", "stop")), (0.6, usage_chunk(2)), (0.6, DONE))
    )
    assert found.last_s == 0.2
    assert found.first_s + sum(found.per_chunk_s()) == found.last_s
    assert found.tpot_s == pytest.approx(0.1)


def test_usage_counts_tokens_and_text_does_not():
    """Row 8: fifteen spaces are one token if usage says so, and one sign may be three."""
    spaces = arrivals(reply_of((1, completion(" " * 15, "stop")), (2, usage_chunk(1))))
    sign = arrivals(reply_of((1, completion("é", "stop")), (2, usage_chunk(3))))
    assert (spaces.tokens, sign.tokens) == (1, 3)


def test_the_first_token_is_in_no_gap():
    """Row 18: with the 5 s before it the mean gap would be 1.74 s and not 0.1."""
    found = answer((5.0, 1), (5.1, 1), (5.2, 1))
    assert found.per_chunk_s() == pytest.approx([0.1, 0.1])
    assert found.tpot_s == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("samples", "linear", "nearest"),
    [([10, 20, 30], 29.8, 30), (list(range(1, 101)), 99.01, 99), (list(range(1, 64)), 62.38, 63)],
)
def test_percentiles_by_the_linear_rule(samples, linear, nearest):
    """Row 24: a rank cut off gave 20 of the first and 100 of the second; nearest rank would give 30, 99 and 63."""
    assert percentile(samples, 99) == pytest.approx(linear)
    assert abs(percentile(samples, 99) - nearest) < 1
    assert np.percentile(samples, 99, method="inverted_cdf") == nearest


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.floats(0, 100))
def test_percentiles_by_hand(samples, q):
    """Position q/100 · (n - 1) of the sorted samples, written out."""
    ordered, place = sorted(samples), q / 100 * (len(samples) - 1)
    low = ordered[math.floor(place)]
    high = ordered[math.ceil(place)]
    assert percentile(samples, q) == pytest.approx(low + (high - low) * (place - math.floor(place)), rel=1e-6, abs=1e-6)


def test_no_chunk_gives_no_times():
    """An answer without tokens has no first token, no gap and no speed; nothing raises."""
    found = arrivals(reply_of((1, completion("", "stop")), (1, usage_chunk(0)), (1, DONE)))
    assert found.tokens == 0
    assert found.per_chunk_s() == found.replicated_s() == []
    assert all(math.isnan(time_s) for time_s in (found.first_s, found.last_s, found.tpot_s, found.tokens_per_s))
    assert math.isnan(percentile([], 99))


def test_one_chunk_gives_a_first_token_and_no_gap():
    """The client of the post divides by zero here."""
    found = arrivals(reply_of((1, completion("a", "stop")), (1, usage_chunk(1))))
    assert (found.first_s, found.per_chunk_s()) == (1, [])
    assert math.isnan(found.tpot_s)


def test_a_token_without_text_is_counted_where_usage_says_so():
    """A token that ends inside a character has an empty chunk of its own."""
    chunks = [(1, completion("")), (2, completion("é")), (3, completion("", "length"))]
    assert arrivals(reply_of(*chunks, (4, usage_chunk(2)))).emissions == ((1, 1), (2, 1))
    assert arrivals(reply_of(*chunks, (4, usage_chunk(3)))).emissions == ((1, 1), (2, 1), (3, 1))


def test_an_empty_last_chunk_is_no_token_where_usage_says_so():
    """The finish reason may come alone."""
    chunks = [(1, completion("a")), (2, completion("b")), (3, completion("", "stop"))]
    assert arrivals(reply_of(*chunks, (4, usage_chunk(2)))).emissions == ((1, 1), (2, 1))


def test_without_usage_chunks_are_taken_for_tokens_and_it_is_said():
    """It may be too few."""
    found = arrivals(reply_of((1, completion("ab")), (2, completion("cd", "stop"))))
    assert (found.tokens, found.counting) == (2, Counting.ASSUMED)


@given(st.integers(1, 20), st.integers(0, 60))
def test_tokens_that_nobody_placed_are_spread_evenly(chunks, total):
    """All are placed, and no two chunks differ by more than one."""
    stream = [(place, completion("x", "stop" if place == chunks - 1 else None)) for place in range(chunks)]
    found = arrivals(reply_of(*stream, (chunks, usage_chunk(total))))
    assert found.tokens == total
    assert len({one.tokens for one in found.emissions}) <= 2


@pytest.mark.parametrize("window_s", [0.0, -1.0, float("nan")])
def test_a_window_of_no_length_is_refused(window_s):
    """There is no speed in it."""
    with pytest.raises(ValueError, match="longer than 0 s"):
        peak_tokens_per_s([], window_s)
