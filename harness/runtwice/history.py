"""Claims over time: every ledger of a folder in order, machine by machine, and what changed from one to the next.

A change is one that `compare` counts. Beside it stand the packages that changed since the claim was last run there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any

from runtwice import circumstances, foreign, ledger
from runtwice.circumstances import spelled
from runtwice.compare import Change, compare
from runtwice.errors import LedgerError, UnknownClaim
from runtwice.ledger import Ledger

COLUMNS = (
    *("claim", "created", "ledger", "machine", "python", "verdict", "declared"),
    *("figure", "measured", "value", "low", "high", "change", "packages"),
)


@dataclass(frozen=True)
class Entry:
    """One claim in one ledger.

    Attributes:
        id: The claim.
        found: The ledger.
        row: The claim's row in it.
        changes: What counts as changed since the ledger before it that has the claim, on the same machine.
        packages: What of the packages changed since then.
    """

    id: str
    found: Ledger
    row: Mapping[str, Any]
    changes: tuple[Change, ...] = ()
    packages: tuple[str, ...] = ()

    @property
    def created(self) -> str:
        """When the run began, to the second."""
        return str(self.found.block["created"])[:19]


@dataclass(frozen=True)
class History:
    """The claims of a folder of ledgers.

    Attributes:
        entries: By claim, then machine, in the order of time.
        ledgers: Those that were read, oldest first.
        passed_over: Files that are no ledgers.
    """

    entries: tuple[Entry, ...]
    ledgers: tuple[Ledger, ...]
    passed_over: tuple[Path, ...] = field(default=())

    @property
    def changes(self) -> list[Entry]:
        """The entries at which something changed."""
        return [entry for entry in self.entries if entry.changes]


def read(folder: Path, globs: Iterable[str] = ()) -> History:
    """The history of all ledgers below a folder.

    Args:
        folder: Searched with all its folders; JSON files that are no ledgers are passed over.
        globs: Only claims that match one of these; all without any.

    Raises:
        LedgerError: there is no such folder or no ledger in it, or one was cut off.
        UnknownClaim: no claim matches.
    """
    if not folder.is_dir():
        raise LedgerError(f"{folder} is no folder of ledgers")
    ledgers, others = _ledgers(folder)
    if not ledgers:
        raise LedgerError(f"no ledger in {folder}, of {len(others)} JSON files")
    globs = tuple(globs)
    ids = sorted({id_ for one in ledgers for id_ in one.rows if not globs or any(fnmatchcase(id_, g) for g in globs)})
    if not ids:
        raise UnknownClaim(f"no claim in {folder} matches {' or '.join(globs)}")
    machines: dict[str, list[Ledger]] = {}
    for one in ledgers:
        machines.setdefault(machine(one), []).append(one)
    entries = [entry for name in sorted(machines) for entry in _of_machine(machines[name], frozenset(ids))]
    entries.sort(key=lambda entry: (entry.id, machine(entry.found)))
    return History(tuple(entries), tuple(ledgers), tuple(others))


def machine(found: Ledger) -> str:
    """The machine of a run and what it made of its processor: only runs of one of these follow each other."""
    return ", ".join(filter(None, [circumstances.describe(found), circumstances.withheld(found)]))


def _ledgers(folder: Path) -> tuple[list[Ledger], list[Path]]:
    found, others = [], []
    for path in sorted(folder.rglob("*.json")):
        if any(part.startswith(".") or part == "steps" for part in path.relative_to(folder).parts):
            continue
        try:
            found.append(ledger.read(path))
        except LedgerError as error:
            if "is not a runtwice ledger" not in str(error):
                raise
            others.append(path)
    return sorted(found, key=lambda one: str(one.block["created"])), others


def _of_machine(ledgers: list[Ledger], ids: frozenset[str]) -> Iterator[Entry]:
    """The entries of one machine: every ledger beside those that had its claims last."""
    last: dict[str, Ledger] = {}
    for found in ledgers:
        rows = found.rows
        chosen = [id_ for id_ in rows if id_ in ids]
        before = {last[id_].path: last[id_] for id_ in chosen if id_ in last}
        changes: dict[tuple[Path, str], list[Change]] = {}
        packages: dict[Path, tuple[str, ...]] = {}
        for path, earlier in before.items():
            comparison = compare(earlier, found)
            packages[path] = tuple(spelled(*item) for item in comparison.around.packages.items())
            for change in comparison.counted:
                changes.setdefault((path, change.id), []).append(change)
        for id_ in chosen:
            path = last[id_].path if id_ in last else Path()
            yield Entry(id_, found, rows[id_], tuple(changes.get((path, id_), ())), packages.get(path, ()))
            last[id_] = found


def write_csv(found: History, file: IO[str]) -> None:
    """One line a claim, ledger and figure; claims without figures have one line a ledger."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(COLUMNS)
    for entry in found.entries:
        row, statistic = entry.row, entry.row["statistic"] or {}
        changed = "; ".join(f"{one.name or one.kind.value}: {one.before} → {one.after}" for one in entry.changes)
        environment = entry.found.block["environment"]
        head = [entry.id, entry.created, entry.found.path.name, machine(entry.found), environment.get("python", "")]
        tail = [statistic.get("value"), statistic.get("low"), statistic.get("high"), changed, "; ".join(entry.packages)]
        for figure in row["figures"] or [{"name": "", "measured": ""}]:
            values = (*head, row["verdict"], row["declared"], figure["name"], figure["measured"], *tail)
            out.writerow(map(foreign.cell, values))
