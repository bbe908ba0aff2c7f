"""Deciding while samples arrive: evidence that may be looked at after every one of them.

Follows: the Beta(1/2, 1/2) mixture martingale of a fair coin, stopped under Ville's inequality, and the interval that
turning that test inside out gives.
Leaves out: one-sided alternatives with known sizes, which would stop sooner, and every clock.
"""

from __future__ import annotations

import math
from bisect import insort
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from runtwice.stats import (
    POWER,
    Estimate,
    Floats,
    TooFewSamples,
    as_sample,
    check_fraction,
    check_spread,
    is_constant,
)


class SignEProcess:
    """Evidence against a fair coin that may be looked at after every toss.

    E_n = 2**n B(k + 1/2, n - k + 1/2) / B(1/2, 1/2) for k wins in n. Under a fair coin the probability that
    it ever reaches 1/alpha is at most alpha (Ville), so that stopping there keeps the error. So does reading
    the direction off the majority, for any coin that favours the other side. Ties are not tosses: leave them
    out.
    """

    def __init__(self) -> None:
        self.wins = 0
        self.losses = 0
        self._log_peak = 0.0

    @property
    def n(self) -> int:
        """Tosses so far."""
        return self.wins + self.losses

    @property
    def log_value(self) -> float:
        """log E_n, finite for any n."""
        return _log_e(self.wins, self.losses)

    @property
    def log_peak(self) -> float:
        """The largest log E at any toss so far, 0 before the first."""
        return self._log_peak

    @property
    def value(self) -> float:
        """E_n, infinite only where a float cannot hold it."""
        return math.exp(self.log_value) if self.log_value < 709.0 else math.inf

    def update(self, win: bool) -> float:
        """Take in one toss.

        Returns:
            E_n after it.
        """
        if win:
            self.wins += 1
        else:
            self.losses += 1
        self._log_peak = max(self._log_peak, self.log_value)
        return self.value

    def decided(self, alpha: float) -> bool:
        """Whether E has reached 1/alpha at any toss so far."""
        check_fraction("alpha", alpha)
        return self._log_peak >= _threshold(alpha)


class SignSequence:
    """Median of values that arrive one by one, with an interval that holds at every stopping time.

    The interval is the sign e-process turned inside out: all centres c for which the process fed with `value > c` has
    not reached 1 / (1 - confidence) at any length so far. Looking after each value, and stopping for what was seen,
    therefore costs nothing. It covers the median of whatever distribution the values share; symmetry is not needed.

    Args:
        confidence: coverage of the interval at all lengths together.

    Attributes:
        low: lower end of the interval so far, minus infinity below the first length that can decide.
        high: its upper end.
    """

    def __init__(self, confidence: float = 0.95) -> None:
        check_fraction("confidence", confidence)
        self.confidence = confidence
        self.values: list[float] = []
        self._ordered: list[float] = []
        self.low, self.high = -math.inf, math.inf
        self._against_zero = SignEProcess()

    def update(self, value: float) -> None:
        """Take in one finite value."""
        self.values.append(value)
        insort(self._ordered, value)
        if value != 0.0:
            self._against_zero.update(value > 0.0)
        spare, last = _tolerated_losses(len(self.values), 1 - self.confidence), len(self.values) - 1
        if spare >= 0:
            self.low = max(self.low, self._ordered[spare])
            self.high = min(self.high, self._ordered[last - spare])
            if self.low > self.high:  # the values drifted (probability below alpha): the latest interval stands
                self.low, self.high = self._ordered[spare], self._ordered[last - spare]

    def estimate(self) -> Estimate:
        """The median and its interval so far.

        Returns:
            `p_value` is 1 over the largest E against 0 so far; `detectable` is the smallest median that n normal
            values of this spread would have told from 0 with 80% power.

        Raises:
            TooFewSamples: fewer values than even unanimous ones would need (7 at 95%, 10 at 99%).
        """
        alpha, sample = 1 - self.confidence, np.array(self.values)
        if sample.size < unanimous(alpha):
            raise TooFewSamples(sample.size, unanimous(alpha))
        still = is_constant(sample)
        return Estimate(
            value=float(np.clip(np.median(sample), self.low, self.high)),
            low=self.low,
            high=self.high,
            confidence=self.confidence,
            n=sample.size,
            detectable=0.0 if still else _median_shift(sample.size, alpha) * float(sample.std(ddof=1)),
            method="median, sign e-process turned into an interval",
            p_value=math.exp(-self._against_zero.log_peak),
            constant=still,
        )


def sign_sequence(values: ArrayLike, confidence: float = 0.95) -> Estimate:
    """`SignSequence` of values that are all there.

    Args:
        values: shape (n,), in order of arrival.
        confidence: coverage of the interval at all lengths together.

    Raises:
        TooFewSamples: as `SignSequence.estimate`.
        BadSample: what `as_sample` refuses.
    """
    sequence = SignSequence(confidence)
    for value in as_sample(values, "values").tolist():
        sequence.update(value)
    return sequence.estimate()


@lru_cache(maxsize=64)
def unanimous(alpha: float) -> int:
    """How many wins in a row decide at this level: 7 at 5%, 10 at 1%."""
    check_fraction("alpha", alpha)
    return next(n for n in range(1, 5_000) if _log_e(n, 0) >= _threshold(alpha))


@lru_cache(maxsize=4_096)
def _tolerated_losses(n: int, alpha: float) -> int:
    """The most losses in n tosses at which E still reaches 1/alpha; -1 where even none is too many."""
    return next(
        losses for losses in range(n // 2, -2, -1) if losses < 0 or _log_e(n - losses, losses) >= _threshold(alpha)
    )


def _log_e(wins: int, losses: int) -> float:
    beta = special.betaln(wins + 0.5, losses + 0.5) - special.betaln(0.5, 0.5)
    return float((wins + losses) * math.log(2.0) + beta)


def _threshold(alpha: float) -> float:
    return -math.log(alpha) - 1e-9  # alpha = 1 - 0.99 = 0.010000000000000009 and its like


def win_rate_decided(rate: float, n: int, alpha: float) -> float:
    """Probability that E reaches 1/alpha for the wins within n tosses of a coin that wins at this rate.

    Args:
        rate: probability of a win.
        n: tosses.
        alpha: level.
    """
    return float(_decided_by(rate, n, alpha)[-1])


def _decided_by(rate: float, n: int, alpha: float) -> Floats:
    """Probability of having been decided for the wins by toss 1, 2, ... n. -> (n,)."""
    by_losses, decided, path = np.zeros(n + 1), 0.0, np.empty(n)
    by_losses[0] = 1.0
    for toss in range(1, n + 1):
        lost = by_losses * (1 - rate)
        by_losses *= rate
        by_losses[1:] += lost[:-1]
        spare = _tolerated_losses(toss, alpha)
        decided += float(by_losses[: spare + 1].sum())
        by_losses[: spare + 1] = 0.0
        path[toss - 1] = decided
    return path


@lru_cache(maxsize=256)
def _median_shift(n: int, alpha: float, power: float = POWER) -> float:
    """The shift, in standard deviations, whose normal win rate is decided within n values with this power."""
    low, high = 0.5, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if win_rate_decided(middle, n, alpha) >= power else (middle, high)
    return float(special.ndtri(high))


def values_needed(spread: float, effect: float, alpha: float, power: float = POWER, most: int = 2_000) -> int:
    """How many values of this spread decide an effect of this size in a sequence of signs, at most `most`.

    Args:
        spread: standard deviation of one (normal) value.
        effect: its median, the sign ignored.
        alpha: level.
        power: probability of being decided by then.
        most: where to stop counting; that many means "at least that many".

    Raises:
        ValueError: effect 0 or not finite, spread negative or not finite.
    """
    check_spread(spread)
    if not math.isfinite(effect) or effect == 0.0:
        raise ValueError(f"effect must be finite and not 0, got {effect!r}")
    rate = float(special.ndtr(abs(effect) / spread)) if spread > 0 else 1.0
    enough = np.flatnonzero(_decided_by(rate, most, alpha) >= power)
    return int(enough[0]) + 1 if enough.size else most
