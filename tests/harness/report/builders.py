"""Ledgers and sites with sane defaults, small ones written by hand and a large one made of the reference ledger."""

import copy
import json
from dataclasses import replace
from pathlib import Path

from runtwice import catalogue, ledger
from runtwice.catalogue import Catalogue
from runtwice.report.site import write_site
from tests.harness.builders import a_claim, a_row

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "reports" / "xeon-2-cores" / "itl.json"


def a_ledger(
    *rows,
    name="a.json",
    created="2026-01-01T00:00:00+00:00",
    brand="A(R) Processor",
    python="3.11.7",
    cores=2,
    variables=None,
):
    """A finished ledger with these rows."""
    environment = {"python": python, "cores": cores, "variables": variables or {}}
    ids = [row["id"] for row in rows]
    document = ledger.header({"cpu": {"brand_raw": brand}}, {"id": "0" * 40}, environment, ids, [], "0.1")
    document["claims"].update(created=created, partial=False, rows=list(rows))
    return ledger.Ledger(Path(name), document)


def with_libraries(row, **versions):
    """The row of an experiment that rests on these libraries."""
    return {**row, "fingerprint": {"hash": "0" * 64, "code": "", "settings": {}, "distributions": versions}}


def claims_of(*claims):
    """A catalogue of these claims, without tests."""
    return Catalogue({one.id: one for one in claims}, {})


def a_site(tmp_path, *ledgers, found=None, root=None, title=""):
    """The pages of some ledgers by name, and what writing them said."""
    known = found or claims_of(a_claim("shop.cheap"))
    site = write_site(ledgers or [a_ledger(a_row())], known, root or tmp_path / "claims", tmp_path / "site", title)
    return {path.name: path.read_text(encoding="utf-8") for path in site.pages}, site


def many(number):
    """A ledger and a catalogue of so many claims: the reference's, again and again under other topics' names."""
    real, known = ledger.read(REFERENCE), catalogue.read(ROOT / "claims")
    rows, claims, tests = [], {}, {}
    for i in range(number):
        row = real.block["rows"][i % len(real.block["rows"])]
        topic = f"topic{i // len(real.block['rows'])}"
        id_ = f"{topic}.{row['id'].partition('.')[2]}"
        rows.append({**copy.deepcopy(row), "id": id_})
        claims[id_] = replace(known.claims[row["id"]], id=id_)
        tests[id_] = known.tests[row["id"]]
    document = json.loads(json.dumps(real.document))
    document["claims"].update(rows=rows, selection=[row["id"] for row in rows])
    return ledger.Ledger(Path("many.json"), document), Catalogue(claims, tests)
