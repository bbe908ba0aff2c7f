"""A claim as the report shows it: what the post says, how it is tested, and what each environment found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runtwice.catalogue import Catalogue, TestSource
from runtwice.claim import Claim
from runtwice.figure import Agreement
from runtwice.report.environments import Environment, Row
from runtwice.verdict import Verdict

# What stands in a verdict's place where there is none.
EXEMPT, NO_EVIDENCE = "exempt", "no evidence"
STATES = (*Verdict, NO_EVIDENCE, EXEMPT)
# From worst to best.
AGREEMENTS = (Agreement.MOVED, Agreement.NOT_COMPARABLE, Agreement.CLOSE, Agreement.EXACT)


@dataclass(frozen=True)
class Entry:
    """One claim.

    Attributes:
        claim: Its row in the data; None where the ledger's claim is no longer there.
        test: Where it is tested.
        found: What each environment that has it found, in the order of the environments.
    """

    id: str
    claim: Claim | None
    test: TestSource | None
    found: Mapping[str, Row] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        """The first part of the id."""
        return self.id.split(".", 1)[0]

    @property
    def row(self) -> Row | None:
        """What the first environment that has the claim found."""
        return next(iter(self.found.values()), None)

    @property
    def state(self) -> str:
        """Its verdict there, or why it has none."""
        if self.row is not None:
            return str(self.row["verdict"])
        return EXEMPT if self.claim and self.claim.exempt else NO_EVIDENCE

    @property
    def differs(self) -> bool:
        """True where two environments gave different verdicts."""
        return len({row["verdict"] for row in self.found.values()} - {Verdict.NOT_RUN}) > 1

    @property
    def unexpected(self) -> bool:
        """True where some environment's verdict is not the declared one."""
        return any(not row["as_declared"] for row in self.found.values())

    @property
    def agreement(self) -> str:
        """The worst agreement among its figures; "" without any."""
        kinds = {figure["agreement"] for figure in self.row["figures"]} if self.row else set()
        return next((kind for kind in AGREEMENTS if kind in kinds), "")


def entries(found: Catalogue, places: Sequence[Environment]) -> list[Entry]:
    """Every claim of the catalogue and of the environments, by id."""
    ids = set(found.claims).union(*(place.rows for place in places))
    return [_entry(id_, found, places) for id_ in sorted(ids)]


def _entry(id_: str, found: Catalogue, places: Sequence[Environment]) -> Entry:
    tests = found.tests.get(id_, [])
    rows = {place.name: place.rows[id_] for place in places if id_ in place.rows}
    return Entry(id_, found.claims.get(id_), tests[0] if tests else None, rows)


def counts(members: Sequence[Entry]) -> dict[str, int]:
    """How many of the entries have each state, in the order of the verdicts; states that none has are left out."""
    numbers: dict[str, int] = {state: sum(one.state == state for one in members) for state in STATES}
    return {state: number for state, number in numbers.items() if number}
