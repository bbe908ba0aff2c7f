"""Two commands: `runtwice measure`, which times any OpenAI-style server, and the server's own.

Follows: `load.py`, `measurement.py` and `server.py`, which do the work.
Leaves out: what they leave out; a fault is one line on standard error and exit status 2.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from implementations.serving import load, summary
from implementations.serving.client import Exchange, Target, exchange
from implementations.serving.measurement import Measurement, events
from implementations.serving.prompts import prompts
from implementations.serving.reply import error_message


class Refused(click.ClickException):
    """What a command cannot do, as one line."""

    exit_code = 2


@dataclass(frozen=True)
class Question:
    """What every request of a run asks for."""

    model: str
    chat: bool
    max_tokens: int
    usage_in_chunks: bool

    def request(self, target: Target, prompt: str) -> bytes:
        """The bytes of a request with this prompt."""
        options = {"include_usage": True} | ({"continuous_usage_stats": True} if self.usage_in_chunks else {})
        content = {"messages": [{"role": "user", "content": prompt}]} if self.chat else {"prompt": prompt}
        body: dict[str, Any] = {
            "model": self.model,
            **content,
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": options,
        }
        return target.request("POST", "chat/completions" if self.chat else "completions", body)


def _number(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN and infinity, which lie in any range that click knows."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no finite number.", param=option)
    return value


@click.command(
    "measure",
    epilog="\b\nExample:\n  runtwice measure --base-url http://localhost:8000/v1 --requests 100 --rate 10",
)
@click.option("--base-url", required=True, help="Where the server is, as http://localhost:8000/v1.")
@click.option("--requests", "count", type=click.IntRange(1), default=32, show_default=True, help="How many to time.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    callback=_number,
    help="Requests a second; without it each follows another.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["poisson", "constant"]),
    default="poisson",
    show_default=True,
    help="How they are spaced at that rate.",
)
@click.option("--slots", type=click.IntRange(1), help="Most requests open at once (1 without --rate).")
@click.option("--warm-up", type=click.IntRange(0), default=1, show_default=True, help="Requests before, not counted.")
@click.option("--model", help="Which model; the server's first by default.")
@click.option("--chat", is_flag=True, help="Use /chat/completions.")
@click.option("--max-tokens", type=click.IntRange(1), default=64, show_default=True, help="Tokens of each answer.")
@click.option("--prompt", help="Send this text every time.")
@click.option(
    "--prompt-bytes",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    help="Otherwise: length of the prompts, no two alike.",
)
@click.option("--usage-in-chunks", is_flag=True, help="Ask for a running token count in each chunk (vLLM, runtwice).")
@click.option("--api-key", envvar="OPENAI_API_KEY", help="Sent as a bearer token.", show_envvar=True)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    callback=_number,
    default=600.0,
    show_default=True,
    help="Seconds a request may take.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of arrivals and prompts.")
@click.option("--events", "events_path", type=click.Path(path_type=Path), help="Write every request's raw events here.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="What to print."
)
def measure(
    base_url: str,
    count: int,
    rate: float | None,
    arrivals: str,
    slots: int | None,
    warm_up: int,
    model: str | None,
    chat: bool,
    max_tokens: int,
    prompt: str | None,
    prompt_bytes: int,
    usage_in_chunks: bool,
    api_key: str | None,
    timeout_s: float,
    seed: int,
    events_path: Path | None,
    form: str,
) -> None:
    """Time an OpenAI-style server from its client's side.

    With --rate, requests are due on a schedule whether or not earlier ones have ended, and a request that waits for a
    slot is late from the moment it was due; the time from its start is shown beside, as the naive figure.
    """
    try:
        target = Target.parse(base_url, api_key)
        if events_path:
            events_path.write_text("")  # a path that cannot be written to is better known before the run
    except ValueError as fault:
        raise Refused(str(fault)) from fault
    except OSError as fault:
        raise Refused(f"{fault.filename}: {fault.strerror}") from fault
    question = Question(model or asyncio.run(_first_model(target, timeout_s)), chat, max_tokens, usage_in_chunks)
    texts = [prompt] * (warm_up + count) if prompt is not None else prompts(warm_up + count, prompt_bytes, seed)
    requests = [question.request(target, text) for text in texts]
    due_s = _due_s(rate, arrivals, count, seed)
    warm, timed = asyncio.run(
        _warm_then_timed(target, requests, warm_up, due_s, slots or (None if rate else 1), timeout_s)
    )
    if events_path:
        events_path.write_text("".join(json.dumps(events(one)) + "\n" for one in timed), encoding="utf-8")
    found = Measurement.of(timed, warm)
    if form == "json":
        click.echo(json.dumps(found.to_json(), allow_nan=False))
    else:
        summary.print_measurement(summary.console(sys.stdout), found)
    if not found.served:
        raise Refused(f"none of {count} requests was answered: {found.failures[0]}")


def _due_s(rate: float | None, arrivals: str, count: int, seed: int) -> load.Floats | None:
    if rate is None:
        return None
    if arrivals == "constant":
        return load.constant(rate, count)
    return load.poisson(rate, count, np.random.default_rng(seed))


async def _first_model(target: Target, timeout_s: float) -> str:
    answer = await exchange(target, target.request("GET", "models"), timeout_s=timeout_s)
    if answer.failure:
        raise Refused(f"{target.host}:{target.port}: {answer.failure}")
    if answer.status != 200:
        raise Refused(
            f"{target.path}/models: HTTP {answer.status}: {error_message(answer.body)}; name one with --model"
        )
    try:
        return str(json.loads(answer.body)["data"][0]["id"])
    except (ValueError, LookupError, TypeError) as fault:
        raise Refused(f"{target.path}/models names no model; name one with --model") from fault


async def _warm_then_timed(
    target: Target,
    requests: Sequence[bytes],
    warm_up: int,
    due_s: load.Floats | None,
    slots: int | None,
    timeout_s: float,
) -> tuple[list[Exchange], list[Exchange]]:
    with summary.progress(sys.stderr, "measuring", len(requests)) as advance:
        options: Any = {"timeout_s": timeout_s, "ended": lambda _: advance()}
        warm = await load.run(target, requests[:warm_up], slots=1, **options)
        return warm, await load.run(target, requests[warm_up:], due_s=due_s, slots=slots, **options)


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option("--model-name", default="runtwice", show_default=True, help="What clients call the model.")
@click.option("--layers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--width", type=click.IntRange(1), default=128, show_default=True)
@click.option("--context", type=click.IntRange(2), default=2048, show_default=True, help="Tokens of prompt and answer.")
@click.option("--kv-blocks", type=click.IntRange(1), default=1000, show_default=True, help="Blocks of 16 tokens.")
@click.option("--max-num-seqs", type=click.IntRange(1), default=48, show_default=True, help="Requests in one step.")
@click.option("--token-budget", type=click.IntRange(1), default=256, show_default=True, help="Tokens in one step.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the model's random weights.")
@click.option(
    "--grace",
    "grace_s",
    type=click.FloatRange(0),
    callback=_number,
    default=30.0,
    show_default=True,
    help="Seconds to finish.",
)
def serve(
    host: str,
    port: int,
    model_name: str,
    layers: int,
    width: int,
    context: int,
    kv_blocks: int,
    max_num_seqs: int,
    token_budget: int,
    seed: int,
    grace_s: float,
) -> None:
    """Serve a byte model with random weights until SIGTERM, then finish what is open."""
    try:
        from implementations.serving import server
        from implementations.serving.desk import Desk
    except ImportError as fault:
        raise Refused(f"the server needs Starlette and uvicorn ({fault}): pip install 'runtwice[server]'") from fault
    from implementations.inference.tokenizer import VOCABULARY
    from implementations.itl.decoder import Decoder, Shape
    from implementations.serving.engine import serving_config

    shape = Shape(layers, width, 4 * width, VOCABULARY, VOCABULARY, positions=context)
    config = serving_config(
        max_num_seqs=max_num_seqs, token_budget=token_budget, kv_blocks=kv_blocks, max_model_len=context
    )
    try:
        desk = Desk(config, Decoder(seed, kv_blocks, shape))
    except MemoryError as fault:
        raise Refused(f"{layers} layers of width {width} with {kv_blocks} blocks do not fit: {fault}") from fault
    try:
        listening = server.listen(host, port)
    except OSError as fault:
        raise Refused(f"{host}:{port}: {fault.strerror or fault}") from fault
    with listening:
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"serving {model_name} on http://{shown}:{listening.getsockname()[1]}/v1", err=True)
        server.serve(server.application(desk, model_name), listening, grace_s)
