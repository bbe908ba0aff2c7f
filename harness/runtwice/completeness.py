"""Whether every claim of the inventory is tested or exempt, and every test belongs to a claim of the inventory."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from runtwice.catalogue import Catalogue
from runtwice.errors import ClaimError
from runtwice.shape import listing, mapping, table, text

INVENTORY_FILE = "inventory.toml"
_SHAPE = table({}, {"ids": mapping(listing(text)), "pending": listing(text)})


@dataclass(frozen=True)
class Inventory:
    """All ids by topic, and patterns of those that are still to come."""

    ids: Mapping[str, Sequence[str]]
    pending: Sequence[str]

    def is_pending(self, claim_id: str) -> bool:
        """True where the id's test is still to be written."""
        return any(fnmatchcase(claim_id, pattern) for pattern in self.pending)


@dataclass(frozen=True)
class Coverage:
    """How the ids of one topic are covered; each id stands in exactly one of the lists but `unknown`.

    Attributes:
        tested: Has a test and a row.
        exempt: Has a row that says why there is no test.
        pending: Still to be written, and listed so.
        missing: None of these.
        unknown: A row or test whose id the inventory lacks.
    """

    topic: str
    tested: list[str]
    exempt: list[str]
    pending: list[str]
    missing: list[str]
    unknown: list[str]


def read_inventory(root: Path) -> Inventory:
    """The inventory in the `claims/` folder at `root`.

    Raises:
        ClaimError: it is missing or malformed.
    """
    path = root / INVENTORY_FILE
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ClaimError(f"{path} does not exist; it lists, topic by topic, the ids that need a test") from None
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimError(f"{path}: cannot be read: {error}") from None
    if fault := _SHAPE(document, ""):
        raise ClaimError(f"{path}: {fault}")
    return Inventory(document.get("ids", {}), document.get("pending", []))


def coverage(inventory: Inventory, catalogue: Catalogue) -> list[Coverage]:
    """Coverage of every topic, in the inventory's order; topics the inventory lacks come last."""
    present = {*catalogue.claims, *catalogue.tests}
    topics = [*inventory.ids, *sorted({id_.split(".", 1)[0] for id_ in present} - set(inventory.ids))]
    return [_of_topic(topic, inventory, catalogue) for topic in topics]


def _of_topic(topic: str, inventory: Inventory, catalogue: Catalogue) -> Coverage:
    found = Coverage(topic, [], [], [], [], [])
    for id_ in inventory.ids.get(topic, []):
        claim = catalogue.claims.get(id_)
        if claim is not None and claim.exempt:
            found.exempt.append(id_)
        elif claim is not None and id_ in catalogue.tests:
            found.tested.append(id_)
        elif inventory.is_pending(id_):
            found.pending.append(id_)
        else:
            found.missing.append(id_)
    known = set(inventory.ids.get(topic, []))
    present = {id_ for id_ in (*catalogue.claims, *catalogue.tests) if id_.split(".", 1)[0] == topic}
    found.unknown.extend(sorted(present - known))
    return found
