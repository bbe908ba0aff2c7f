"""Streams on which published clients went wrong, replayed over a connection on a schedule, each with its right values.

The numbers are those of the project's list of such reports. What a tool made of the stream stands in the docstring, the
right value in the test; times are bounds from below, which a slow machine cannot break.
"""

import pytest

from implementations.serving.timing import arrivals, peak_tokens_per_s
from tests.implementations.serving.streams import DONE, chat, completion, counts, framed, usage_chunk

GAP_S = 0.06


def running(text, total, finish=None):
    return framed({**completion(text, finish), "usage": counts(total)})


def end(tokens):
    return (GAP_S, framed(usage_chunk(tokens)) + DONE)


def understood(found):
    reply = found.reply()
    return reply, arrivals(reply)


def test_row_1_a_chunk_of_several_tokens(replay):
    """One gap of 4 tokens was reported as the latency of one; two tokens of the first chunk vanished."""
    found, _ = replay([(0.0, running("ab", 2)), (GAP_S, running("cdef", 6, "stop")), end(6)])
    reply, answer = understood(found)
    (gap_s,) = answer.per_chunk_s()
    assert reply.failure is None
    assert answer.tokens == 6
    assert gap_s >= GAP_S * 0.9
    assert answer.replicated_s() == [0.0] + [gap_s / 4] * 4
    assert answer.tpot_s == pytest.approx(gap_s / 5)


def test_row_3_chunks_counted_as_tokens(replay):
    """The peak was 111 tokens a second where the mean was 414."""
    script = [(GAP_S / 2, framed(completion("abcd", "stop" if place == 4 else None))) for place in range(5)]
    _, answer = understood(replay([*script, end(20)])[0])
    assert answer.tokens == 20
    assert peak_tokens_per_s([answer]) >= answer.tokens / (answer.last_s - answer.first_s)


def test_row_4_the_role_taken_for_a_token(replay):
    """The time to the first token was 5 ms where it was 214."""
    role = framed(chat({"role": "assistant", "content": None}))
    found, written_s = replay([(0.0, role), (2 * GAP_S, framed(chat({"content": "a"}, "stop"))), end(1)])
    _, answer = understood(found)
    assert answer.first_s >= written_s[1]
    assert answer.first_s - found.started_s >= 2 * GAP_S


def test_row_7_latency_that_is_not_the_sum_of_its_parts(replay):
    """Two readings of the clock, and a usage chunk that stretched the end."""
    script = [
        (GAP_S / 2, framed(completion(sign, finish))) for sign, finish in (("a", None), ("b", None), ("c", "stop"))
    ]
    found, written_s = replay([*script, (3 * GAP_S, framed(usage_chunk(3)) + DONE)])
    _, answer = understood(found)
    assert answer.first_s + sum(answer.per_chunk_s()) == pytest.approx(answer.last_s, abs=1e-12)
    assert answer.last_s < written_s[-1]


def test_row_8_text_split_again_for_a_count(replay):
    """Fifteen spaces are one token here, and by another tokenizer several."""
    _, answer = understood(replay([(0.0, framed(completion(" " * 15, "stop"))), end(1)])[0])
    assert answer.tokens == 1


@pytest.mark.parametrize("choices", [(), None], ids=["empty", "missing"])
def test_row_11_a_usage_chunk_without_choices(replay, choices):
    """An IndexError marked the request as failed."""
    reply, answer = understood(
        replay([(0.0, framed(completion("a", "stop"))), (0.0, framed(usage_chunk(1, choices)) + DONE)])[0]
    )
    assert (reply.failure, reply.usage.completion_tokens, answer.tokens) == (None, 1, 1)


def test_row_12_an_error_after_the_status(replay):
    """Counted as a success, and as a quick one."""
    reply, _ = understood(
        replay([(0.0, framed(completion("a"))), (0.0, framed({"error": {"message": "lost"}}) + DONE)])[0]
    )
    assert reply.failure == "error event: lost"


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_row_13_a_character_over_two_reads(replay, cut):
    """UnicodeDecodeError in one client, U+FFFD in another."""
    sent = framed(completion("𐍈", "stop"))
    place = sent.index("𐍈".encode()) + cut
    found, written_s = replay([(0.0, sent[:place]), (GAP_S, sent[place:]), end(1)])
    reply, answer = understood(found)
    assert reply.text == "𐍈"
    assert answer.first_s >= written_s[1]


@pytest.mark.parametrize("sign", ["\u0085", "\u2028"])
def test_row_15_a_line_end_that_is_none(replay, sign):
    """The JSON was cut in its middle; and without a charset `é` came out as two signs."""
    raw = '{"choices":[{"text":"é' + sign + '","finish_reason":"stop"}]}'
    reply, _ = understood(replay([(0.0, framed(raw)), end(1)])[0])
    assert (reply.failure, reply.text) == (None, f"é{sign}")


def test_row_18_the_first_token_in_the_mean_gap(replay):
    """A mean over gaps and first token, divided by chunks that were no tokens."""
    script = [(3 * GAP_S, framed(completion("a"))), (GAP_S / 2, framed(completion("b", "stop")))]
    found, _ = replay([*script, end(2)])
    _, answer = understood(found)
    assert answer.tpot_s == answer.last_s - answer.first_s
    assert answer.first_s - found.started_s >= 3 * GAP_S


def test_row_22_a_sample_an_output_called_a_sample_a_token(replay):
    """Two outputs of three tokens: one definition has 1 sample, another 5, and each says which it is."""
    _, answer = understood(replay([(0.0, running("abc", 3)), (GAP_S, running("def", 6, "stop")), end(6)])[0])
    assert (len(answer.per_chunk_s()), len(answer.divided_s()), len(answer.replicated_s())) == (1, 1, 5)
