"""The bodies of `/v1/completions` and `/v1/chat/completions`: what may be asked, and what is answered.

Follows: the OpenAI interface as its own client sends and reads it, and vLLM where that leaves something open: a
prompt longer than the context is refused, an answer that would not fit is cut to what does.
Leaves out: several choices, stop words, log probabilities, tools and forced formats, which are refused by name and not
passed over; sampling, so that `temperature` and its like are accepted within their ranges and change nothing.

Chat messages become one text: a line a message, and a last line that is the assistant's to continue.
"""

import json
import math
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from implementations.inference.tokenizer import VOCABULARY, encode
from implementations.serving.refusal import Refusal

SHOWN = 80  # signs of a wrong value that a message repeats
DEFAULT_MAX_TOKENS = 16  # of a completion; a chat's answer may fill the context
# Fields that would change the answer, with the values that change nothing.
UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "n": (None, 1),
    "best_of": (None, 1),
    "echo": (None, False),
    "suffix": (None, ""),
    "stop": (None, "", []),
    "logprobs": (None, False),
    "top_logprobs": (None, 0),
    "logit_bias": (None, {}),
    "tools": (None, []),
    "functions": (None, []),
    "response_format": (None, {"type": "text"}),
}
# Fields of a sampler, with the ranges that the interface states.
SAMPLING = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
}


@dataclass(frozen=True)
class Asked:
    """A request that can be served.

    Attributes:
        chat: which of the two interfaces it came by.
        prompt: token ids.
        max_new: tokens of the answer.
        stream: whether tokens are sent as they come.
        usage_at_end: whether the stream ends with a chunk that counts tokens.
        usage_in_chunks: whether every chunk counts the tokens so far.
    """

    chat: bool
    model: str
    prompt: list[int]
    max_new: int
    stream: bool = False
    usage_at_end: bool = False
    usage_in_chunks: bool = False


def read_request(body: bytes, *, chat: bool, model: str, context_tokens: int) -> Asked:
    """Read a request's body.

    Args:
        body: JSON.
        chat: whether it holds messages instead of a prompt.
        model: the only model there is.
        context_tokens: most tokens of prompt and answer together.

    Raises:
        Refusal: what is asked cannot be served; the message names the field and the limit.
    """
    fields = _fields(body)
    asked_model = fields.get("model", model)
    if asked_model != model:
        raise Refusal(
            f"the model {_shown(asked_model)} does not exist; there is {model!r}",
            status=404,
            param="model",
            code="model_not_found",
        )
    for name, harmless in UNSUPPORTED.items():
        value = fields.get(name)
        if not any(type(value) is type(one) and value == one for one in harmless):  # 0 is not False here
            raise Refusal(f"{name} = {_shown(value)} is not supported", param=name, code="unsupported_parameter")
    _check_sampling(fields)
    prompt = _chat_prompt(fields.get("messages")) if chat else _prompt(fields.get("prompt"), context_tokens)
    stream = _flag(fields, "stream")
    options = _stream_options(fields, stream)
    return Asked(
        chat=chat,
        model=model,
        prompt=prompt,
        max_new=_max_new(fields, chat, len(prompt), context_tokens),
        stream=stream,
        usage_at_end=_flag(options, "include_usage"),
        usage_in_chunks=_flag(options, "continuous_usage_stats"),
    )


def _fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as fault:
        raise Refusal(f"the body is not JSON: {fault}", code="json_invalid") from None
    if not isinstance(fields, dict):
        raise Refusal(f"the body must be a JSON object, got {type(fields).__name__}", code="json_invalid")
    return fields


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _check_sampling(fields: dict[str, Any]) -> None:
    for name, (low, high) in SAMPLING.items():
        value = fields.get(name)
        if value is not None and not (type(value) in (int, float) and math.isfinite(value) and low <= value <= high):
            raise Refusal(f"{name} must be a number from {low:g} to {high:g}, got {_shown(value)}", param=name)
    if fields.get("seed") is not None and type(fields["seed"]) is not int:
        raise Refusal(f"seed must be a whole number, got {_shown(fields['seed'])}", param="seed")


def _flag(fields: dict[str, Any], name: str) -> bool:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise Refusal(f"{name} must be true or false, got {_shown(value)}", param=name)
    return bool(value)


def _stream_options(fields: dict[str, Any], stream: bool) -> dict[str, Any]:
    options = fields.get("stream_options")
    if options is None:
        return {}
    if not stream:
        raise Refusal("stream_options needs stream = true", param="stream_options")
    if not isinstance(options, dict):
        raise Refusal(f"stream_options must be an object, got {_shown(options)}", param="stream_options")
    return options


def _prompt(prompt: Any, context_tokens: int) -> list[int]:
    """A text or token ids; either may be wrapped in a list of one."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    if isinstance(prompt, str):
        return _encode(prompt, "prompt")
    if not isinstance(prompt, list):
        raise Refusal(f"prompt must be a text or a list of token ids, got {type(prompt).__name__}", param="prompt")
    if any(isinstance(token, str | list) for token in prompt):
        raise Refusal(f"one prompt a request, got {len(prompt)}", param="prompt", code="unsupported_parameter")
    if len(prompt) >= context_tokens:
        _refuse_long(len(prompt), context_tokens)
    for token in prompt:
        if type(token) is not int or not 0 <= token < VOCABULARY:
            raise Refusal(f"token ids go from 0 to {VOCABULARY - 1}, got {_shown(token)}", param="prompt")
    return prompt


def _chat_prompt(messages: Any) -> list[int]:
    if not isinstance(messages, list) or not messages:
        raise Refusal("messages must be a list with at least one message", param="messages")
    lines = [_chat_line(place, message) for place, message in enumerate(messages)]
    return _encode("".join([*lines, "assistant: "]), "messages")


def _chat_line(place: int, message: Any) -> str:
    where = f"messages[{place}]"
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise Refusal(f"{where} must be an object with a role", param=where)
    content = "" if message.get("content") is None else message["content"]
    if isinstance(content, list):
        parts = [part for part in content if _is_text_part(part)]
        if len(parts) != len(content):
            raise Refusal(f"{where}: only parts of type text can be read", param=f"{where}.content")
        content = "".join(part["text"] for part in parts)
    if not isinstance(content, str):
        raise Refusal(f"{where}.content must be a text, got {type(content).__name__}", param=f"{where}.content")
    return f"{message['role']}: {content}\n"


def _is_text_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type", "text") == "text" and isinstance(part.get("text"), str)


def _encode(text: str, param: str) -> list[int]:
    try:
        return encode(text)
    except UnicodeEncodeError as fault:
        raise Refusal(f"{param} is not Unicode: {fault.reason} at {fault.start}", param=param) from None


def _max_new(fields: dict[str, Any], chat: bool, prompt_tokens: int, context_tokens: int) -> int:
    """Tokens asked for, as many as fit behind the prompt."""
    if not prompt_tokens:
        raise Refusal("the prompt is empty", param="prompt")
    if prompt_tokens >= context_tokens:
        _refuse_long(prompt_tokens, context_tokens)
    name = "max_completion_tokens" if fields.get("max_completion_tokens") is not None else "max_tokens"
    asked = fields.get(name)
    if asked is None:
        asked = context_tokens if chat else DEFAULT_MAX_TOKENS
    if type(asked) is not int or asked < 1:
        raise Refusal(f"{name} must be a whole number of at least 1, got {_shown(asked)}", param=name)
    return min(asked, context_tokens - prompt_tokens)


def _refuse_long(prompt_tokens: int, context_tokens: int) -> None:
    raise Refusal(
        f"the prompt has {prompt_tokens} tokens and the context length is {context_tokens}, "
        "of which an answer needs at least one",
        param="prompt",
        code="context_length_exceeded",
    )


@dataclass(frozen=True)
class Answer:
    """Builds the bodies of one answer, all with one id and one time.

    Args:
        asked: what was asked.
    """

    asked: Asked
    id: str = field(default_factory=lambda: uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))

    def chunk(self, text: str, completion_tokens: int, finish_reason: str | None = None) -> dict[str, Any]:
        """One piece of a stream.

        Args:
            text: may be empty, where a token completed no character.
            completion_tokens: emitted so far.
            finish_reason: on the last piece.
        """
        content = {"delta": {"content": text}} if self.asked.chat else {"text": text}
        return self._piece(content, finish_reason, completion_tokens)

    def opening(self) -> dict[str, Any]:
        """The piece that only says whose turn it is, before the first token of a chat."""
        return self._piece({"delta": {"role": "assistant", "content": ""}}, None, 0)

    def usage_chunk(self, completion_tokens: int) -> dict[str, Any]:
        """The piece after the last token that only counts."""
        return {**self._frame(stream=True), "choices": [], "usage": self._usage(completion_tokens)}

    def whole(self, text: str, completion_tokens: int, finish_reason: str) -> dict[str, Any]:
        """The answer to a request that did not ask for a stream."""
        content = {"message": {"role": "assistant", "content": text}} if self.asked.chat else {"text": text}
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": finish_reason}
        return {**self._frame(stream=False), "choices": [choice], "usage": self._usage(completion_tokens)}

    def _piece(self, content: dict[str, Any], finish_reason: str | None, completion_tokens: int) -> dict[str, Any]:
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": finish_reason}
        piece = {**self._frame(stream=True), "choices": [choice]}
        if self.asked.usage_in_chunks:
            piece["usage"] = self._usage(completion_tokens)
        elif self.asked.usage_at_end:
            piece["usage"] = None
        return piece

    def _frame(self, *, stream: bool) -> dict[str, Any]:
        prefix, kind = ("cmpl", "text_completion")
        if self.asked.chat:
            prefix, kind = ("chatcmpl", "chat.completion.chunk" if stream else "chat.completion")
        return {"id": f"{prefix}-{self.id}", "object": kind, "created": self.created, "model": self.asked.model}

    def _usage(self, completion_tokens: int) -> dict[str, int]:
        prompt_tokens = len(self.asked.prompt)
        return {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }
