"""Takes a confirmed change into the reference ledger, and writes the declaration that goes with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runtwice import circumstances, terminal, whole
from runtwice.compare import changes_between
from runtwice.errors import LedgerError, UnknownClaim
from runtwice.ledger import Ledger, finite
from runtwice.row import is_noisy
from runtwice.verdict import Verdict


@dataclass(frozen=True)
class Accepted:
    """One claim taken over: what to paste above its test, and what it replaces in the reference."""

    id: str
    declaration: str
    before: str
    after: str


def accept(ids: Iterable[str], source: Ledger, reference: Ledger, condition: str = "") -> list[Accepted]:
    """Move the rows of some claims from one ledger into another, which is written anew by rename.

    Args:
        ids: The claims.
        source: Where they were judged.
        reference: The ledger that later runs are compared with.
        condition: Where the new verdict is true, such as `scikit-learn>=1.9`; "" for everywhere.

    Raises:
        UnknownClaim: `source` has no such row.
        LedgerError: it was not judged there, the two are of different machines, or nothing can be written.
    """
    around = circumstances.between(reference, source)
    if not (around.same_machine and around.same_processor):
        raise LedgerError(
            f"{source.path} and {reference.path} are of different machines or processor features; "
            "accept a ledger of the machine the reference stands for"
        )
    rows, old_rows = source.rows, reference.rows
    taken = [_judged(source, rows, id_) for id_ in dict.fromkeys(ids)]
    found = [
        Accepted(
            row["id"],
            declaration(row, condition),
            old_rows[row["id"]]["verdict"] if row["id"] in old_rows else "",
            row["verdict"],
        )
        for row in taken
    ]
    _replace(reference, _merged(reference, source, taken))
    return found


def declaration(row: Mapping[str, Any], condition: str = "") -> str:
    """The `@claim(…)` line that declares what a row found."""
    default = Verdict.RECORDED if row.get("kind") == "record" else Verdict.HOLDS
    verdict = row["verdict"]
    if verdict in (default, Verdict.NOT_RUN):
        return f"@claim({_quoted(row['id'])})"
    expect = f"{{{_quoted(condition)}: {_quoted(verdict)}}}" if condition else _quoted(verdict)
    return f"@claim({_quoted(row['id'])}, expect={expect}, because={_quoted(_because(row))})"


def _because(row: Mapping[str, Any]) -> str:
    moved = [terminal.figure(figure) for figure in row["figures"] if figure["agreement"] == "moved"]
    return "; ".join(moved) if moved else str(row["reason"])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _judged(source: Ledger, rows: Mapping[str, Any], id_: str) -> Mapping[str, Any]:
    row: Mapping[str, Any] | None = rows.get(id_)
    if row is None:
        raise UnknownClaim(f"{source.path} has no claim {id_!r}")
    unjudged = row["verdict"] == Verdict.ERROR or (row["verdict"] == Verdict.NOT_RUN and not row["figures"])
    if unjudged or is_noisy(row):
        raise LedgerError(f"{source.path}: {id_} is {row['verdict']} ({row['reason']}); there is nothing to accept")
    return row


def _merged(reference: Ledger, source: Ledger, taken: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The reference's document with the rows taken over, and a note of each."""
    ids = {row["id"] for row in taken}
    old_rows, block = reference.rows, reference.block
    benchmarks = [
        entry
        for ledger, wanted in ((reference, False), (source, True))
        for entry in ledger.document["benchmarks"]
        if (entry["fullname"] in ids) is wanted
    ]
    notes = [_note(old_rows.get(row["id"]), row, source) for row in taken]
    return {
        **reference.document,
        "benchmarks": benchmarks,
        "claims": {
            **block,
            "selection": sorted({*block["selection"], *ids}),
            "rows": [*(row for row in block["rows"] if row["id"] not in ids), *taken],
            "accepted": [*block.get("accepted", []), *notes],
        },
    }


def _note(before: Mapping[str, Any] | None, after: Mapping[str, Any], source: Ledger) -> dict[str, Any]:
    figures = [] if before is None else [one for one in changes_between(before, after) if one.name]
    return {
        "id": after["id"],
        "at": datetime.now(UTC).isoformat(),
        "created": source.block["created"],
        "before": before and before["verdict"],
        "after": after["verdict"],
        "figures": {one.name: [one.before, one.after] for one in figures},
        "distributions": after["fingerprint"].get("distributions", {}),
    }


def _replace(reference: Ledger, document: dict[str, Any]) -> None:
    path: Path = reference.path
    try:
        whole.write(path, json.dumps(finite(document), indent=1, allow_nan=False, ensure_ascii=False))
    except OSError as error:
        raise LedgerError(f"{path}: the reference cannot be written: {error}") from None
