"""Streams whose messages hold several tokens, none or only a finish reason, and the post's way of timing them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def stream(
    bundles: Sequence[int], gap_s: float, *, usage: bool = True, trailing_empty: bool = False, first_s: float = 1.0
) -> Any:
    """A reply whose messages hold so many tokens each, a message every `gap_s`.

    Args:
        bundles: tokens of each message.
        gap_s: between messages.
        usage: whether each message tells the tokens so far, and a last one the total.
        trailing_empty: whether the finish reason comes in a message of its own, without text.
        first_s: when the first one comes.
    """
    from implementations.serving.protocol import DONE, event
    from implementations.serving.reply import Read, read_stream

    reads, total = [], 0
    for place, tokens in enumerate(bundles):
        total += tokens
        finish = "stop" if place == len(bundles) - 1 and not trailing_empty else None
        reads.append((first_s + place * gap_s, _message("x" * tokens, finish, total if usage else None)))
    end_s = first_s + len(bundles) * gap_s
    if trailing_empty:
        reads.append((end_s, _message("", "stop", total if usage else None)))
    if usage:
        reads.append((end_s, {"choices": [], "usage": _usage(total)}))
    framed = [Read(time_s, event(json.dumps(body).encode())) for time_s, body in reads]
    return read_stream([*framed, Read(end_s, event(DONE))])


def _message(text: str, finish: str | None, total: int | None) -> dict[str, Any]:
    body: dict[str, Any] = {"choices": [{"index": 0, "text": text, "finish_reason": finish}]}
    return body if total is None else {**body, "usage": _usage(total)}


def _usage(total: int) -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": total}


def naive_figures(reply: Any, sent_s: float = 0.0) -> dict[str, float]:
    """What the post's client makes of a stream: every message with choices is a token, and nothing is guarded.

    Returns:
        `ttft_s`, `p50_s`, `p99_s`, `tokens_per_s`, `gaps`.

    Raises:
        IndexError: no message.
        StatisticsError: one message, so that there is no gap.
        ZeroDivisionError: one message, where the rate is computed first.
    """
    from statistics import median

    stamps = [chunk.time_s for chunk in reply.chunks]
    first_s = stamps[0]
    waits = sorted(stamps[place] - stamps[place - 1] for place in range(1, len(stamps)))
    return {
        "ttft_s": first_s - sent_s,
        "gaps": len(waits),
        "p50_s": median(waits),
        "p99_s": waits[int(0.99 * (len(waits) - 1))],
        "tokens_per_s": naive_rate(reply),
    }


def naive_rate(reply: Any) -> float:
    """Tokens a second after the first, by the post's formula."""
    stamps = [chunk.time_s for chunk in reply.chunks]
    tokens = reply.usage.completion_tokens if reply.usage else len(stamps)
    return float((tokens - 1) / (stamps[-1] - stamps[0]))
