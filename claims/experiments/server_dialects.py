"""The same answer as several makes of server stream it: framing, order and extras differ, the counts do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def _usage(prompt_tokens: int, tokens: int) -> dict[str, int]:
    return {"prompt_tokens": prompt_tokens, "completion_tokens": tokens, "total_tokens": prompt_tokens + tokens}


def _choice(text: str, finish: str | None = None) -> list[dict[str, Any]]:
    return [{"index": 0, "text": text, "logprobs": None, "finish_reason": finish}]


def _framed(bodies: list[Any], end: str = "\n\n", start: str = "data: ") -> bytes:
    texts = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
    return "".join(f"{start}{text}{end}" for text in texts).encode()


def plain(text: str, prompt_tokens: int) -> bytes:
    """Finish reason on the last token, a usage chunk without choices, [DONE]: vLLM's manner."""
    last = len(text) - 1
    chunks: list[Any] = [{"choices": _choice(sign, "length" if n == last else None)} for n, sign in enumerate(text)]
    return _framed([*chunks, {"choices": [], "usage": _usage(prompt_tokens, len(text))}, "[DONE]"])


def null_usage(text: str, prompt_tokens: int) -> bytes:
    """Usage null in every chunk but the last, and a chunk that only finishes: OpenAI's manner."""
    chunks: list[Any] = [{"choices": _choice(sign), "usage": None} for sign in text]
    finish = {"choices": _choice("", "stop"), "usage": None}
    return _framed([*chunks, finish, {"choices": None, "usage": _usage(prompt_tokens, len(text))}, "[DONE]"])


def running_usage(text: str, prompt_tokens: int) -> bytes:
    """A running count in every chunk: SGLang's manner."""
    last = len(text) - 1
    chunks: list[Any] = [
        {"choices": _choice(sign, "length" if n == last else None), "usage": _usage(prompt_tokens, n + 1)}
        for n, sign in enumerate(text)
    ]
    return _framed([*chunks, "[DONE]"])


def carriage_returns(text: str, prompt_tokens: int) -> bytes:
    """CRLF, no space after the colon, and a comment that keeps the connection open between the chunks."""
    body = plain(text, prompt_tokens).decode().replace("data: ", ": alive\n\ndata:")
    return body.replace("\n", "\r\n").encode()


def without_done(text: str, prompt_tokens: int) -> bytes:
    """Usage beside the last token, and the connection closed instead of [DONE]."""
    last = len(text) - 1
    chunks: list[Any] = [{"choices": _choice(sign, "stop" if n == last else None)} for n, sign in enumerate(text)]
    return _framed([*chunks[:-1], {**chunks[-1], "usage": _usage(prompt_tokens, len(text))}])


def chat(text: str, prompt_tokens: int) -> bytes:
    """A chat: the role alone, then content, then an empty delta that finishes."""
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": None}, None)]
    deltas += [({"content": sign}, None) for sign in text]
    deltas += [({}, "stop")]
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": one, "finish_reason": finish}]} for one, finish in deltas]
    return _framed([*chunks, {"choices": [], "usage": _usage(prompt_tokens, len(text))}, "[DONE]"])


DIALECTS: dict[str, Callable[[str, int], bytes]] = {
    function.__name__: function for function in (plain, null_usage, running_usage, carriage_returns, without_done, chat)
}
