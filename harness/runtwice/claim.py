"""What a post claims: the rows of a `claims.toml`, and the decorator that ties a test to one.

A data file says only what the post says and on what conditions. A table with `says` is a claim, one without is a
namespace; the folder is the topic, so `[adversarial.oracle-fuzz]` in `claims/itl/claims.toml` is the claim
`itl.adversarial.oracle-fuzz`. The top-level key `post` is the default of every claim in the file.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from packaging.requirements import InvalidRequirement, Requirement

from runtwice.errors import ClaimError
from runtwice.figure import Printed, Tolerance, as_printed, parse
from runtwice.verdict import Verdict

DATA_FILE = "claims.toml"
KINDS = (
    "identity",
    "figure",
    "ordering",
    "noise",
    "ratio",
    "trend",
    "procedure",
    "derived",
    "record",
    "advice",
)
TIERS = ("fast", "standard", "slow", "gpu")
# Needs that no package meets.
RESOURCES = ("gpu", "private-data", "real-server", "quiet-machine")
_FIELDS = (
    *("says", "kind", "post", "tier", "needs", "given", "printed", "required"),
    *("tolerance", "margin", "supports", "stand_in", "exempt", "note"),
)
_TOLERANCE_KEYS = {"abs", "rel", "because"}
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Claim:
    """One row of the data.

    Attributes:
        id: Topic and dotted name, e.g. `itl.label-rule`.
        given: Conditions of the post, which the experiment reads.
        printed: Results of the post, as printed.
        required: Answers the post does not print but that are right (the adversarial cases).
        tolerance: By figure name; the key `""` is the claim's default.
        margin: Half the width of the band that counts as no effect; 0 where none is declared.
        supports: The claim that carries the conclusion where this one's figures are not comparable.
        stand_in: What stands in for data or code that is not public; "" where the post's own is run.
        exempt: Why no test exists; "" where one must.
        exempt_figures: Why a figure is not compared, by name.
        note: Where the post contradicts itself, or what a reader should know.
    """

    id: str
    says: str
    kind: str
    post: str
    tier: str
    needs: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    printed: Mapping[str, Printed] = field(default_factory=dict)
    required: Mapping[str, Printed] = field(default_factory=dict)
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)
    margin: float = 0.0
    supports: str = ""
    stand_in: str = ""
    exempt: str = ""
    exempt_figures: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def topic(self) -> str:
        """The first part of the id, which is also the folder's name."""
        return self.id.split(".", 1)[0]

    @property
    def figures(self) -> dict[str, Printed]:
        """Printed and required figures together, by name."""
        return {**self.printed, **self.required}

    @property
    def default_verdict(self) -> Verdict:
        """What a test is expected to conclude where its declaration says nothing."""
        return Verdict.RECORDED if self.kind == "record" else Verdict.HOLDS

    @property
    def data(self) -> dict[str, Any]:
        """What an experiment and its verdict read of this row, as plain values."""
        return {
            "given": self.given,
            "figures": {name: as_printed(figure) for name, figure in self.figures.items()},
            "tolerance": {name: [bounds.abs, bounds.rel] for name, bounds in self.tolerance.items()},
            "margin": self.margin,
            "stand_in": bool(self.stand_in),
        }

    def tolerance_of(self, name: str) -> Tolerance | None:
        """The tolerance of one figure or label, falling back on the claim's own."""
        return self.tolerance.get(name) or self.tolerance.get("")


def load(path: Path) -> dict[str, Claim]:
    """All claims of one data file, by id.

    Raises:
        ClaimError: the file is not TOML or a row breaks the rules; the message names file, claim and field.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise ClaimError(f"{path}: cannot be read: {error}") from None
    defaults = {key: value for key, value in document.items() if not isinstance(value, dict)}
    if unknown := set(defaults) - {"post"}:
        raise ClaimError(f"{path}: top-level key {sorted(unknown)[0]!r}; only `post` may stand outside a claim")
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    rows = _rows(path, path.parent.name, tables)
    claims = {claim_id: _claim(path, claim_id, {**defaults, **row}) for claim_id, row in rows}
    for claim in claims.values():
        if claim.supports and claim.supports not in claims:
            raise ClaimError(f"{path}: {claim.id}: supports {claim.supports!r}, which is no claim of this file")
    return claims


def load_all(root: Path) -> dict[str, Claim]:
    """The claims of every topic below `root` (the `claims/` folder), by id."""
    claims: dict[str, Claim] = {}
    for path in sorted(root.glob(f"*/{DATA_FILE}")):
        claims.update(load(path))
    return claims


def _rows(path: Path, prefix: str, tables: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, table in tables.items():
        claim_id = f"{prefix}.{name}"
        if not _NAME.fullmatch(name):
            raise ClaimError(f"{path}: {claim_id!r}: a name is made of letters, digits, '-' and '_'")
        if not isinstance(table, dict):
            raise ClaimError(f"{path}: {prefix!r} has the field {name!r} but no `says`, so it is no claim")
        if "says" in table:
            yield claim_id, table
        else:
            yield from _rows(path, claim_id, table)


def _claim(path: Path, claim_id: str, row: dict[str, Any]) -> Claim:
    where = f"{path}: {claim_id}"
    if unknown := set(row) - set(_FIELDS):
        raise ClaimError(f"{where}: unknown field {sorted(unknown)[0]!r}; the fields are {' '.join(_FIELDS)}")
    exempt = row.get("exempt", "")
    whole = exempt if isinstance(exempt, str) else ""
    claim = Claim(
        id=claim_id,
        says=_text(where, "says", row),
        kind=_choice(where, "kind", row, KINDS),
        post=_text(where, "post", row),
        tier="" if whole and "tier" not in row else _choice(where, "tier", row, TIERS),
        needs=_needs(where, row.get("needs", [])),
        given=_table(where, "given", row),
        printed=_figures(where, "printed", row),
        required=_figures(where, "required", row),
        tolerance=_tolerances(where, row.get("tolerance", {})),
        margin=_bound(where, "margin", row.get("margin", 0.0)),
        supports=_optional_text(where, "supports", row),
        stand_in=_optional_text(where, "stand_in", row),
        exempt=whole,
        exempt_figures={} if whole else _table(where, "exempt", row),
        note=_optional_text(where, "note", row),
    )
    _check_names(where, claim)
    return claim


def _check_names(where: str, claim: Claim) -> None:
    if both := set(claim.printed) & set(claim.required):
        raise ClaimError(f"{where}: figure {sorted(both)[0]!r} is both printed and required")
    if stray := set(claim.exempt_figures) - set(claim.figures):
        raise ClaimError(f"{where}: exempts {sorted(stray)[0]!r}, which is neither printed nor required")
    for name, reason in claim.exempt_figures.items():
        _text(f"{where}: exempt", name, {name: reason})


def _text(where: str, name: str, row: Mapping[str, Any]) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ClaimError(f"{where}: `{name}` is {value!r}; it must be a text")
    return value


def _optional_text(where: str, name: str, row: Mapping[str, Any]) -> str:
    return _text(where, name, row) if name in row else ""


def _choice(where: str, name: str, row: Mapping[str, Any], allowed: tuple[str, ...]) -> str:
    value = row.get(name)
    if value not in allowed:
        raise ClaimError(f"{where}: `{name}` is {value!r}; it must be one of {', '.join(allowed)}")
    return str(value)


def _table(where: str, name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    value = row.get(name, {})
    if not isinstance(value, dict):
        raise ClaimError(f"{where}: `{name}` is {value!r}; it must be a table")
    return value


def _figures(where: str, name: str, row: Mapping[str, Any]) -> dict[str, Printed]:
    return {key: parse(value, f"{where}: {name}.{key}") for key, value in _table(where, name, row).items()}


def _needs(where: str, needs: Any) -> tuple[str, ...]:
    if not isinstance(needs, list) or not all(isinstance(need, str) for need in needs):
        raise ClaimError(f"{where}: `needs` is {needs!r}; it must be a list of texts")
    for need in needs:
        try:
            Requirement(need)
        except InvalidRequirement:
            raise ClaimError(f"{where}: need {need!r} is neither a package nor one of {', '.join(RESOURCES)}") from None
    return tuple(needs)


def _tolerances(where: str, table: Any) -> dict[str, Tolerance]:
    if not isinstance(table, dict):
        raise ClaimError(f"{where}: `tolerance` is {table!r}; it must be a table")
    if set(table) & _TOLERANCE_KEYS:
        return {"": _tolerance(f"{where}: tolerance", table)}
    return {name: _tolerance(f"{where}: tolerance.{name}", value) for name, value in table.items()}


def _tolerance(where: str, table: Any) -> Tolerance:
    if not isinstance(table, dict) or not set(table) <= _TOLERANCE_KEYS or not {"abs", "rel"} & set(table):
        raise ClaimError(f"{where} is {table!r}; it must be {{ abs = … or rel = …, because = '…' }}")
    if not isinstance(table.get("because"), str) or not table["because"].strip():
        raise ClaimError(f"{where} gives no reason; add because = '…'")
    abs_, rel = (_bound(where, name, table.get(name, 0.0)) for name in ("abs", "rel"))
    return Tolerance(table["because"], abs_, rel)


def _bound(where: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ClaimError(f"{where}: `{name}` is {value!r}; it must be a finite number of at least 0")
    return float(value)


# What we last understood of a claim: one verdict, or conditions on the environment to verdicts, first match wins.
Expectation = str | Mapping[str, str] | None


@dataclass(frozen=True)
class Declaration:
    """What `@claim` said of a test."""

    id: str
    expect: Expectation = None
    because: str = ""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions on the environment, in order."""
        return tuple(self.expect) if isinstance(self.expect, Mapping) else ()

    def expected(self, default: Verdict, satisfies: Callable[[str], bool]) -> Verdict:
        """The verdict declared for this environment: the first condition that `satisfies` accepts, or `default`."""
        if self.expect is None:
            return default
        if isinstance(self.expect, str):
            return Verdict(self.expect)
        return next((Verdict(verdict) for condition, verdict in self.expect.items() if satisfies(condition)), default)


_Test = TypeVar("_Test", bound=Callable[..., Any])


def claim(id: str, *, expect: Expectation = None, because: str = "") -> Callable[[_Test], _Test]:  # noqa: A002 - the public name
    """Declare a test function as the test of one claim.

    Args:
        id: The claim's full id, whose row stands in the `claims.toml` beside the test's module.
        expect: The verdict we last understood, where it is not the default (`recorded` for records, else
            `holds`); or conditions to verdicts such as `{"numpy<2": "refuted"}`, first match wins. Conditions are
            requirements (`numpy<2`, `python>=3.13`), `cuda`, or `cpu:FEATURE` for a feature NumPy dispatches to.
        because: Why it is not `holds`, with the figure that was measured.

    Raises:
        ClaimError: an unknown verdict, or no reason given.
    """
    verdicts = [expect] if isinstance(expect, str) else list((expect or {}).values())
    for verdict in verdicts:
        if verdict not in set(Verdict):
            raise ClaimError(f"{id}: expect={verdict!r}; the verdicts are {', '.join(Verdict)}")
    if any(verdict not in (Verdict.HOLDS, Verdict.RECORDED) for verdict in verdicts) and not because.strip():
        raise ClaimError(f"{id}: expect={expect!r} needs because='…' with the figure that was measured")

    def mark(test: _Test) -> _Test:
        test.__claim__ = Declaration(id, expect, because)  # type: ignore[attr-defined]
        return test

    return mark
