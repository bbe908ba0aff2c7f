"""What a run of requests showed: counts, times by every definition, speeds.

Follows: `timing.py` for what each time is, `load.py` for the two clocks a request can be timed by.
Leaves out: any judgement; nothing here is good or bad.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from implementations.serving.client import Exchange
from implementations.serving.reply import StreamedReply
from implementations.serving.timing import Arrivals, Counting, arrivals, peak_tokens_per_s, percentile

# History of the JSON form: 1 — the first.
JSON_SCHEMA = 1
PERCENTILES = (50.0, 90.0, 99.0)


@dataclass(frozen=True)
class Served:
    """A request that was answered: its exchange, the stream as understood, and its tokens."""

    exchange: Exchange
    reply: StreamedReply
    arrivals: Arrivals


@dataclass(frozen=True)
class Sample:
    """The values of one time over a run.

    Args:
        name: what it is called.
        values_s: pooled over requests.
    """

    name: str
    values_s: tuple[float, ...]

    def summary_ms(self) -> dict[str, float | int | None]:
        """Number, mean, percentiles and largest value, in milliseconds; None where there is nothing."""
        values = np.array(self.values_s)
        found: dict[str, float | int | None] = {"n": len(values), "mean": _ms(values.mean() if len(values) else None)}
        for q in PERCENTILES:
            found[f"p{q:g}"] = _ms(percentile(values, q))
        found["max"] = _ms(values.max() if len(values) else None)
        return found


@dataclass(frozen=True)
class Measurement:
    """A run.

    Args:
        served: requests that were answered.
        failures: why the others were not.
        warm_up: exchanges before the run, which are in none of the figures.
    """

    served: tuple[Served, ...]
    failures: tuple[str, ...]
    warm_up: tuple[Exchange, ...] = ()

    @classmethod
    def of(cls, exchanges: Sequence[Exchange], warm_up: Sequence[Exchange] = ()) -> "Measurement":
        """Understand what came back.

        Args:
            exchanges: of the run.
            warm_up: sent before it.
        """
        served, failures = [], []
        for one in exchanges:
            reply = one.reply()
            if reply.failure:
                failures.append(reply.failure)
            else:
                served.append(Served(one, reply, arrivals(reply)))
        return cls(tuple(served), tuple(failures), tuple(warm_up))

    @property
    def tokens(self) -> int:
        """All output tokens of answered requests."""
        return sum(one.arrivals.tokens for one in self.served)

    @property
    def prompt_tokens(self) -> int | None:
        """All prompt tokens, where every answer came with usage."""
        usages = [one.reply.usage for one in self.served]
        return sum(usage.prompt_tokens for usage in usages if usage) if all(usages) and usages else None

    @property
    def span_s(self) -> float:
        """From the first request's start to the last token; NaN without one."""
        spoken = self._spoken
        if not spoken:
            return math.nan
        return max(one.arrivals.last_s for one in spoken) - min(one.exchange.started_s for one in self.served)

    @property
    def tokens_per_s(self) -> float:
        """All tokens over the span: what the server wrote for everybody."""
        return self.tokens / self.span_s if self.span_s > 0 else math.nan

    @property
    def peak_tokens_per_s(self) -> float:
        """The most in any window of at most a second."""
        return peak_tokens_per_s([one.arrivals for one in self.served])

    def each_tokens_per_s(self) -> list[float]:
        """How fast each answer was written."""
        speeds = [one.arrivals.tokens_per_s for one in self.served]
        return [speed for speed in speeds if math.isfinite(speed)]

    def counting(self) -> Counter[Counting]:
        """How many answers' tokens were known in which way."""
        return Counter(one.arrivals.counting for one in self._spoken)

    def samples(self) -> list[Sample]:
        """Every time by every definition."""
        return [
            self._per_request("TTFT from due time", lambda one: one.arrivals.first_s - one.exchange.due_s),
            self._per_request("TTFT from start (naive)", lambda one: one.arrivals.first_s - one.exchange.started_s),
            self._per_request("end to end from due time", lambda one: one.arrivals.last_s - one.exchange.due_s),
            self._per_request(
                "end to end from start (naive)", lambda one: one.arrivals.last_s - one.exchange.started_s
            ),
            self._pooled("ITL per chunk", Arrivals.per_chunk_s),
            self._pooled("ITL divided by the chunk's tokens", Arrivals.divided_s),
            self._pooled("ITL replicated per token", Arrivals.replicated_s),
            self._per_request("TPOT", lambda one: one.arrivals.tpot_s),
            self._per_request("start after due time", lambda one: one.exchange.started_s - one.exchange.due_s),
            self._per_request("connecting", lambda one: one.exchange.sent_s - one.exchange.started_s),
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "schema": JSON_SCHEMA,
            "requests": len(self.served) + len(self.failures),
            "answered": len(self.served),
            "without_tokens": len(self.served) - len(self._spoken),
            "failed": dict(Counter(self.failures)),
            "warm_up_excluded": len(self.warm_up),
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.tokens,
            "tokens_counted": {str(how): count for how, count in self.counting().items()},
            "span_s": _finite(self.span_s),
            "tokens_per_s": {
                "all": _finite(self.tokens_per_s),
                "peak": _finite(self.peak_tokens_per_s),
                "each_median": _finite(percentile(self.each_tokens_per_s(), 50)),
            },
            "requests_per_s": _finite(len(self.served) / self.span_s if self.span_s > 0 else math.nan),
            "percentile_rule": "linear",
            "times_ms": {sample.name: sample.summary_ms() for sample in self.samples()},
        }

    @property
    def _spoken(self) -> list[Served]:
        return [one for one in self.served if one.arrivals.emissions]

    def _per_request(self, name: str, time_s: Callable[[Served], float]) -> Sample:
        values = (time_s(one) for one in self._spoken)
        return Sample(name, tuple(value for value in values if not math.isnan(value)))

    def _pooled(self, name: str, gaps_s: Callable[[Arrivals], list[float]]) -> Sample:
        return Sample(name, tuple(gap for one in self._spoken for gap in gaps_s(one.arrivals)))


def events(one: Exchange) -> dict[str, Any]:
    """The raw event list of an exchange as JSON values: everything the figures are made of.

    Args:
        one: answered or not.
    """
    reply = one.reply()
    return {
        "due_s": one.due_s,
        "started_s": one.started_s,
        "sent_s": one.sent_s,
        "ended_s": one.ended_s,
        "status": one.status,
        "failure": reply.failure,
        "usage": reply.usage._asdict() if reply.usage else None,
        "chunks": [chunk._asdict() for chunk in reply.chunks],
        "emissions": [emission._asdict() for emission in arrivals(reply).emissions],
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None or math.isnan(seconds) else float(seconds) * 1e3


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
