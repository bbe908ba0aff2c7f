"""A ledger as annotations of a GitHub workflow: one line a claim that asks for attention.

The runner reads `::error file=…,line=…,title=…::message` from standard output and shows it beside the line of the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runtwice import foreign, terminal
from runtwice.catalogue import Catalogue
from runtwice.row import is_noisy

Row = Mapping[str, Any]


def annotated(rows: Sequence[Row], found: Catalogue) -> Iterator[str]:
    """An error for what is not as declared, a warning for what a noisy machine left open.

    Args:
        rows: Rows of a ledger.
        found: Where the tests stand; a test that is not there is named without its line.
    """
    for row in rows:
        if not row["as_declared"]:
            yield _annotation("error", row, found)
        elif is_noisy(row):
            yield _annotation("warning", row, found)


def _annotation(level: str, row: Row, found: Catalogue) -> str:
    title = f"{row['id']}: {row['verdict']}, declared {row['declared']}"
    moved = [terminal.figure(one) for one in row["figures"] if one["agreement"] == "moved"]
    where = [f"{key}={_property(value)}" for key, value in (*_place(row, found).items(), ("title", title))]
    return f"::{level} {','.join(where)}::{_message(chr(10).join([row['reason'], *moved]))}"


def _place(row: Row, found: Catalogue) -> dict[str, str]:
    for test in found.tests.get(row["id"], []):
        return {"file": test.path.as_posix(), "line": str(test.line)}
    path = row.get("nodeid", "").partition("::")[0]
    return {"file": path} if path else {}


def _message(text: str) -> str:
    return foreign.visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
