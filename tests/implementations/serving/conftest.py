"""Builders: a server on a model that spells the alphabet, and a client against bytes sent on a schedule."""

import asyncio
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("uvicorn")

from implementations.serving.client import Target, exchange
from implementations.serving.desk import Desk
from implementations.serving.engine import serving_config
from implementations.serving.server import application, running
from tests.implementations.serving.streams import head


class Alphabet:
    """A model without arithmetic: after a letter comes the next one, after `z` the first.

    Args:
        step_s: how long a step takes.
        fails_after: raise at the token that would come after this many.
        bytes_after: what follows a letter instead, where given.
    """

    def __init__(self, step_s=0.0, fails_after=None, spell=None):
        self.step_s = step_s
        self.fails_after = fails_after
        self.spell = spell or next_letter
        self.emitted = 0
        self.steps = 0
        self.held = {}

    def prefill(self, tokens, start, table, last=True):
        self._step(1 if last else 0)
        return self.spell(tokens[-1]) if last else None

    def decode(self, tokens, lengths, tables, captured):
        self._step(len(tokens))
        return [self.spell(token) for token in tokens]

    def copy_out(self, table, tokens):
        return tokens

    def copy_in(self, table, saved):
        pass

    def _step(self, tokens):
        self.steps += 1
        self.emitted += tokens
        if self.fails_after is not None and self.emitted > self.fails_after:
            raise RuntimeError("the model has fallen over")
        time.sleep(self.step_s)


def next_letter(token):
    return ord("a") + (token - ord("a") + 1) % 26


def letters_after(prompt, count):
    """What the alphabet model answers."""
    first = ord(prompt[-1]) - ord("a") + 1
    return "".join(chr(ord("a") + (first + place) % 26) for place in range(count))


@contextmanager
def served(model=None, **settings):
    """A server on loopback: its address and its desk, which never lets the engine run ahead."""
    config = serving_config(**{"kv_blocks": 64, "max_model_len": 512, **settings})
    desk = Desk(config, model or Alphabet(), patience_s=60.0)
    with running(application(desk)) as address:
        yield address, desk


@pytest.fixture
def serve():
    return served


@pytest.fixture
def alphabet():
    return Alphabet


@pytest.fixture(scope="module")
def shared():
    """One quick server for the tests that leave nothing behind."""
    with served() as (address, _):
        yield address


async def replay_and_exchange(script, *, timeout_s=20.0, due_s=None):
    """Send a script of (delay in seconds, bytes) to one client: its exchange, and when each piece was written."""
    written_s = []

    async def answer(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            for delay_s, piece in script:
                await asyncio.sleep(delay_s)
                writer.write(piece)
                written_s.append(time.perf_counter())
                await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        target = Target("127.0.0.1", server.sockets[0].getsockname()[1])
        request = target.request("POST", "completions", {"prompt": "a"})
        found = await exchange(target, request, due_s=due_s, timeout_s=timeout_s)
    return found, written_s


@pytest.fixture
def replay():
    """Runs a script of (delay_s, body bytes) behind a header that leaves the framing to the connection's end."""

    def run(script, **options):
        pieces = [(0.0, options.pop("header", head())), *script]
        found, written_s = asyncio.run(replay_and_exchange(pieces, **options))
        return found, written_s[1:]

    return run
