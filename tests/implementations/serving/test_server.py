"""The server from outside, by its bytes."""

import asyncio
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from implementations.inference.tokenizer import decode
from implementations.serving import server
from implementations.serving.client import Target, exchange
from implementations.serving.reply import read_stream
from implementations.serving.server import MAX_BODY_BYTES, listen
from implementations.serving.timing import Counting, arrivals
from tests.implementations.serving.conftest import letters_after


def ask(address, name="completions", method="POST", **body):
    target = Target.parse(address)
    return asyncio.run(exchange(target, target.request(method, name, body or None), timeout_s=60))


def stream(address, name="completions", **body):
    return ask(address, name, **{"prompt": "a", "stream": True, "max_tokens": 5, **body})


def bodies(found):
    lines = found.body.decode().split("\n\n")
    assert lines[-1] == ""
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1] if "[DONE]" not in line]


def error(found):
    return found.status, json.loads(found.body)["error"]


def eventually(condition, timeout_s=60):
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it never came about"
        time.sleep(0.005)


def test_a_stream_token_by_token(shared):
    """A chunk a token, the finish reason on the last one, then [DONE]."""
    found = stream(shared)
    chunks = bodies(found)
    assert [chunk["choices"][0]["text"] for chunk in chunks] == list("bcdef")
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (len(chunks) - 1) + ["length"]
    assert {chunk["object"] for chunk in chunks} == {"text_completion"}
    assert len({(chunk["id"], chunk["created"]) for chunk in chunks}) == 1
    assert found.body.endswith(b"data: [DONE]\n\n")
    assert "usage" not in chunks[0]


def test_usage_at_the_end(shared):
    """A chunk without choices before [DONE], and null on all others."""
    *chunks, last = bodies(stream(shared, stream_options={"include_usage": True}))
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 6}
    assert {chunk["usage"] for chunk in chunks} == {None}


def test_usage_in_every_chunk(shared):
    """A running count, by which a client knows the tokens of each chunk."""
    found = arrivals(stream(shared, stream_options={"continuous_usage_stats": True}).reply())
    assert (found.tokens, found.counting) == (5, Counting.STATED)


def test_a_chat_stream(shared):
    """The role first, then content."""
    chunks = bodies(
        ask(shared, "chat/completions", messages=[{"role": "user", "content": "hi"}], stream=True, max_tokens=3)
    )
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert all(set(delta) == {"content"} for delta in deltas[1:])
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}


@pytest.mark.parametrize("chat", [False, True])
def test_an_answer_in_one_piece(shared, chat):
    """Without a stream: the same text and the same counts."""
    body = {"messages": [{"role": "user", "content": "hi"}]} if chat else {"prompt": "a"}
    found = json.loads(ask(shared, "chat/completions" if chat else "completions", max_tokens=4, **body).body)
    choice = found["choices"][0]
    text = choice["message"]["content"] if chat else choice["text"]
    assert len(text) == found["usage"]["completion_tokens"] == 4
    assert choice["finish_reason"] == "length"


def test_characters_of_several_tokens_come_whole(serve, alphabet):
    """Row 52: streamed and joined, the text is that of all ids at once; a tail that stays broken is flushed."""
    ids = [*"aé€𐍈".encode(), 0xFF, *"�".encode(), *"z€".encode()[:-1]]
    following = iter(ids)
    model = alphabet(spell=lambda _: next(following))
    with serve(model) as (address, _):
        found = stream(address, max_tokens=len(ids), stream_options={"continuous_usage_stats": True})
    assert found.reply().text == decode(ids) == "aé€𐍈\ufffd\ufffdz\ufffd"
    assert arrivals(found.reply()).tokens == len(ids)
    assert found.reply().finish_reason == "length"


def test_a_prompt_that_is_too_long_is_refused_before_the_stream(serve):
    """Row 54: HTTP 400 at once, also where a stream was asked for, and the limit is said."""
    with serve(max_model_len=32) as (address, _):
        status, fault = error(stream(address, prompt="a" * 32))
        assert (status, fault["code"]) == (400, "context_length_exceeded")
        assert "32" in fault["message"]
        assert len(stream(address, prompt="a" * 30, max_tokens=10).reply().text) == 2, "an answer is cut instead"


@pytest.mark.parametrize(
    ("name", "method", "body", "status", "message"),
    [
        ("completions", "POST", {"prompt": ""}, 400, "empty"),
        ("completions", "POST", {"prompt": "a", "max_tokens": 0}, 400, "at least 1"),
        ("completions", "POST", {"prompt": "a", "model": "other"}, 404, "does not exist"),
        ("completions", "GET", {}, 405, "Method Not Allowed"),
        ("embeddings", "POST", {"input": "a"}, 404, "/v1/embeddings"),
        ("models/other", "GET", {}, 404, "does not exist"),
        ("completions", "POST", {"prompt": "a" * (MAX_BODY_BYTES + 1)}, 413, "longer than"),
    ],
)
def test_errors_before_the_stream(shared, name, method, body, status, message):
    """Status and body of the OpenAI interface, whatever is wrong."""
    found, fault = error(ask(shared, name, method, **body))
    assert (found, set(fault)) == (status, {"message", "type", "param", "code"})
    assert message in fault["message"]


def test_an_error_after_the_first_token_is_an_event(serve, alphabet):
    """Row 12: the status is out; the tokens that were made come, then the error, then [DONE], and no usage."""
    with serve(alphabet(fails_after=3)) as (address, desk):
        found = stream(address, stream_options={"include_usage": True})
        assert found.status == 200
        *chunks, last = bodies(found)
        assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == "bcd"
        assert "fallen over" in last["error"]["message"]
        assert found.body.endswith(b"data: [DONE]\n\n")
        assert "fallen over" in found.reply().failure
        assert desk.engine.load.free_blocks == desk.engine.load.blocks


@pytest.mark.parametrize("streaming", [True, False])
def test_an_error_before_the_first_token_is_a_status(serve, alphabet, streaming):
    """Nothing has been sent yet, so it can still be said properly."""
    with serve(alphabet(fails_after=0)) as (address, _):
        status, fault = error(stream(address, stream=streaming))
    assert (status, fault["type"], fault["code"]) == (500, "server_error", "engine_error")


def open_stream(address, received_bytes=1 << 16, **body):
    """A raw connection that has sent its request."""
    parts = urlsplit(address)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received_bytes)
    connection.connect((parts.hostname, parts.port))
    request = {"prompt": "a", "stream": True, "max_tokens": 200, **body}
    connection.sendall(Target.parse(address).request("POST", "completions", request))
    return connection


@pytest.mark.parametrize("streaming", [True, False])
def test_a_client_that_leaves_ends_its_request(serve, alphabet, streaming):
    """Row 55: its blocks go back to the pool and the engine stops, with and without a stream."""
    with serve(alphabet(step_s=0.005), max_model_len=1024) as (address, desk):
        with open_stream(address, stream=streaming, max_tokens=1000):
            eventually(lambda: desk.engine.load.running == 1)
        eventually(lambda: desk.engine.load.free_blocks == desk.engine.load.blocks)
        eventually(lambda: desk.open_requests == 0)
        steps = desk.engine.load.steps
        assert steps < 1000
        time.sleep(0.05)
        assert desk.engine.load.steps == steps


def test_a_client_that_leaves_while_it_waits_is_never_served(serve, alphabet):
    """It has received nothing, so only its connection can tell."""
    model = alphabet(step_s=0.005)
    with serve(model, max_num_seqs=1) as (address, desk):
        with open_stream(address, max_tokens=100) as first:
            eventually(lambda: desk.engine.load.running == 1)
            with open_stream(address, prompt="x"):
                eventually(lambda: desk.engine.load.waiting == 1)
            eventually(lambda: desk.engine.load.waiting == 0)
            assert first.recv(10)
        eventually(lambda: desk.engine.load.free_blocks == desk.engine.load.blocks)
        assert model.emitted <= 101


def test_a_reader_that_does_not_read_holds_up_nobody(serve, alphabet, monkeypatch):
    """Its tokens are computed at the engine's pace and wait as numbers; another client is served meanwhile.

    Read at last, everything is there once, the unread part merged into fewer chunks than tokens.
    """
    count = 6000

    def listen_with_small_buffers(host, port):
        listening = listen(host, port)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)  # connections inherit it
        return listening

    monkeypatch.setattr(server, "listen", listen_with_small_buffers)
    with serve(alphabet(), kv_blocks=800, max_model_len=12_000) as (address, desk):
        with open_stream(address, received_bytes=4096, max_tokens=count) as slow:
            slow.settimeout(60)
            eventually(lambda: desk.engine.load.steps >= count, timeout_s=120)
            assert desk.engine.load.free_blocks == desk.engine.load.blocks, "the engine is done with it"
            assert desk.open_requests == 1
            assert stream(address, prompt="k").reply().text == letters_after("k", 5)
            eventually(lambda: desk.open_requests == 1)
            (slot,) = desk._slots.values()
            assert 0 < slot.unread < count
            received = b"".join(iter(lambda: slow.recv(1 << 16), b""))
    body = received.partition(b"\r\n\r\n")[2]
    chunks = read_stream([(0.0, unchunked(body))]).chunks
    assert "".join(chunk.text for chunk in chunks) == letters_after("a", count)
    assert len(chunks) < count


def unchunked(data):
    """The body of a chunked response that has come whole."""
    body = b""
    while data:
        size, _, rest = data.partition(b"\r\n")
        length = int(size, 16)
        body, data = body + rest[:length], rest[length + 2 :]
    return body


def test_many_clients_share_steps(serve, alphabet):
    """Continuous batching: twenty answers of twenty tokens take far fewer than four hundred steps."""
    with serve(alphabet(step_s=0.005)) as (address, desk):
        answers = {}

        def one(letter):
            answers[letter] = stream(address, prompt=letter, max_tokens=20).reply().text

        threads = [threading.Thread(target=one, args=(letter,)) for letter in "abcdefghijklmnopqrst"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert answers == {letter: letters_after(letter, 20) for letter in "abcdefghijklmnopqrst"}
        assert desk.engine.load.steps < 200


def test_health_tells_how_full_it_is(shared):
    """Counts of requests, blocks and steps."""
    found = health(shared)
    assert found["status"] == "ok"
    assert found["free_blocks"] == found["blocks"] == 64
    assert {"open_requests", "running", "waiting", "evicted", "steps"} <= set(found)


def health(address):
    parts = urlsplit(address)
    target = Target(parts.hostname, parts.port, path="")
    return json.loads(asyncio.run(exchange(target, target.request("GET", "health"))).body)


def test_closing_finishes_what_is_open(serve, alphabet):
    """A server that is told to end serves its open request to the last token."""
    with serve(alphabet(step_s=0.002)) as (address, desk):
        answers = []
        thread = threading.Thread(target=lambda: answers.append(stream(address, max_tokens=100).reply()))
        thread.start()
        eventually(lambda: desk.engine.load.running == 1)
    thread.join(60)
    assert answers[0].text == letters_after("a", 100)
    assert answers[0].done
