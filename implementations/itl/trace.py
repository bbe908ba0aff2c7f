"""Arrival traces: who asks what and when, fixed by a seed.

Follows: the workload of the decode-step-stall post: arrivals are a Poisson process thinned to a swell of ±60%
over 15 s, prompts are log-normal in characters, one in a hundred is a pasted document, output lengths are
exponential. The order of the draws from ``random.Random(seed)`` is part of the definition: it makes the
request and gap counts of the published seeds come out exactly.
Leaves out: any meaning in the texts, and sampling ends of sequence: a request emits exactly ``max_new``
tokens.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

SWELL_PERIOD_S = 15.0
SWELL_DEPTH = 0.6
DOCUMENT_SHARE = 0.01
DOCUMENT_CHARS = (150_000, 400_000)
LOG_CHARS_MEAN, LOG_CHARS_SD = 6.9, 0.6
MEAN_EXTRA_TOKENS, MIN_NEW_TOKENS, MAX_NEW_TOKENS = 280, 16, 1000
NUMBER_SHARE = 0.08
LARGEST_NUMBER = 99_999

# A text ends by its length in characters, so the draws that follow it depend on how long each word of the
# list is: 42 words whose lengths, in this order, are those of the published list.
WORD_LIST = (
    "you we all he my do not so when some if no up into them us but can go me am "
    "island river stone cloud harvest garden lantern mountains forest waterfalls village "
    "field ocean birds winter bread horse night moon silver candle"
)
WORDS = WORD_LIST.split()
UNITS = ("us", "#", "k", ".5")

# A trained vocabulary holds every word of the list; a number splits into its digits' most frequent runs.
TOKENS_PER_WORD = 1.0
TOKENS_PER_NUMBER = 3.25


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request as it reaches the server.

    Args:
        request: its number, counted from 0 in order of arrival.
        arrival_s: seconds since the trace began.
        text: the prompt, or None where the trace was made without texts.
        chars: length of the prompt in characters.
        approximate_tokens: the prompt's length in tokens, from its words alone (for runs without a
            tokenizer).
        max_new: how many tokens the request asks for.
        document: whether it is a pasted document.
    """

    request: int
    arrival_s: float
    text: str | None
    chars: int
    approximate_tokens: int
    max_new: int
    document: bool = False


@lru_cache(maxsize=64)
def arrivals(seed: int, duration_s: float, rate_per_s: float, texts: bool = True) -> tuple[Arrival, ...]:
    """The trace of a seed.

    Args:
        seed: of ``random.Random``; the trace depends on nothing else but the other arguments.
        duration_s: arrivals are drawn until one falls at or past it, so the last may lie slightly beyond.
        rate_per_s: mean rate in requests a second.
        texts: whether to keep the prompts; without them the trace is the same in every other respect.

    Returns:
        Arrivals in order of time.

    Raises:
        ValueError: if the rate is not positive or the duration is negative.
    """
    if not rate_per_s > 0:
        raise ValueError(f"rate_per_s must be positive, got {rate_per_s}")
    if not duration_s >= 0:
        raise ValueError(f"duration_s must not be negative, got {duration_s}")
    rng = random.Random(seed)
    times = _swelling_poisson(rng, duration_s, rate_per_s)
    return tuple(_request(rng, number, time_s, texts) for number, time_s in enumerate(times))


def swell(time_s: float) -> float:
    """Traffic at a time relative to its mean: between 1 - SWELL_DEPTH and 1 + SWELL_DEPTH."""
    return 1 + SWELL_DEPTH * math.sin(2 * math.pi * time_s / SWELL_PERIOD_S)


def write_text(rng: random.Random, chars: int) -> str:
    """Words and numbers joined by blanks, at least ``chars`` characters long with the last blank.

    Args:
        rng: the stream to draw from.
        chars: the text stops at the word that reaches this length.
    """
    words: list[str] = []
    _draw_words(rng, chars, words)
    return " ".join(words)


def _swelling_poisson(rng: random.Random, duration_s: float, rate_per_s: float) -> Iterator[float]:
    """Arrival times by thinning; between two of them the caller draws from the same stream."""
    peak = 1 + SWELL_DEPTH
    time_s = 0.0
    while time_s < duration_s:
        time_s += rng.expovariate(rate_per_s * peak)
        if rng.random() <= swell(time_s) / peak:
            yield time_s


def _request(rng: random.Random, number: int, time_s: float, keep_text: bool) -> Arrival:
    document = rng.random() < DOCUMENT_SHARE
    chars = rng.randint(*DOCUMENT_CHARS) if document else int(rng.lognormvariate(LOG_CHARS_MEAN, LOG_CHARS_SD))
    words: list[str] = []
    n_words, n_numbers, n_chars = _draw_words(rng, chars, words if keep_text else None)
    extra = int(rng.expovariate(1 / MEAN_EXTRA_TOKENS))
    return Arrival(
        request=number,
        arrival_s=time_s,
        text=" ".join(words) if keep_text else None,
        chars=max(0, n_chars - 1),  # no blank after the last word
        approximate_tokens=round(n_words * TOKENS_PER_WORD + n_numbers * TOKENS_PER_NUMBER),
        max_new=min(MAX_NEW_TOKENS, MIN_NEW_TOKENS + extra),
        document=document,
    )


def _draw_words(rng: random.Random, chars: int, into: list[str] | None) -> tuple[int, int, int]:
    """Draw words until ``chars`` are reached; returns how many words, how many numbers, and their length."""
    random_unit, bits = rng.random, rng.getrandbits
    n_choices = len(WORDS)
    choice_bits = n_choices.bit_length()
    n_words = n_numbers = length = 0
    while length < chars:
        # The same draws as rng.choice(WORDS), inlined: a document takes 50,000 of them.
        index = bits(choice_bits)
        while index >= n_choices:
            index = bits(choice_bits)
        if random_unit() < NUMBER_SHARE:
            word = f"{rng.randint(0, LARGEST_NUMBER)}{rng.choice(UNITS)}"
            n_numbers += 1
        else:
            word = WORDS[index]
            n_words += 1
        length += len(word) + 1
        if into is not None:
            into.append(word)
    return n_words, n_numbers, length
