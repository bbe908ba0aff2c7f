"""One request from its text to the text of its answer, with the moment at which each thing was there.

The belt of the post: split into tokens, read the prompt in one pass, then write token by token. The post's own goes on
after the last token and computes scores that nobody asks for; `wasteful` does so too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

Read = Callable[[Sequence[int]], Any]  # further tokens of the sequence -> scores of the next one, (1, vocabulary)


class Event(NamedTuple):
    """What happened, the text it brought, and when."""

    name: str
    text: str
    time_s: float


def conveyed(read: Read, prompt: str, answer_tokens: int, *, wasteful: bool = False) -> Iterator[Event]:
    """The events of one request.

    Args:
        read: takes in further tokens of one sequence.
        prompt: a token a byte.
        answer_tokens: how many to write.
        wasteful: compute one more pass than there are tokens to write.

    Yields:
        `tokenized`, `prefilled`, and a `token` for each of the answer.
    """
    from implementations.inference.tokenizer import Detokenizer, encode

    ids = encode(prompt)
    yield Event("tokenized", "", perf_counter())
    scores = read(ids)
    yield Event("prefilled", "", perf_counter())
    text = Detokenizer()
    for number in range(1, answer_tokens + 1):
        token = int(scores.argmax())
        yield Event("token", text.push(token), perf_counter())
        if wasteful or number < answer_tokens:
            scores = read([token])


def reader(shape: Any, seed: int = 0, room_tokens: int | None = None) -> Read:
    """Reads into a new cache of a decoder with random weights."""
    import numpy as np

    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.weights import Weights

    decoder = Decoder(Weights.random(shape, np.random.default_rng(seed)))
    cache = Cache(shape, room_tokens)
    return lambda tokens: decoder.extend(tokens, cache)


def small_shape() -> Any:
    """Two layers of width 64: enough where only the order of things matters."""
    from implementations.inference.shape import Shape

    return Shape(layers=2, width=64, heads=4, hidden=256, vocabulary=256, positions=1024)


class Counted:
    """Counts the passes of a reader, and how many tokens each took in."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.sizes: list[int] = []

    def __call__(self, tokens: Sequence[int]) -> Any:
        """Read, and remember how many."""
        self.sizes.append(len(tokens))
        return self.read(tokens)
