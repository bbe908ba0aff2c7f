"""The rules a claim's test must keep to be collected, and the selection of claims by tier, topic and id."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from runtwice.claim import DATA_FILE, TIERS, Claim, Declaration, load
from runtwice.errors import ClaimError

_REFUSED_MARKS = {
    "parametrize": "join the cases in the body; evidence.identical(…, label=…) may be called for each",
    "skip": "name what is missing in `needs`, or exempt the claim with a reason, in claims.toml",
    "skipif": "name what is missing in `needs`, in claims.toml",
    "xfail": "declare the verdict: @claim(…, expect=…, because=…)",
}


@dataclass(frozen=True)
class Bound:
    """A test bound to the claim it tests."""

    claim: Claim
    declaration: Declaration
    topic_claims: Mapping[str, Claim] = field(repr=False)


@cache
def topic_claims(folder: Path) -> Mapping[str, Claim]:
    """The claims of the topic in `folder`; empty where it holds no data file."""
    path = folder / DATA_FILE
    return load(path) if path.is_file() else {}


def bind(test: Any, module: Path, marks: Iterable[str]) -> Bound | None:
    """The claim that a collected function tests, or None where it is no claim's test.

    Args:
        test: The function.
        module: The file it stands in.
        marks: Names of the marks on the function and around it.

    Raises:
        ClaimError: the test breaks a rule; the message says what to do.
    """
    claims = topic_claims(module.parent)
    declaration = getattr(test, "__claim__", None)
    name = getattr(test, "__name__", str(test))
    if declaration is None:
        if claims:
            raise ClaimError(f"{name}: tests beside a {DATA_FILE} belong to a claim; declare it with @claim('<id>')")
        return None
    where = f"{name}: @claim({declaration.id!r})"
    if not claims:
        raise ClaimError(f"{where}: no {DATA_FILE} stands beside {module.name}")
    if declaration.id not in claims:
        raise ClaimError(f"{where}: {module.parent.name}/{DATA_FILE} has no such claim")
    claim = claims[declaration.id]
    if claim.exempt:
        raise ClaimError(f"{where}: the claim is exempt ({claim.exempt}); remove the exemption or the test")
    for mark in marks:
        if mark in _REFUSED_MARKS:
            raise ClaimError(f"{where}: @pytest.mark.{mark} is not allowed on a claim; {_REFUSED_MARKS[mark]}")
    if hasattr(test, "hypothesis"):
        raise ClaimError(f"{where}: put @given on a check inside the test and pass it to evidence.every")
    if "evidence" not in inspect.signature(test).parameters:
        raise ClaimError(f"{where}: the test does not ask for the fixture `evidence`, so it could conclude nothing")
    return Bound(claim, declaration, claims)


def chosen_tiers(tier: str) -> tuple[str, ...]:
    """The tiers a choice runs: `fast` < `standard` < `slow` include those before them, `gpu` stands alone."""
    if tier == "gpu":
        return ("gpu",)
    return TIERS[: TIERS.index(tier) + 1]


def selected(claim: Claim, tiers: tuple[str, ...], topics: Iterable[str], globs: Iterable[str]) -> bool:
    """True where a claim lies in the tiers, in one of the topics (if any) and matches one of the globs (if any)."""
    topics, globs = list(topics), list(globs)
    return (
        claim.tier in tiers
        and (not topics or claim.topic in topics)
        and (not globs or any(fnmatchcase(claim.id, glob) for glob in globs))
    )
