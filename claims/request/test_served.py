"""A server on this machine, seen from its client."""

import math

import numpy as np

from runtwice import claim


def sentence(length):
    """A text of so many bytes."""
    from claims.experiments.request_times import prompt_of

    return prompt_of(int(length))


@claim("request.client-prompt-tokens")
def test_a_prompt_has_a_token_a_byte(evidence):
    """Usage of our server for a sentence of the post's length, four times over."""
    from claims.experiments.served_requests import prompt_tokens_of

    repeats = 4
    evidence.figure("repeats", repeats)
    evidence.figure("prompt_tokens", prompt_tokens_of(sentence(evidence.given("sentence_bytes")) * repeats))


@claim("request.openai-api-compat")
def test_counts_from_streams_of_several_makes(evidence):
    """Tokens as our client reads them: streams as several servers frame them, byte by byte, and our own server's."""
    from claims.experiments.served_requests import asked_of_small
    from claims.experiments.server_dialects import DIALECTS
    from implementations.serving.reply import Read, read_stream
    from implementations.serving.timing import arrivals

    text, prompt_tokens = str(evidence.given("text")), int(evidence.given("prompt_tokens"))
    for name, dialect in DIALECTS.items():
        sent = dialect(text, prompt_tokens)
        for size in (1, 7, len(sent)):
            pieces = [sent[low : low + size] for low in range(0, len(sent), size)]
            reply = read_stream(Read(float(place), piece) for place, piece in enumerate(pieces))
            found = (reply.failure, reply.text, tuple(reply.usage), arrivals(reply).tokens)
            evidence.identical(
                found, (None, text, (prompt_tokens, len(text)), len(text)), label=f"{name} by {size} bytes"
            )
    (exchange,) = asked_of_small("x" * prompt_tokens, len(text))
    reply = exchange.reply()
    found = (reply.failure, tuple(reply.usage), arrivals(reply).tokens)
    evidence.identical(found, (None, (prompt_tokens, len(text)), len(text)), label="our server")


@claim("request.client-measures-more")
def test_the_client_sees_more_than_the_engine(evidence):
    """Requests sent at once to an engine that runs one at a time: first tokens at the client and in the engine."""
    from claims.experiments.served_requests import queued

    pairs = queued(int(evidence.given("requests")), seed=0)
    evidence.above([client for client, _ in pairs], [engine for _, engine in pairs], paired=True)


def _pairs(evidence, session_pairs):
    runs = session_pairs(int(evidence.given("processes")))
    return [run["client"] for run in runs], [run["engine"] for run in runs]


@claim("request.client-record")
def test_the_clients_output_is_recorded(evidence, session_pairs):
    """A request of 276 tokens for 64 through our server on the model, timed by our client: the post's lines."""
    clients, _ = _pairs(evidence, session_pairs)
    names = {
        "ttft_ms": "ttft_ms",
        "p50_ms": "itl_p50_ms",
        "p99_ms": "itl_p99_ms",
        "e2e_s": "e2e_s",
        "tok_per_s": "tok_per_s",
    }
    for name in ("prompt_tokens", "output_tokens"):
        evidence.figure(name, clients[0][name])
    for name, printed in names.items():
        values = [run[name] for run in clients]
        evidence.figure(printed, float(np.median(values)))
        unit = {"ms": "ms", "s": "s"}[name.rpartition("_")[2]] if name != "tok_per_s" else "tokens/s"
        evidence.recorded(printed, values, unit=unit)


@claim("request.client-matches-engine")
def test_client_and_engine_agree_on_one_prompt(evidence, session_pairs):
    """Logarithms of first token and median gap of one request, through HTTP and inside the engine, a process each."""
    clients, engines = _pairs(evidence, session_pairs)
    evidence.figure("ttft_client_ms", float(np.median([run["ttft_ms"] for run in clients])))
    evidence.figure("tok_s_client", float(np.median([run["tok_per_s"] for run in clients])))
    differences = [client["ttft_ms"] - engine["ttft_ms"] for client, engine in zip(clients, engines)]
    evidence.keep("first token, client less engine, ms", differences)
    for name in ("ttft_ms", "p50_ms"):
        sides = [[math.log(run[name]) for run in side] for side in (clients, engines)]
        evidence.equivalent(*sides, label=name)


@claim("request.client-extra-forward")
def test_the_stream_stays_open_for_one_more_pass(evidence):
    """From the last token to the end of the stream, in median gaps: by the post's loop and by one that stops."""
    from claims.experiments.served_requests import surpluses

    found = surpluses(int(evidence.given("processes")))
    evidence.above([run["wasteful"] for run in found], evidence.given("wasteful_above"), label="the post's loop")
    evidence.above([-run["thrifty"] for run in found], -evidence.given("thrifty_below"), label="a loop that stops")
