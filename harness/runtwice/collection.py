"""The rules a claim's test must keep to be collected, and the selection of claims by tier, topic, id and keywords."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any
from unittest import TestCase

from runtwice import environment
from runtwice.claim import DATA_FILE, TIERS, Claim, Declaration, load
from runtwice.difference import short
from runtwice.errors import ClaimError

_REFUSED_MARKS = {
    "parametrize": "join the cases in the body; evidence.identical(…, label=…) may be called for each",
    "skip": "name what is missing in `needs`, or exempt the claim with a reason, in claims.toml",
    "skipif": "name what is missing in `needs`, in claims.toml",
    "xfail": "declare the verdict: @claim(…, expect=…, because=…)",
}

_GIVEN = "put @given on a check inside the test and pass it to evidence.every"


@dataclass(frozen=True)
class Bound:
    """A test bound to the claim it tests."""

    claim: Claim
    declaration: Declaration
    topic_claims: Mapping[str, Claim] = field(repr=False)


def is_topic(folder: Path) -> bool:
    """True where a data file makes a topic of `folder`."""
    return (folder / DATA_FILE).is_file()


def topic_claims(folder: Path) -> Mapping[str, Claim]:
    """The claims of the topic in `folder`; empty where it holds no data file."""
    if not is_topic(folder):
        return {}
    path = folder / DATA_FILE
    state = path.stat()
    return _loaded(path, state.st_mtime_ns, state.st_size)


@cache
def _loaded(path: Path, modified_ns: int, size_bytes: int) -> Mapping[str, Claim]:  # noqa: ARG001 - they tell versions apart
    return load(path)


def bind(test: Any, module: Path, marks: Iterable[str], items: int = 1) -> Bound | None:
    """The claim that an object of a module tests, or None where it is no claim's test.

    Args:
        test: The object.
        module: The file it stands in.
        marks: Names of the marks on the test and around it.
        items: How many tests pytest makes of it.

    Raises:
        ClaimError: the test breaks a rule; the message says what to do.
    """
    declaration = getattr(test, "__claim__", None)
    if isinstance(declaration, Declaration):
        return _bound(test, declaration, module, marks, items)
    if is_topic(module.parent) and (items or _is_unittest(test)):
        name = getattr(test, "__name__", str(test))
        if hasattr(test, "hypothesis"):  # which hides a @claim below it
            raise ClaimError(f"{name}: {_GIVEN}")
        raise ClaimError(f"{name}: tests beside a {DATA_FILE} belong to a claim; declare it with @claim('<id>')")
    return None


def _is_unittest(test: Any) -> bool:
    return inspect.isclass(test) and issubclass(test, TestCase) and test is not TestCase


def _bound(test: Any, declaration: Declaration, module: Path, marks: Iterable[str], items: int) -> Bound:
    where = f"{test.__name__}: @claim({declaration.id!r})"
    claims = topic_claims(module.parent)
    if not claims:
        raise ClaimError(f"{where}: no {DATA_FILE} stands beside {module.name}")
    if declaration.id not in claims:
        raise ClaimError(f"{where}: {module.parent.name}/{DATA_FILE} has no such claim")
    claim = claims[declaration.id]
    if claim.exempt:
        raise ClaimError(f"{where}: the claim is exempt ({claim.exempt}); remove the exemption or the test")
    skipped = ["skip"] if getattr(test, "__unittest_skip__", False) else []
    for mark in (*marks, *skipped):
        if mark in _REFUSED_MARKS:
            raise ClaimError(f"{where}: @pytest.mark.{mark} is not allowed on a claim; {_REFUSED_MARKS[mark]}")
    if hasattr(test, "hypothesis"):
        raise ClaimError(f"{where}: {_GIVEN}")
    if items == 0:
        raise ClaimError(f"{where}: pytest does not take it for a test; make it a function `test_…`")
    if items > 1:
        raise ClaimError(f"{where}: a fixture with params makes {items} tests of it; {_REFUSED_MARKS['parametrize']}")
    if "evidence" not in inspect.signature(test).parameters:
        raise ClaimError(f"{where}: the test does not ask for the fixture `evidence`, so it could conclude nothing")
    for condition in declaration.conditions:
        environment.satisfies(condition)
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


def matches(expression: str, text: str) -> bool:
    """Whether an expression of words, `and`, `or`, `not` and brackets accepts a text; a word matches inside it.

    Raises:
        ClaimError: it is no such expression.
    """
    if not expression.strip():
        return True
    truths = re.sub(
        r"[^\s()]+",
        lambda word: word[0] if word[0] in ("and", "or", "not") else str(word[0].lower() in text.lower()),
        expression,
    )
    try:
        return _is_true(ast.parse(truths.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise ClaimError(f"-k {short(expression)} is no expression of words, and, or, not and brackets") from None


def _is_true(node: ast.expr) -> bool:
    match node:
        case ast.Constant(bool(value)):
            return value
        case ast.UnaryOp(ast.Not(), inner):
            return not _is_true(inner)
        case ast.BoolOp(ast.And(), parts):
            return all(map(_is_true, parts))
        case ast.BoolOp(ast.Or(), parts):
            return any(map(_is_true, parts))
    raise SyntaxError
