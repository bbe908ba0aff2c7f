"""Per-token records as a metrics store keeps them: as objects, or in one flat array.

What matters is what the garbage collector sees of them: seven tracked objects a token, or none.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

TOP_LOGPROBS = 5
TRACKED_OBJECTS_PER_TOKEN = 2 + TOP_LOGPROBS  # the record, its dictionary, and an object for each candidate


class History(Protocol):
    """Keeps a record of every token."""

    def record(self, requests: Sequence[int], tokens: Sequence[int], time_s: float) -> None:
        """Keep the tokens that these requests emitted together."""


@dataclass(slots=True)
class Candidate:
    """One of the likeliest tokens at a position."""

    logprob: float
    rank: int


@dataclass(slots=True)
class TokenRecord:
    """One emitted token with its alternatives."""

    request: int
    token: int
    time_s: float
    candidates: dict[int, Candidate]


class ObjectHistory:
    """A record, a dictionary and five candidates a token, alive for the whole run."""

    def __init__(self) -> None:
        self.records: list[TokenRecord] = []

    def record(self, requests: Sequence[int], tokens: Sequence[int], time_s: float) -> None:
        """Append one record a token."""
        for request, token in zip(requests, tokens):
            candidates = {token + rank: Candidate(-0.1 - rank, rank + 1) for rank in range(TOP_LOGPROBS)}
            self.records.append(TokenRecord(request, token, time_s, candidates))


class FlatHistory:
    """The same numbers side by side in an array of doubles."""

    LOGPROBS = tuple(-0.1 - rank for rank in range(TOP_LOGPROBS))

    def __init__(self) -> None:
        self.numbers = array("d")

    def record(self, requests: Sequence[int], tokens: Sequence[int], time_s: float) -> None:
        """Append eight numbers a token."""
        for request, token in zip(requests, tokens):
            self.numbers.extend((request, token, time_s, *self.LOGPROBS))


class CountedHistory:
    """Keeps nothing and reports how many tracked objects an ``ObjectHistory`` would have made.

    Args:
        allocated: called with that number after each step.
    """

    def __init__(self, allocated: Callable[[int], None]) -> None:
        self._allocated = allocated

    def record(self, requests: Sequence[int], tokens: Sequence[int], time_s: float) -> None:  # noqa: ARG002
        """Count the objects of these tokens."""
        self._allocated(len(tokens) * TRACKED_OBJECTS_PER_TOKEN)


class NoHistory:
    """Keeps nothing."""

    def record(self, requests: Sequence[int], tokens: Sequence[int], time_s: float) -> None:
        """Drop the tokens."""
