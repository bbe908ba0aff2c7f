"""What a stream of completions said: its chunks with their times, its usage, and whether it ended well.

Follows: the OpenAI interface, and what servers make of it: a usage chunk whose `choices` are empty, null or missing; a
delta that carries only the role; a chunk that carries only the finish reason; an error as an event after a status of
200; a stream that stops without `[DONE]`.
Leaves out: all choices but the first.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from implementations.serving.protocol import DONE, EventParser

# Where the text of a chunk may be: a completion's, a chat's, and a chat's that thinks aloud.
TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


class Read(NamedTuple):
    """What one read of the socket gave of the body, and when it returned."""

    time_s: float
    data: bytes


class Chunk(NamedTuple):
    """One event that held a choice.

    Attributes:
        time_s: of the read that completed the event.
        text: may be empty.
        tokens: how many it carries, where the event lists their ids; else None.
        total_tokens: completion tokens up to here, where the event counts them; else None.
        role_only: whether it only says whose turn it is.
        finish_reason: of the last one, as a rule.
    """

    time_s: float
    text: str
    tokens: int | None = None
    total_tokens: int | None = None
    role_only: bool = False
    finish_reason: str | None = None


class Usage(NamedTuple):
    """Tokens as the server counted them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass
class StreamedReply:
    """What was understood of a stream.

    Attributes:
        chunks: in order of arrival.
        usage: the last one seen.
        done: whether `[DONE]` came.
        failure: why the answer must not be counted as one; None where it may.
        comments: lines that only kept the connection open.
    """

    chunks: list[Chunk] = field(default_factory=list)
    usage: Usage | None = None
    done: bool = False
    failure: str | None = None
    comments: int = 0

    @property
    def finish_reason(self) -> str | None:
        """Why the server stopped; None where it did not say."""
        return next((chunk.finish_reason for chunk in reversed(self.chunks) if chunk.finish_reason), None)

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(chunk.text for chunk in self.chunks)

    def take(self, time_s: float, data: bytes) -> None:
        """Understand one event."""
        if self.done or self.failure:
            return
        if data.strip() == DONE:
            self.done = True
            return
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as fault:
            self.failure = f"malformed event: {fault}"
            return
        if not isinstance(body, dict):
            self.failure = f"malformed event: {type(body).__name__} where an object is due"
        elif body.get("error") or body.get("object") == "error":
            self.failure = f"error event: {_message(body)}"
        else:
            self._chunk(time_s, body)

    def _chunk(self, time_s: float, body: dict[str, Any]) -> None:
        usage = _usage(body.get("usage"))
        self.usage = usage or self.usage
        choices = body.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self.chunks.append(_as_chunk(time_s, choices[0], usage))


def read_stream(reads: Iterable[Read]) -> StreamedReply:
    """Understand a stream from its bytes.

    Args:
        reads: the body, without HTTP's framing, in the pieces in which it came.
    """
    parser, reply = EventParser(), StreamedReply()
    time_s = 0.0
    for time_s, data in reads:
        for found in parser.feed(data):
            reply.take(time_s, found)
    for found in parser.finish():
        reply.take(time_s, found)
    reply.comments = parser.comments
    if not (reply.failure or reply.done or reply.finish_reason):
        reply.failure = "truncated: neither a finish reason nor [DONE]"
    return reply


def error_message(body: bytes) -> str:
    """What an error body says, as far as it can be read."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return body[:200].decode("utf-8", errors="replace").strip()
    return _message(found) if isinstance(found, dict) else str(found)[:200]


def _message(body: dict[str, Any]) -> str:
    error = body.get("error") or body
    message = error.get("message") if isinstance(error, dict) else error
    return str(message if message is not None else error)[:200]


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    prompt_tokens, completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if _is_count(prompt_tokens) and _is_count(completion_tokens):
        return Usage(prompt_tokens, completion_tokens)
    return None


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _as_chunk(time_s: float, choice: dict[str, Any], usage: Usage | None) -> Chunk:
    delta = choice.get("delta")
    delta = delta if isinstance(delta, dict) else {}
    text = _text(choice, delta)
    ids, finish_reason = choice.get("token_ids"), choice.get("finish_reason")
    if finish_reason is not None and not isinstance(finish_reason, str):
        finish_reason = str(finish_reason)
    return Chunk(
        time_s,
        text,
        tokens=len(ids) if isinstance(ids, list) else None,
        total_tokens=usage.completion_tokens if usage else None,
        role_only="role" in delta and not text and not finish_reason,
        finish_reason=finish_reason,
    )


def _text(choice: dict[str, Any], delta: dict[str, Any]) -> str:
    texts = [choice.get("text"), *(delta.get(name) for name in TEXTS), *_arguments(delta.get("tool_calls"))]
    return "".join(text for text in texts if isinstance(text, str))


def _arguments(calls: Any) -> Sequence[Any]:
    """What a chat's calls of tools add: names and pieces of arguments are tokens too."""
    found: list[Any] = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            found += [function.get("name"), function.get("arguments")]
    return found
