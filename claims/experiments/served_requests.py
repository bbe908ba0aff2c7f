"""Requests to a server on this machine, timed at the client and at the model; the post's wasteful loop behind HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from claims.experiments.conveyor import conveyed
from claims.experiments.fresh_process import in_fresh_process
from claims.experiments.repeated_normals import RepeatedNormals

PROMPT = "The steady server answers each question, a byte of it after another. "
REPEATS, ANSWER_TOKENS = 4, 64


class OneByOne:
    """The decoder of `implementations.inference` as a model of the batching engine: each request in a cache of its own.

    A request is known by its first block, which nobody else holds while it runs.

    Args:
        decoder: of the inference topic.
        room_tokens: of each cache.

    Attributes:
        began_s: when the prefill of each request began, in the order of their beginning.
        first_s: when its first token was there.
    """

    def __init__(self, decoder: Any, room_tokens: int) -> None:
        self.decoder, self.room_tokens = decoder, room_tokens
        self.caches: dict[int, Any] = {}
        self.began_s: list[float] = []
        self.first_s: list[float] = []

    def prefill(self, tokens: Sequence[int], start: int, table: Sequence[int], last: bool = True) -> int | None:
        """Read a stretch of a prompt."""
        from implementations.inference.cache import Cache

        if not start:
            self.began_s.append(perf_counter())
            self.caches[table[0]] = Cache(self.decoder.shape, self.room_tokens)
        token = self._next(tokens, table[0])
        if last:
            self.first_s.append(perf_counter())
        return token if last else None

    def decode(
        self, tokens: Sequence[int], lengths: Sequence[int], tables: Sequence[Sequence[int]], captured: int | None
    ) -> list[int]:
        """One more token of each, one after another."""
        del lengths, captured
        return [self._next([token], table[0]) for token, table in zip(tokens, tables, strict=True)]

    def copy_out(self, table: Sequence[int], tokens: int) -> Any:
        """Nothing is ever evicted: the pool is large enough."""
        raise NotImplementedError

    def copy_in(self, table: Sequence[int], saved: Any) -> None:
        """Nothing is ever evicted: the pool is large enough."""
        raise NotImplementedError

    def _next(self, tokens: Sequence[int], key: int) -> int:
        return int(self.decoder.extend(tokens, self.caches[key]).argmax())


@contextmanager
def served(model: Any, context_tokens: int, requests: int = 4) -> Iterator[str]:
    """The server of `implementations.serving` on a model; its address.

    Args:
        model: of the engine.
        context_tokens: of prompt and answer.
        requests: most at once.
    """
    from implementations.serving.desk import Desk
    from implementations.serving.engine import serving_config
    from implementations.serving.server import application, running

    blocks = requests * -(-context_tokens // 16)
    config = serving_config(max_num_seqs=requests, max_model_len=context_tokens, kv_blocks=blocks)
    with running(application(Desk(config, model))) as address:
        yield address


def asked(address: str, prompt: str, max_tokens: int, count: int = 1) -> list[Any]:
    """Streams of `count` requests sent at once: exchanges, as our client gives them."""
    from implementations.serving import load
    from implementations.serving.client import Target

    target = Target.parse(address)
    body = {"prompt": prompt, "max_tokens": max_tokens, "stream": True, "stream_options": {"include_usage": True}}
    request = target.request("POST", "completions", body)
    return asyncio.run(load.run(target, [request] * count, due_s=[0.0] * count))


def decoder_of(layers: int, seed: int) -> Any:
    """A decoder of the post's width."""
    from claims.experiments.request_times import shape
    from implementations.inference.decoder import Decoder
    from implementations.inference.weights import Weights

    return Decoder(Weights.random(shape(layers), RepeatedNormals(seed)))


def pairs(processes: int) -> list[dict[str, Any]]:
    """What `client_beside_engine` measures, one a process."""
    target = "claims.experiments.served_requests:client_beside_engine"
    return [in_fresh_process(target, seed=seed) for seed in range(processes)]


FIRST_TOKENS = 6  # further requests of two tokens a side; a first token is there but once a request


def client_beside_engine(seed: int) -> dict[str, Any]:
    """The same request through HTTP and inside the engine, by turns: tokens, milliseconds and seconds of both.

    Whoever goes first finds another machine than whoever goes second, so that each does both; both are warmed up.

    Returns:
        For "client": prompt_tokens, output_tokens, ttft_ms, p50_ms, p99_ms, e2e_s, tok_per_s; for "engine" the times.
        All are means, of the two whole requests, and `ttft_ms` of the short ones too.
    """
    prompt = PROMPT * REPEATS
    room = len(prompt) + ANSWER_TOKENS
    decoder = decoder_of(12, seed)
    with served(OneByOne(decoder, room), room, requests=1) as address:
        sides = {
            "client": lambda tokens: _through_http(address, prompt, tokens),
            "engine": lambda tokens: _inside(decoder, room, prompt, tokens),
        }
        for side in sides.values():
            side(2)
        rounds = [
            {name: sides[name](tokens) for name in sorted(sides, reverse=bool((seed + number) % 2))}
            for number, tokens in enumerate([ANSWER_TOKENS] * 2 + [2] * FIRST_TOKENS)
        ]
    whole, found = rounds[:2], {}
    for name in sides:
        found[name] = {key: float(np.mean([one[name][key] for one in whole])) for key in whole[0][name]}
        found[name]["ttft_ms"] = float(np.mean([one[name]["ttft_ms"] for one in rounds]))
    return found


def _through_http(address: str, prompt: str, tokens: int) -> dict[str, float]:
    from implementations.serving.timing import arrivals

    (exchange,) = asked(address, prompt, tokens)
    reply = exchange.reply()
    found = arrivals(reply)
    return {
        "prompt_tokens": reply.usage.prompt_tokens,
        "output_tokens": found.tokens,
        **_figures(found.first_s - exchange.started_s, found.replicated_s()),
        "e2e_s": exchange.ended_s - exchange.started_s,
        "tok_per_s": found.tokens_per_s,
    }


def _inside(decoder: Any, room: int, prompt: str, tokens: int) -> dict[str, float]:
    from implementations.inference.cache import Cache

    cache = Cache(decoder.shape, room)
    began = perf_counter()
    events = list(conveyed(lambda ids: decoder.extend(ids, cache), prompt, tokens))
    stamps = [event.time_s - began for event in events[2:]]
    return _figures(stamps[0], np.diff(stamps))


def _figures(ttft_s: float, gaps_s: Any) -> dict[str, float]:
    from implementations.serving.timing import percentile

    return {"ttft_ms": 1e3 * ttft_s, "p50_ms": 1e3 * percentile(gaps_s, 50), "p99_ms": 1e3 * percentile(gaps_s, 99)}


def surpluses(processes: int) -> list[dict[str, float]]:
    """What `surplus` measures, one a process."""
    target = "claims.experiments.served_requests:surplus"
    return [in_fresh_process(target, seed=seed) for seed in range(processes)]


def surplus(seed: int) -> dict[str, float]:
    """From the last token to the end of the stream, in median gaps: by the wasteful loop, by one that stops."""
    decoder = decoder_of(12, seed)
    order = (True, False) if seed % 2 else (False, True)
    with looped(decoder) as address:
        asked(address, "warm", 2)
        found = {
            wasteful: _surplus(asked(f"{address}/{'wasteful' if wasteful else 'thrifty'}", PROMPT, 24)[0])
            for wasteful in order
        }
    return {"wasteful": found[True], "thrifty": found[False]}


def _surplus(exchange: Any) -> float:
    from implementations.serving.timing import arrivals

    found = arrivals(exchange.reply())
    return float((exchange.ended_s - found.last_s) / median(found.per_chunk_s()))


@contextmanager
def looped(decoder: Any) -> Iterator[str]:
    """A server in the post's manner: a generator behind HTTP, one request at a time."""
    from starlette.applications import Starlette
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    from implementations.serving.server import running

    async def answer(request: Any) -> Any:
        wasteful = request.path_params["loop"] == "wasteful"
        body = await request.json()
        return StreamingResponse(
            _events(decoder, body["prompt"], body["max_tokens"], wasteful), media_type="text/event-stream"
        )

    with running(Starlette(routes=[Route("/{loop}/completions", answer, methods=["POST"])])) as address:
        yield address


def _events(decoder: Any, prompt: str, max_tokens: int, wasteful: bool) -> Iterator[bytes]:
    import json

    from implementations.inference.cache import Cache
    from implementations.serving.protocol import DONE, event

    cache = Cache(decoder.shape, len(prompt) + max_tokens + 1)
    for one in conveyed(lambda tokens: decoder.extend(tokens, cache), prompt, max_tokens, wasteful=wasteful):
        if one.name == "token":
            yield event(
                json.dumps({"choices": [{"index": 0, "text": one.text or "?", "finish_reason": None}]}).encode()
            )
    yield event(DONE)


def queued(requests: int, seed: int) -> list[tuple[float, float]]:
    """Times to the first token of requests sent at once to an engine that runs one at a time, in seconds.

    Returns:
        At the client and inside the engine, a pair a request, in the order of service.
    """
    from implementations.serving.timing import arrivals

    room = len(PROMPT) + 8
    model = OneByOne(decoder_of(2, seed), room)
    with served(model, room, requests=1) as address:
        exchanges = asked(address, PROMPT, 8, requests)
    first = sorted((arrivals(one.reply()).first_s, one.started_s) for one in exchanges)
    inside = [end - begin for begin, end in zip(model.began_s, model.first_s)]
    return [(seen - started, within) for (seen, started), within in zip(first, inside)]


def prompt_tokens_of(prompt: str) -> int:
    """How many tokens our server counts in a prompt."""
    (exchange,) = asked_of_small(prompt)
    return int(exchange.reply().usage.prompt_tokens)


def asked_of_small(prompt: str, max_tokens: int = 2) -> list[Any]:
    """One request to a server on a model of one narrow layer."""
    from implementations.inference.decoder import Decoder
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    room = len(prompt.encode()) + max_tokens
    small = Shape(layers=1, width=16, heads=2, hidden=32, vocabulary=256, positions=room)
    decoder = Decoder(Weights.random(small, np.random.default_rng(0)))
    with served(OneByOne(decoder, room), room) as address:
        return asked(address, prompt, max_tokens)
