"""What the times of one answer are called: TTFT, ITL by three definitions, TPOT, end to end.

Follows: the definitions in use. A chunk may carry several tokens, and tools disagree on what its gap then means:

* *per chunk* (vLLM's benchmark): the gap is one sample;
* *divided* (genai-perf): the gap over the tokens of the chunk that ends it is one sample;
* *replicated* (SGLang's benchmark): that quotient is one sample for each of its tokens, so that n tokens have n - 1
  samples that add up to the time from the first to the last; tokens that come with the first one wait 0.

TPOT is the mean of the last. Where every chunk carries one token, all are the same.
Percentiles are NumPy's linear rule: position q/100 · (n - 1) between the sorted samples.
Leaves out: counting tokens by splitting the text again, which gives another tokenizer's opinion.

Usage chunks, role chunks and `[DONE]` have no part in any time: end to end is the last token's, so that TTFT and the
gaps add up to it exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from implementations.serving.reply import Chunk, StreamedReply


class Counting(StrEnum):
    """How the tokens of each chunk are known."""

    STATED = "stated in each chunk"
    ONE_EACH = "one a chunk, as many as usage says"
    SPREAD = "usage spread evenly over the chunks"
    ASSUMED = "one a chunk, unconfirmed: no usage"


class Emission(NamedTuple):
    """Tokens that arrived together."""

    time_s: float
    tokens: int


@dataclass(frozen=True)
class Arrivals:
    """The tokens of one answer.

    Args:
        emissions: in order, each of at least one token.
        counting: how their tokens are known.
    """

    emissions: tuple[Emission, ...]
    counting: Counting

    @property
    def tokens(self) -> int:
        """All of them."""
        return sum(one.tokens for one in self.emissions)

    @property
    def first_s(self) -> float:
        """When the first token came; NaN where none did."""
        return self.emissions[0].time_s if self.emissions else math.nan

    @property
    def last_s(self) -> float:
        """When the last token came; NaN where none did."""
        return self.emissions[-1].time_s if self.emissions else math.nan

    def per_chunk_s(self) -> list[float]:
        """A gap a chunk after the first."""
        return [late.time_s - early.time_s for early, late in pairwise(self.emissions)]

    def divided_s(self) -> list[float]:
        """A gap a chunk after the first, over the tokens of that chunk."""
        return [gap_s / one.tokens for gap_s, one in zip(self.per_chunk_s(), self.emissions[1:], strict=True)]

    def replicated_s(self) -> list[float]:
        """A sample a token after the first."""
        if not self.emissions:
            return []
        samples = [0.0] * (self.emissions[0].tokens - 1)
        for share_s, one in zip(self.divided_s(), self.emissions[1:], strict=True):
            samples += [share_s] * one.tokens
        return samples

    @property
    def tpot_s(self) -> float:
        """Time per output token after the first; NaN for fewer than two."""
        return (self.last_s - self.first_s) / (self.tokens - 1) if self.tokens > 1 else math.nan

    @property
    def tokens_per_s(self) -> float:
        """How fast this one answer was written, first to last token; NaN where that took no time."""
        span_s = self.last_s - self.first_s
        return (self.tokens - 1) / span_s if self.tokens > 1 and span_s > 0 else math.nan


def arrivals(reply: StreamedReply) -> Arrivals:
    """The tokens of an answer, as far as the stream tells how many each chunk carries.

    Args:
        reply: a stream, understood.
    """
    stated = _stated(reply.chunks)
    if stated is not None:
        return Arrivals(stated, Counting.STATED)
    spoken = [chunk for chunk in reply.chunks if chunk.text]
    if reply.usage is None:
        return Arrivals(_one_each(spoken), Counting.ASSUMED)
    total = reply.usage.completion_tokens
    for bearing in (spoken, *_with_silent(reply.chunks)):
        if len(bearing) == total:
            return Arrivals(_one_each(bearing), Counting.ONE_EACH)
    return Arrivals(_spread(spoken, total), Counting.SPREAD)


def _stated(chunks: Sequence[Chunk]) -> tuple[Emission, ...] | None:
    """By the ids a chunk lists or the running count it bears; None unless every chunk with text has one."""
    found, before = [], 0
    for chunk in chunks:
        tokens = chunk.tokens
        if chunk.total_tokens is not None:
            tokens, before = chunk.total_tokens - before, chunk.total_tokens
        if tokens is None and chunk.text:
            return None
        if tokens and tokens > 0:
            found.append(Emission(chunk.time_s, tokens))
    return tuple(found) if found else None


def _with_silent(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Chunks that may each be a token though some have no text: a token can end inside a character."""
    candidates = [chunk for chunk in chunks if not chunk.role_only]
    return [[chunk for chunk in candidates if chunk.text or not chunk.finish_reason], candidates]


def _one_each(chunks: Sequence[Chunk]) -> tuple[Emission, ...]:
    return tuple(Emission(chunk.time_s, 1) for chunk in chunks)


def _spread(chunks: Sequence[Chunk], total: int) -> tuple[Emission, ...]:
    """As evenly as whole tokens go; with fewer tokens than chunks, some chunks bear none."""
    ends = [round(total * place / len(chunks)) for place in range(len(chunks) + 1)] if chunks else [0]
    counts = [late - early for early, late in pairwise(ends)]
    return tuple(Emission(chunk.time_s, count) for chunk, count in zip(chunks, counts, strict=True) if count)


def percentile(samples: ArrayLike, q: float) -> float:
    """The value at position q/100 · (n - 1) of the sorted samples, between neighbours in proportion.

    Args:
        samples: shape (n,).
        q: from 0 to 100.

    Returns:
        NaN where there are none.

    Raises:
        ValueError: `q` outside 0 to 100.
    """
    values = np.asarray(samples, dtype=float)
    return float(np.percentile(values, q, method="linear")) if values.size else math.nan


def peak_tokens_per_s(every: Sequence[Arrivals], longest_window_s: float = 1.0) -> float:
    """The most tokens per second in any of equal windows of at most this length; never below the mean.

    Args:
        every: all answers, on one clock.
        longest_window_s: upper limit of a window's length in seconds.

    Returns:
        NaN where all tokens came at one moment, or none did.

    Raises:
        ValueError: a window that is not above 0 seconds.
    """
    if not longest_window_s > 0:
        raise ValueError(f"a window is longer than 0 s, got {longest_window_s}")
    emissions = [one for answer in every for one in answer.emissions]
    times_s = np.array([one.time_s for one in emissions])
    if not emissions or np.ptp(times_s) == 0:
        return math.nan
    windows = math.ceil(float(np.ptp(times_s)) / longest_window_s)
    counts, edges_s = np.histogram(times_s, bins=windows, weights=[one.tokens for one in emissions])
    return float(counts.max() / (edges_s[1] - edges_s[0]))
