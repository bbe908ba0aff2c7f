"""What a stream said is understood as it was meant, whatever the server's habits; numbers are rows of the evidence."""

import json

import pytest

from implementations.serving.reply import Read, Usage, error_message, read_stream
from tests.implementations.serving.streams import DONE, chat, completion, framed, reply_of, usage_chunk


def test_a_plain_stream():
    """Text, times, usage and end."""
    found = reply_of((1, completion("a")), (2, completion("b", "stop")), (3, usage_chunk(2)), (3, DONE))
    assert [(chunk.time_s, chunk.text) for chunk in found.chunks] == [(1, "a"), (2, "b")]
    assert (found.usage, found.finish_reason, found.done, found.failure) == (Usage(5, 2), "stop", True, None)


@pytest.mark.parametrize("choices", [(), None, "null"])
def test_a_usage_chunk_without_choices_is_no_fault(choices):
    """Row 11: `choices` empty, missing or null; read as a chunk it would raise and fail the request."""
    usage = {**usage_chunk(1), "choices": None} if choices == "null" else usage_chunk(1, choices)
    found = reply_of((1, completion("a", "length")), (2, usage), (2, DONE))
    assert (found.failure, found.usage, len(found.chunks)) == (None, Usage(5, 1), 1)


def test_a_delta_with_only_the_role_is_marked():
    """Row 4: content null, missing or empty beside a role."""
    deltas = [{"role": "assistant", "content": None}, {"role": "assistant"}, {"role": "assistant", "content": ""}]
    found = reply_of(*((1, chat(delta)) for delta in deltas), (2, chat({"content": "a"})), (3, DONE))
    assert [chunk.role_only for chunk in found.chunks] == [True, True, True, False]


def test_a_role_beside_content_is_content():
    """Some servers repeat the role in every chunk."""
    found = reply_of((1, chat({"role": "assistant", "content": "a"})), (2, DONE))
    assert [(chunk.text, chunk.role_only) for chunk in found.chunks] == [("a", False)]


def test_an_error_after_200_is_a_failure():
    """Row 12: counted as a success it would make the report better just when the server fails."""
    found = reply_of((1, completion("a")), (2, {"error": {"message": "out of memory", "code": 500}}), (2, DONE))
    assert found.failure == "error event: out of memory"


@pytest.mark.parametrize("body", [{"object": "error", "message": "old style"}, {"error": "a text"}])
def test_errors_of_other_shapes_are_failures_too(body):
    """The message is found where it is."""
    assert reply_of((1, body)).failure in ("error event: old style", "error event: a text")


@pytest.mark.parametrize("places", [[1], [2], [3], [1, 2, 3]])
def test_a_character_cut_in_two_is_one_character(places):
    """Row 13: a read that ends inside UTF-8 raises in one client and gives U+FFFD in another."""
    sent = framed(completion("x€𐍈y", "stop"))
    start = sent.index("€".encode())
    pieces = [
        sent[low:high] for low, high in zip([0, *(start + n for n in places)], [*(start + n for n in places), None])
    ]
    assert read_stream(Read(0.0, piece) for piece in pieces).text == "x€𐍈y"


@pytest.mark.parametrize("sign", ["\u0085", "\u2028", "\u2029", "\u000b", "\u001c"])
def test_signs_that_only_text_calls_line_ends_stay_inside_their_event(sign):
    """Row 15: split by `str.splitlines` the JSON would end in the middle."""
    raw = '{"choices":[{"text":"a' + sign + 'b","finish_reason":"stop"}]}'
    if sign < " ":  # JSON has these as escapes only
        raw = json.dumps(json.loads(raw, strict=False))
    assert reply_of((1, framed(raw))).text == f"a{sign}b"


def test_a_stream_is_utf8_whatever_its_header_says():
    """Row 15: without a charset some clients read latin-1 and make two signs of `é`."""
    assert reply_of((1, framed(completion("é", "stop")))).text == "é"


def test_crlf_comments_and_a_missing_space():
    """Legal framing that is rarer than the usual one."""
    sent = b": keep-alive\r\n\r\ndata:" + json.dumps(completion("a", "stop")).encode() + b"\r\n\r\n"
    found = reply_of((1, sent))
    assert (found.text, found.comments, found.failure) == ("a", 1, None)


def test_a_stream_that_just_stops_is_truncated():
    """Neither a finish reason nor [DONE]."""
    assert "truncated" in reply_of((1, completion("a"))).failure


@pytest.mark.parametrize("end", [completion("b", "stop"), DONE])
def test_either_sign_of_the_end_will_do(end):
    """Servers that leave out one of the two are common."""
    assert reply_of((1, completion("a")), (2, end)).failure is None


def test_nothing_at_all_is_truncated():
    """A response of 200 with an empty body is no answer."""
    found = read_stream([])
    assert (found.chunks, found.text) == ([], "")
    assert "truncated" in found.failure


@pytest.mark.parametrize("data", ["{", "[1]", "7", "not json", "[" * 100_000], ids=lambda data: data[:8])
def test_a_malformed_event_is_a_failure(data):
    """And nothing after it is believed."""
    found = reply_of((1, framed(data)), (2, completion("a", "stop")))
    assert found.failure.startswith("malformed event")
    assert found.chunks == []


def test_what_comes_after_done_is_not_read():
    """[DONE] is the end."""
    assert reply_of((1, completion("a")), (2, DONE), (3, completion("b"))).text == "a"


def test_thinking_and_calls_of_tools_are_tokens():
    """A chunk whose content is empty may still carry text."""
    call = {"tool_calls": [{"function": {"name": "f", "arguments": '{"x":'}}]}
    found = reply_of(
        (1, chat({"reasoning_content": "hm"})), (2, chat(call)), (3, chat({"content": None}, "tool_calls"))
    )
    assert [chunk.text for chunk in found.chunks] == ["hm", 'f{"x":', ""]


def test_usage_that_is_no_count_is_passed_over():
    """Null on every chunk but the last is what the interface prescribes."""
    found = reply_of(
        (1, {**completion("a", "stop"), "usage": None}), (2, {"choices": [], "usage": {"prompt_tokens": 1}})
    )
    assert (found.usage, found.failure) == (None, None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":{"message":"too long"}}', "too long"),
        (b'{"message":"bare"}', "bare"),
        (b"<html>Bad Gateway", "<html>Bad Gateway"),
        (b"[1]", "[1]"),
        (b"[" * 100_000, "[" * 200),
    ],
)
def test_what_an_error_body_says(body, message):
    """The interface's own shape, and what proxies send instead."""
    assert error_message(body) == message


@pytest.mark.parametrize("count", [-3, True, 2.0, "2"])
def test_a_count_that_is_none_is_passed_over(count):
    """Tokens are counted from 0, in whole numbers."""
    usage = {"prompt_tokens": 1, "completion_tokens": count}
    found = reply_of((1, completion("a", "stop")), (2, {"choices": [], "usage": usage}))
    assert (found.usage, found.failure) == (None, None)


def test_a_finish_reason_is_a_text():
    """Whatever a server sends for one."""
    assert reply_of((1, completion("a", ["stop"]))).finish_reason == "['stop']"
