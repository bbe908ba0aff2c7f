"""A crowd at the server: streaming clients, a third of which leave in the middle, then SIGTERM.

    pytest benchmarks/bench_serving.py                        200 clients for 30 s, with all its checks
    python benchmarks/bench_serving.py --clients 50 --seconds 5

Server and crowd are processes of their own. Every answer is compared with what the model says to that prompt alone, and
every answer that was left with the beginning of it; tests/implementations/serving/test_crowd.py runs a short one.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from implementations.inference.tokenizer import decode, encode
from implementations.itl.decoder import Decoder, Shape
from implementations.serving.client import Exchange, Target, exchange
from implementations.serving.reply import read_stream

ROOT = Path(__file__).parents[1]
WIDTH, CONTEXT, KV_BLOCKS = 64, 256, 200
LONGEST_ANSWER = 120
PROMPTS = [f"prompt number {number}: " + "once upon a time " * (number % 6) for number in range(12)]


@dataclass
class Crowd:
    """What a run of the crowd saw."""

    complete: int = 0
    left: int = 0
    tokens: int = 0
    wrong: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)  # of the server, a sample a second while the crowd is there
    health: dict[str, int] = field(default_factory=dict)  # after the crowd has gone
    finished_after_sigterm: int = 0
    open_at_sigterm: int = 0
    exit_status: int | None = None
    errors: str = ""

    @property
    def memory_growth_mb(self) -> float:
        """From the first third of the samples to the last, medians."""
        third = max(1, len(self.memory_mb) // 3)
        early, late = sorted(self.memory_mb[third : 2 * third] or self.memory_mb), sorted(self.memory_mb[-third:])
        return late[len(late) // 2] - early[len(early) // 2]


def expected_answers() -> list[str]:
    """What the server's model says to each prompt, computed one request at a time."""
    blocks = -(-CONTEXT // 16)
    shape = Shape(2, WIDTH, 4 * WIDTH, 256, 256, positions=CONTEXT)
    answers = []
    for prompt in PROMPTS:
        model, ids = Decoder(0, blocks, shape), encode(prompt)
        tokens = [model.prefill(ids, 0, range(blocks)) or 0]
        for place in range(LONGEST_ANSWER - 1):
            tokens += model.decode([tokens[-1]], [len(ids) + place], [range(blocks)], None)
        answers.append([decode(tokens[: count + 1]) for count in range(LONGEST_ANSWER)])
    return answers


def request_of(target: Target, prompt: str, max_tokens: int) -> bytes:
    """A streaming request that counts its tokens in each chunk."""
    options = {"include_usage": True, "continuous_usage_stats": True}
    body = {"prompt": prompt, "max_tokens": max_tokens, "stream": True, "stream_options": options}
    return target.request("POST", "completions", body)


async def client(number: int, target: Target, answers, until_s: float, crowd: Crowd) -> None:
    """Asks one request after another; a third of the clients leave most of theirs at a random moment."""
    rng = random.Random(number)
    while time.perf_counter() < until_s:
        which, max_tokens = rng.randrange(len(PROMPTS)), rng.randint(20, LONGEST_ANSWER)
        leaves = number % 3 == 0 and rng.random() < 0.8
        request = request_of(target, PROMPTS[which], max_tokens)
        # Giving up closes the connection in the middle, also while the request still waits.
        patience_s = rng.expovariate(1 / 0.7) if leaves else 600.0
        found = await exchange(target, request, timeout_s=patience_s)
        judge(found, answers[which][max_tokens - 1], max_tokens, leaves, crowd)


def judge(found: Exchange, right: str, max_tokens: int, leaves: bool, crowd: Crowd) -> None:
    """Compare an answer, or the part of it that was there when its client left."""
    if leaves and (found.failure or "").startswith("no end"):
        reply = read_stream(found.reads)
        crowd.left += 1
        # A tail that is still inside a character is flushed only at the end of the whole answer.
        if not right.startswith(reply.text):
            crowd.wrong.append(f"left: {reply.text!r} is not how {right!r} begins")
        return
    reply = found.reply()
    if reply.failure:
        crowd.failures.append(reply.failure)
        return
    crowd.complete += 1
    crowd.tokens += max_tokens
    if reply.text != right or reply.usage is None or reply.usage.completion_tokens != max_tokens:
        crowd.wrong.append(f"{reply.text!r} ({reply.usage}) for {right!r} of {max_tokens}")


async def watch(process: psutil.Process, until_s: float, crowd: Crowd) -> None:
    """Sample the server's memory."""
    while time.perf_counter() < until_s:
        crowd.memory_mb.append(process.memory_info().rss / 2**20)
        await asyncio.sleep(min(1.0, max(0.1, (until_s - time.perf_counter()) / 10)))


async def besiege(address: str, pid: int, clients: int, seconds: float) -> Crowd:
    """The crowd, then quiet, then open requests and SIGTERM."""
    crowd, answers = Crowd(), expected_answers()
    target = Target.parse(address)
    until_s = time.perf_counter() + seconds
    everybody = [client(number, target, answers, until_s, crowd) for number in range(clients)]
    await asyncio.gather(watch(psutil.Process(pid), until_s, crowd), *everybody)
    crowd.health = await settled(target)
    await end(target, answers, pid, crowd)
    return crowd


async def health(target: Target) -> dict[str, int]:
    """What the server says of itself."""
    plain = Target(target.host, target.port, path="")
    return json.loads((await exchange(plain, plain.request("GET", "health"))).body)


async def settled(target: Target) -> dict[str, int]:
    """The health of the server once nothing is open any more, or after a while."""
    for _ in range(100):
        found = await health(target)
        if found["open_requests"] == 0 and found["free_blocks"] == found["blocks"]:
            break
        await asyncio.sleep(0.1)
    return found


async def end(target: Target, answers, pid: int, crowd: Crowd) -> None:
    """SIGTERM while requests are open: all of them are to be finished."""
    crowd.open_at_sigterm = 8
    requests = [request_of(target, PROMPTS[number], LONGEST_ANSWER) for number in range(crowd.open_at_sigterm)]
    waiting = [asyncio.ensure_future(exchange(target, request, timeout_s=60)) for request in requests]
    while (await health(target))["open_requests"] + sum(one.done() for one in waiting) < crowd.open_at_sigterm:
        await asyncio.sleep(0.005)
    os.kill(pid, signal.SIGTERM)
    for found, answer in zip(await asyncio.gather(*waiting), answers):
        crowd.finished_after_sigterm += found.reply().text == answer[-1] and found.reply().done


def run_crowd(clients: int, seconds: float) -> Crowd:
    """Start a server, send the crowd, and see the server out."""
    command = [sys.executable, "-m", "implementations.serving", "--port", "0"]
    sizes = ["--width", WIDTH, "--context", CONTEXT, "--kv-blocks", KV_BLOCKS, "--token-budget", 128]
    with subprocess.Popen([*command, *map(str, sizes)], cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+", server.stderr.readline()).group()
            crowd = asyncio.run(besiege(address, server.pid, clients, seconds))
            crowd.exit_status = server.wait(60)
        finally:
            server.kill()
        crowd.errors = server.stderr.read()
    return crowd


def check(crowd: Crowd) -> None:
    """Everything that must hold whatever the size of the crowd."""
    assert crowd.complete > 0
    assert crowd.left > 0
    assert crowd.wrong == []
    assert crowd.failures == []
    assert crowd.health["free_blocks"] == crowd.health["blocks"]
    assert crowd.health["open_requests"] == crowd.health["running"] == crowd.health["waiting"] == 0
    assert crowd.finished_after_sigterm == crowd.open_at_sigterm
    assert (crowd.exit_status, crowd.errors) == (0, "")


def test_200_clients_for_30_seconds():
    """No token lost or doubled, all blocks back, memory flat, a clean end."""
    crowd = run_crowd(200, 30.0)
    print(described(crowd))
    check(crowd)
    assert crowd.memory_growth_mb < 10


def described(crowd: Crowd) -> str:
    """The run in four lines."""
    memory = (
        f"{crowd.memory_mb[0]:.0f} to {crowd.memory_mb[-1]:.0f} MB, medians of thirds {crowd.memory_growth_mb:+.1f} MB"
    )
    return (
        f"{crowd.complete} answers complete ({crowd.tokens} tokens), {crowd.left} left in the middle, "
        f"{len(crowd.wrong)} wrong, {len(crowd.failures)} failed\n"
        f"server's memory {memory}\n"
        f"afterwards {crowd.health}\n"
        f"SIGTERM: {crowd.finished_after_sigterm} of {crowd.open_at_sigterm} open requests finished, "
        f"exit status {crowd.exit_status}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    seen = run_crowd(options.clients, options.seconds)
    print(described(seen))
    check(seen)
