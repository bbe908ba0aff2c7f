"""Times of single requests on a decoder of the post's size that computes as the post's does; a process is a unit.

Each function of a seed runs by itself in a new process (`fresh_process`), warms up, and takes the sizes it compares by
turns, so that a slow moment of the machine meets them all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from claims.experiments.conveyor import conveyed
from claims.experiments.fresh_process import in_fresh_process
from claims.experiments.repeated_normals import RepeatedNormals

if TYPE_CHECKING:
    from implementations.inference.weights import Weights

Value = TypeVar("Value")
PROMPTS = (64, 256, 1024)
ANSWER_TOKENS = 64
HALVED = "halved"  # half of the layers, after the shortest prompt
WIDTH, HEADS, HIDDEN, POSITIONS = 768, 12, 3072, 4096


def processes(name: str, count: int, **settings: Any) -> list[Any]:
    """What one of the functions below measures, one a process.

    Args:
        name: of the function.
        count: how many processes.
        settings: further keywords of it.
    """
    return [process(name, seed, **settings) for seed in range(count)]


def process(name: str, seed: int, **settings: Any) -> Any:
    """What one process measures, by the name of its function."""
    return in_fresh_process(f"claims.experiments.request_times:{name}", seed=seed, **settings)


def shape(layers: int = 12) -> Any:
    """GPT-2 small with a vocabulary of bytes and the post's number of positions."""
    from implementations.inference.shape import Shape

    return Shape(layers, WIDTH, HEADS, HIDDEN, 256, POSITIONS)


class Timed:
    """A plain decoder that serves requests one after another in one cache, which is made once."""

    def __init__(self, weights: Weights) -> None:
        from claims.experiments.plain_decoder import PlainDecoder

        self.decoder = PlainDecoder(weights, POSITIONS)

    @classmethod
    def drawn(cls, layers: int = 12, seed: int = 0) -> Timed:
        """One with random weights."""
        from implementations.inference.weights import Weights

        return cls(Weights.random(shape(layers), RepeatedNormals(seed)))

    def halved(self) -> Timed:
        """One that has the first half of the layers."""
        weights = self.decoder.weights
        layers = weights.layers[: len(weights.layers) // 2]
        return Timed(replace(weights, shape=replace(weights.shape, layers=len(layers)), layers=layers))

    def request(self, prompt_tokens: int, answer_tokens: int) -> dict[str, Any]:
        """Milliseconds of the parts of one request.

        Returns:
            `chop_ms`, `read_ms`, `ttft_ms`, `gaps_ms` (one less than tokens) and `total_s`.
        """
        text = prompt_of(prompt_tokens)
        self.decoder.held = 0
        began = perf_counter()
        events = list(conveyed(self.decoder, text, answer_tokens))
        ended = perf_counter()
        chopped, read, *tokens = (1e3 * (event.time_s - began) for event in events)
        return {
            "chop_ms": chopped,
            "read_ms": read - chopped,
            "ttft_ms": tokens[0],
            "gaps_ms": np.diff(tokens).tolist(),
            "total_s": ended - began,
        }


def prompt_of(length: int) -> str:
    """A text of so many bytes."""
    return "".join(random.Random(length).choices("abcdefghijklmnopqrstuvwxyz ,.", k=length))


def by_prompt(seed: int) -> dict[str, Any]:
    """A request of 64 answer tokens for each of the post's prompts, by length of the prompt; one more with `HALVED`."""
    whole = Timed.drawn(seed=seed)
    half = whole.halved()
    arms = {**{str(size): (whole, size) for size in PROMPTS}, HALVED: (half, min(PROMPTS))}
    for timed in (whole, half):
        timed.request(64, 4)
    return {name: arms[name][0].request(arms[name][1], ANSWER_TOKENS) for name in _turned(list(arms), seed)}


def by_answer(seed: int, answers: Sequence[int], prompt_tokens: int) -> list[float]:
    """Seconds of whole requests by length of the answer, in the order of `answers`."""
    timed = Timed.drawn(seed=seed)
    timed.request(prompt_tokens, 4)
    seconds = {size: timed.request(prompt_tokens, size)["total_s"] for size in _turned(answers, seed)}
    return [seconds[size] for size in answers]


def long_answer(seed: int, layers: int, prompt_tokens: int, answer_tokens: int) -> list[float]:
    """The gaps of one long answer in milliseconds."""
    timed = Timed.drawn(layers, seed)
    timed.request(prompt_tokens, 8)
    gaps_ms: list[float] = timed.request(prompt_tokens, answer_tokens)["gaps_ms"]
    return gaps_ms


def by_shared_pass(seed: int, sizes: Sequence[int], rounds: int) -> list[float]:
    """Milliseconds a token of one pass over so many tokens at once: the median of some rounds."""
    decoder = Timed.drawn(seed=seed).decoder
    found: dict[int, list[float]] = {size: [] for size in sizes}
    decoder([0] * max(sizes))
    for number in range(rounds):
        for size in _turned(sizes, seed + number):
            decoder.held = 0
            began = perf_counter()
            decoder([0] * size)
            found[size].append(1e3 * (perf_counter() - began) / size)
    return [median(found[size]) for size in sizes]


def first_requests(seed: int, layers: int, requests: int) -> list[float]:
    """Seconds of the first requests of a process, all alike and none left out."""
    timed = Timed.drawn(layers, seed)
    return [timed.request(64, 4)["total_s"] for _ in range(requests)]


def chop_and_step_ms(seed: int, characters: int) -> dict[str, float]:
    """Milliseconds of splitting 1,024 bytes, of splitting a long text by byte pairs, and of one decode step."""
    from claims.experiments.byte_pairs import trained, written
    from implementations.inference.tokenizer import encode

    timed = Timed.drawn(seed=seed)
    timed.request(64, 2)
    tokenizer, text = trained(seed), written(seed, characters)

    def split_ms(split: Callable[[str], Any], some: str) -> float:
        split(some[:1000])
        began = perf_counter()
        split(some)
        return 1e3 * (perf_counter() - began)

    return {
        "step_ms": median(timed.request(64, 16)["gaps_ms"]),
        "bytes_ms": split_ms(encode, prompt_of(1024)),
        "pairs_ms": split_ms(tokenizer.encode, text),
    }


def _turned(values: Sequence[Value], seed: int) -> list[Value]:
    """The same values, beginning elsewhere for another seed."""
    start = seed % len(values)
    return [*values[start:], *values[:start]]


def continued(tokens: int, layers: int) -> tuple[Any, int]:
    """A decoder that has read all but the last of `tokens` tokens, and their number."""
    decoder = Timed.drawn(layers).decoder
    decoder([0] * tokens)
    return decoder, tokens


def with_cache(decoder: Any, tokens: int) -> Any:
    """Scores after the last token, what came before being in the cache."""
    decoder.held = tokens - 1
    return decoder([0])


def without_cache(decoder: Any, tokens: int) -> Any:
    """The same scores, everything read again."""
    decoder.held = 0
    return decoder([0] * tokens)


def typing(divisor: str, notes: int) -> Any:
    """A pass of the post's size whose scores are divided by a "numpy" or a "python" root, with `notes` tokens read."""
    from claims.experiments import promoting_pass
    from implementations.inference.weights import Weights

    size = shape()
    weights = Weights.random(size, RepeatedNormals(0))
    model = promoting_pass.PromotingPass(weights, promoting_pass.divisor(divisor, size.head_width))
    model.extend([0] * notes)
    return model


def typed(model: Any) -> Any:
    """One more token, after which the model is as it was."""
    length = model.length
    hidden = model.extend([0])
    model.length = length
    return hidden
