"""Streams as servers send them: headers, events, and pieces of both."""

import json

from implementations.serving.reply import Read, read_stream


def head(status="200 OK", **fields):
    """The header of a response; without fields its body ends with the connection."""
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def framed(body, end="\n\n"):
    """One event."""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return f"data: {text}{end}".encode()


def completion(text="", finish=None, usage=None, **more):
    """A chunk of /v1/completions."""
    choice = {"index": 0, "text": text, "finish_reason": finish, **more}
    return {"id": "cmpl-1", "object": "text_completion", "choices": [choice]} | ({"usage": usage} if usage else {})


def chat(delta, finish=None):
    """A chunk of /v1/chat/completions."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def counts(completion_tokens, prompt_tokens=5):
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}


def usage_chunk(completion_tokens, choices=()):
    body = {"object": "text_completion", "usage": counts(completion_tokens)}
    return body if choices is None else {**body, "choices": list(choices)}


DONE = framed("[DONE]")


def reply_of(*timed):
    """The reply to (time_s, event or bytes) pairs, each a read of its own."""
    return read_stream(Read(time_s, body if isinstance(body, bytes) else framed(body)) for time_s, body in timed)
