"""A claim's row in the ledger: everything one run has to say of one claim, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtwice.claim import Claim, Declaration
from runtwice.evidence import Evidence
from runtwice.figure import as_printed
from runtwice.ledger import finite
from runtwice.verdict import Conclusion, Verdict


def build(
    claim: Claim,
    declaration: Declaration,
    declared: Verdict,
    conclusion: Conclusion,
    *,
    evidence: Evidence | None = None,
    nodeid: str = "",
    seconds: float = 0.0,
    fingerprint: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The row of one judged claim.

    Args:
        claim: The claim.
        declaration: What its test declared.
        declared: The verdict declared for this environment.
        conclusion: The verdict reached.
        evidence: What was measured, where the test ran.
        nodeid: Where the test stands.
        seconds: What the test cost, without shared fixtures.
        fingerprint: What the result depends on.
    """
    measured = evidence or Evidence(claim)
    row = {
        "id": claim.id,
        "kind": claim.kind,
        "tier": claim.tier,
        "needs": list(claim.needs),
        "verdict": conclusion.verdict.value,
        "reason": conclusion.reason,
        "verb": conclusion.verb,
        "declared": declared.value,
        "because": declaration.because,
        "as_declared": as_declared(conclusion, declared),
        "statistic": conclusion.statistic(),
        "figures": [
            {
                **vars(one),
                "agreement": one.agreement.value,
                "printed": as_printed(one.printed),
                "tolerance": _bounds(claim, one.name),
            }
            for one in measured.comparisons
        ],
        "samples": measured.samples,
        "capped": measured.capped,
        "examples": measured.examples,
        "settings": measured.measuring,
        "warnings": [],
        "timings": [vars(timing) for timing in measured.timings],
        "seconds": seconds,
        "nodeid": nodeid,
        "fingerprint": dict(fingerprint or {}),
    }
    plain: dict[str, Any] = finite(row)
    return plain


def _bounds(claim: Claim, name: str) -> list[float] | None:
    found = claim.tolerance_of(name)
    return None if found is None else [found.abs, found.rel]


def is_noisy(found: Mapping[str, Any]) -> bool:
    """True where the machine, not the data, kept the claim undecided."""
    return Conclusion(Verdict(found["verdict"]), found["reason"]).noisy


def was_judged(found: Mapping[str, Any]) -> bool:
    """True where the row has an answer that another run need not seek again.

    A stand-in is `not run` as a claim, and has been measured all the same.
    """
    if found["verdict"] == Verdict.NOT_RUN:
        return bool(found["figures"])
    return found["verdict"] != Verdict.ERROR and not is_noisy(found)


def redeclared(found: Mapping[str, Any], declaration: Declaration, declared: Verdict) -> dict[str, Any]:
    """The row of an earlier run, held against what is declared now."""
    met = as_declared(Conclusion(Verdict(found["verdict"]), found["reason"]), declared)
    return {**found, "declared": declared.value, "because": declaration.because, "as_declared": met}


def as_declared(conclusion: Conclusion, declared: Verdict) -> bool:
    """True where the verdict is the declared one, or nothing could be said: not run here, or a noisy machine."""
    return conclusion.verdict in (declared, Verdict.NOT_RUN) or conclusion.noisy
