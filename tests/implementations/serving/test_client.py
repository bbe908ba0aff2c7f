"""One exchange, against servers that send given bytes at given times."""

import asyncio
import socket
import time

import pytest

from implementations.serving.client import Target, exchange
from implementations.serving.timing import arrivals
from tests.implementations.serving.streams import DONE, chat, completion, framed, head, usage_chunk

LATE_S = 0.5  # a busy machine may be this late; what is told apart below differs by less than its own script's delays


def times_of(found):
    return [one.time_s for one in arrivals(found.reply()).emissions]


def test_every_chunk_bears_the_time_of_its_read(replay):
    """Stamps follow the writes of the server, piece by piece, and never come before them."""
    script = [(0.03, framed(completion("a"))), (0.06, framed(completion("b"))), (0.03, framed(completion("c", "stop")))]
    found, written_s = replay([*script, (0.05, framed(usage_chunk(3)) + DONE)])
    stamps = times_of(found)
    assert found.reply().text == "abc"
    assert all(0 <= read - write < LATE_S for read, write in zip(stamps, written_s, strict=False))
    assert stamps[1] - stamps[0] > stamps[0] - stamps[0] + 0.04


def test_the_first_token_is_not_the_role(replay):
    """Row 4: the role goes out at once, the token 0.2 s later."""
    opening, token = framed(chat({"role": "assistant", "content": ""})), framed(chat({"content": "a"}, "stop"))
    found, written_s = replay([(0.0, opening), (0.2, token + DONE)])
    assert times_of(found)[0] >= written_s[1]
    assert arrivals(found.reply()).first_s - found.started_s >= 0.2


def test_a_character_over_two_reads(replay):
    """Row 13: its chunk bears the time of the read that completed it."""
    sent = framed(completion("é", "stop"))
    middle = sent.index("é".encode()) + 1
    found, written_s = replay([(0.0, sent[:middle]), (0.1, sent[middle:]), (0.0, DONE)])
    assert found.reply().text == "é"
    assert times_of(found)[0] >= written_s[1]


def test_usage_and_done_stretch_nothing(replay):
    """Row 7: they come 0.2 s after the last token."""
    found, written_s = replay([(0.0, framed(completion("a", "stop"))), (0.2, framed(usage_chunk(1)) + DONE)])
    answer = arrivals(found.reply())
    assert answer.last_s == answer.first_s < written_s[1]
    assert found.ended_s - answer.last_s >= 0.15


def test_several_events_in_one_read_share_its_time(replay):
    """Nobody can know more."""
    found, _ = replay([(0.01, framed(completion("a")) + framed(completion("b", "stop")) + DONE)])
    assert len(set(times_of(found))) == 1
    assert len(times_of(found)) == 2


def test_a_chunk_of_several_tokens_is_seen_as_one_gap_of_many(replay):
    """Row 1: four tokens after 0.2 s are one gap per chunk, a quarter of it divided, four quarters replicated."""
    sent = [
        {**completion(text, finish), "usage": {"prompt_tokens": 1, "completion_tokens": n}}
        for text, finish, n in (("a", None, 1), ("bcde", "stop", 5))
    ]
    found, _ = replay([(0.0, framed(sent[0])), (0.2, framed(sent[1])), (0.0, DONE)])
    answer = arrivals(found.reply())
    (gap_s,) = answer.per_chunk_s()
    assert gap_s >= 0.19
    assert answer.divided_s() == [gap_s / 4]
    assert answer.replicated_s() == [gap_s / 4] * 4


@pytest.mark.parametrize("framing", ["chunked", "length", "connection"])
def test_http_framing_is_taken_off(replay, framing):
    """Chunked, of stated length, or as long as the connection."""
    sent = framed(completion("a")) + framed(completion("b", "stop")) + DONE
    header = {
        "chunked": head(Transfer_Encoding="chunked"),
        "length": head(Content_Length=len(sent)),
        "connection": head(),
    }
    half = len(sent) // 2
    pieces = [sent[:half], sent[half:]]
    if framing == "chunked":
        pieces = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces] + [b"0\r\n\r\n"]
    found, _ = replay([(0.01, piece) for piece in pieces], header=header[framing])
    assert (found.failure, found.status, found.reply().text) == (None, 200, "ab")


def test_an_error_after_200(replay):
    """Row 12: a failure, though the status said 200 and the connection ended in order."""
    found, _ = replay([(0.0, framed(completion("a"))), (0.0, framed({"error": {"message": "cache lost"}}) + DONE)])
    assert found.failure is None
    assert found.reply().failure == "error event: cache lost"


def test_an_error_before_the_stream(replay):
    """The status and what the body says."""
    body = b'{"error":{"message":"the prompt is too long"}}'
    found, _ = replay([(0.0, body)], header=head("400 Bad Request", Content_Length=len(body)))
    assert found.reply().failure == "HTTP 400: the prompt is too long"


def test_a_connection_cut_in_the_middle(replay):
    """Half an answer is none."""
    sent = framed(completion("a"))
    found, _ = replay([(0.0, b"%x\r\n%s\r\n" % (len(sent), sent))], header=head(Transfer_Encoding="chunked"))
    assert "connection lost" in found.failure
    assert "connection lost" in found.reply().failure


def test_a_connection_cut_after_the_end(replay):
    """The answer was whole."""
    sent = framed(completion("a", "stop")) + DONE
    found, _ = replay([(0.0, b"%x\r\n%s\r\n" % (len(sent), sent))], header=head(Transfer_Encoding="chunked"))
    assert found.reply().failure is None


def test_a_server_that_is_not_one(replay):
    """Something else listens on that port."""
    found, _ = replay([], header=b"220 smtp ready\r\n\r\n")
    assert "not HTTP" in found.failure


def test_a_server_that_says_nothing_is_given_up(replay):
    """After the time allowed for the whole."""
    found, _ = replay([(5.0, b"")], timeout_s=0.2)
    assert "no end after 0.2 s" in found.failure


def test_nobody_listens():
    """A refused connection is an exchange that failed, not an exception."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    found = asyncio.run(exchange(Target("127.0.0.1", port), b"", timeout_s=5))
    assert "no connection" in found.failure
    assert found.status == 0


def test_due_and_start_are_told_apart(replay):
    """A request that was due a second ago is late by that second."""
    found, _ = replay([(0.0, framed(completion("a", "stop")) + DONE)], due_s=time.perf_counter() - 1)
    assert found.started_s - found.due_s >= 1


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://localhost:8000/v1", ("localhost", 8000, "/v1", False)),
        ("http://localhost:8000", ("localhost", 8000, "/v1", False)),
        ("localhost:8000/v1/", ("localhost", 8000, "/v1", False)),
        ("https://api.example.org/openai/v1", ("api.example.org", 443, "/openai/v1", True)),
        ("http://[::1]:9/v1", ("::1", 9, "/v1", False)),
    ],
)
def test_base_urls(url, where):
    """With and without scheme, path and port."""
    found = Target.parse(url)
    assert (found.host, found.port, found.path, found.tls) == where


@pytest.mark.parametrize("url", ["ftp://x", "http://", ""])
def test_a_base_url_that_is_none(url):
    """Says what one looks like."""
    with pytest.raises(ValueError, match="like http://localhost:8000/v1"):
        Target.parse(url)


def test_the_bytes_of_a_request():
    """Header by header, with the key where there is one."""
    sent = Target("::1", 8000, api_key="secret").request("POST", "completions", {"a": "é"})
    header, _, body = sent.partition(b"\r\n\r\n")
    lines = header.decode().split("\r\n")
    assert lines[:2] == ["POST /v1/completions HTTP/1.1", "Host: [::1]:8000"]
    assert {"Authorization: Bearer secret", f"Content-Length: {len(body)}", "Accept-Encoding: identity"} <= set(lines)


@pytest.mark.parametrize(
    "url",
    ["http://h/v 1", "http:// /v1", "http://ж/v1", "http://h/ж", "http://h\r\nX: y", "http://h/v1?x=1", "http://u:p@h"],
)
def test_a_base_url_that_no_request_can_carry(url):
    """Spaces, line ends, signs beyond ASCII, and what would be dropped in silence."""
    with pytest.raises(ValueError, match="a base URL"):
        Target.parse(url)


@pytest.mark.parametrize("key", ["ключ", "a b", "a\r\nX: y"])
def test_a_key_that_no_header_can_carry(key):
    """It is not repeated in the message."""
    with pytest.raises(ValueError, match="API key") as caught:
        Target.parse("http://h", key)
    assert key not in str(caught.value)


def test_port_0_is_not_the_default_port():
    """A request to it fails, instead of going to another server."""
    assert Target.parse("http://127.0.0.1:0").port == 0


@pytest.mark.parametrize("target", [Target("a" * 70 + ".b", 80), Target("a..b", 80), Target("127.0.0.1", 99_999)])
def test_an_address_that_cannot_be_is_a_failed_exchange(target):
    """And not an exception in the middle of a run."""
    assert asyncio.run(exchange(target, b"x")).failure.startswith("no connection")
