"""What the evidence shows: the seven verdicts, and how an interval becomes one of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from runtwice.stats import Estimate
from runtwice.timing import TimingResult


class Verdict(StrEnum):
    """What a claim's evidence shows."""

    HOLDS = "holds"
    REFUTED = "refuted"
    WITHIN_NOISE = "within noise"
    UNDECIDED = "undecided"
    RECORDED = "recorded"
    NOT_RUN = "not run"
    ERROR = "error"


NOISY_MACHINE = "noisy machine"


@dataclass(frozen=True)
class Conclusion:
    """A verdict, the sentence that gives its reason, and the statistic it rests on (None where it is exact)."""

    verdict: Verdict
    reason: str
    verb: str = ""
    estimate: Estimate | None = None

    @property
    def noisy(self) -> bool:
        """True where the machine, not the data, kept the claim undecided."""
        return self.verdict is Verdict.UNDECIDED and self.reason.startswith(NOISY_MACHINE)

    def statistic(self) -> dict[str, Any] | None:
        """The estimate as the ledger keeps it; infinite bounds become None."""
        if self.estimate is None:
            return None
        fields = asdict(self.estimate)
        return {key: _finite(value) for key, value in fields.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def decide_effect(estimate: Estimate, margin: float, more: int | None) -> Conclusion:
    """The verdict on a claim that there *is* an effect above zero.

    Args:
        estimate: The effect with its interval.
        margin: Half the width of the band of no effect; 0 where the claim declares none.
        more: How many further samples would decide, or None where no number would.
    """
    shown = describe(estimate)
    if margin > 0 and -margin <= estimate.low and estimate.high <= margin:
        return Conclusion(Verdict.WITHIN_NOISE, f"{shown} lies inside ±{margin:g}", estimate=estimate)
    if estimate.low > 0:
        return Conclusion(Verdict.HOLDS, f"{shown} lies above 0", estimate=estimate)
    if estimate.high < -margin or (margin == 0 and estimate.high < 0):
        return Conclusion(Verdict.REFUTED, f"{shown} lies below {_minus(margin)}", estimate=estimate)
    return Conclusion(Verdict.UNDECIDED, f"{shown} spans {_minus(margin)}{_wanted(more)}", estimate=estimate)


def decide_equivalence(estimate: Estimate, margin: float, more: int | None) -> Conclusion:
    """The verdict on a claim of *no* effect: the interval against the band of ± `margin` (above zero)."""
    shown = describe(estimate)
    if -margin <= estimate.low and estimate.high <= margin:
        return Conclusion(Verdict.HOLDS, f"{shown} lies inside ±{margin:g}", estimate=estimate)
    if estimate.low > margin or estimate.high < -margin:
        return Conclusion(Verdict.REFUTED, f"{shown} lies outside ±{margin:g}", estimate=estimate)
    return Conclusion(Verdict.UNDECIDED, f"{shown} crosses ±{margin:g}{_wanted(more)}", estimate=estimate)


_DECIDED = {"above": Verdict.HOLDS, "inside": Verdict.WITHIN_NOISE, "below": Verdict.REFUTED}


def decide_ratio(result: TimingResult, noise: str) -> Conclusion:
    """The verdict on a claim that one arm takes longer than another by more than a promised ratio.

    Args:
        result: The timing; its estimate is a log ratio.
        noise: Why the machine was not fit for it, or "".
    """
    ratio = result.estimate and _as_ratio(result.estimate)
    shown = f"slow / fast {describe(ratio) if ratio else f'of {len(result.processes)} processes'}; {result.stopped}"
    if noise:
        return Conclusion(Verdict.UNDECIDED, f"{NOISY_MACHINE}: {noise}; {shown}", estimate=ratio)
    if result.decided:
        against = f"{result.decided} {result.rule.promised:g}"
        return Conclusion(_DECIDED[result.decided], f"{shown}: {against}", estimate=ratio)
    return Conclusion(Verdict.UNDECIDED, f"{shown}; about {result.more_processes} more would decide", estimate=ratio)


def _as_ratio(log: Estimate) -> Estimate:
    """An estimate of a log ratio as one of the ratio."""
    value, low, high, detectable = map(math.exp, (log.value, log.low, log.high, log.detectable))
    return replace(log, value=value, low=low, high=high, detectable=detectable)


def describe(estimate: Estimate) -> str:
    """Estimate, interval, n and the smallest effect it could have seen, in one phrase."""
    return (
        f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}] "
        f"({estimate.confidence:.0%}, n={estimate.n}, could have seen {estimate.detectable:.2g})"
    )


def _minus(margin: float) -> str:
    return "0" if margin == 0 else f"-{margin:g}"


def _wanted(more: int | None) -> str:
    return "; no number of samples would decide" if more is None else f"; about {more} more samples would decide"
