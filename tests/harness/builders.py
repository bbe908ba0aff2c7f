"""Builders with sane defaults: a claim, evidence for it, a row, and a project of claims to run the real plugin on."""

import inspect
import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from runtwice.claim import Claim, Declaration
from runtwice.evidence import Evidence
from runtwice.figure import Tolerance, parse
from runtwice.row import build
from runtwice.verdict import Conclusion, Verdict

SETTINGS = """
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "--strict-markers"]
pythonpath = ["."]
filterwarnings = ["error"]
"""


def a_claim(claim_id="shop.cheap", *, printed=None, required=None, tolerance=None, **fields):
    """A claim whose figures are written as its data file would write them."""
    defaults = {"says": "It is cheap.", "kind": "identity", "post": "a-post", "tier": "fast"}
    return Claim(
        id=claim_id,
        printed={name: parse(value, name) for name, value in (printed or {}).items()},
        required={name: parse(value, name) for name, value in (required or {}).items()},
        tolerance={name: Tolerance("a reason", **bounds) for name, bounds in (tolerance or {}).items()},
        **{**defaults, **fields},
    )


def evidence_for(**fields):
    """Evidence of a claim with these fields."""
    return Evidence(a_claim(**fields))


def a_row(claim_id="shop.cheap", verdict=Verdict.HOLDS, reason="a reason", declared=Verdict.HOLDS, **measured):
    """A claim's row in a ledger."""
    return build(
        a_claim(claim_id), Declaration(claim_id), Verdict(declared), Conclusion(Verdict(verdict), reason), **measured
    )


@dataclass
class Run:
    """What one run of a project printed and kept."""

    code: int
    out: str
    ledger: Path

    def __post_init__(self):
        """Read the ledger before another run replaces it."""
        self.document = json.loads(self.ledger.read_text(encoding="utf-8")) if self.ledger.exists() else None

    @property
    def rows(self):
        """The rows of the ledger by id; none where nothing was written."""
        return {row["id"]: row for row in self.document["claims"]["rows"]} if self.document else {}

    @property
    def verdicts(self):
        return {id_: row["verdict"] for id_, row in self.rows.items()}

    @property
    def row(self):
        """The only row."""
        (row,) = self.rows.values()
        return row


class Project:
    """A folder of claims, written piece by piece, and runs of the plugin on it."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.root = pytester.path
        self.ledger = self.root / "ledger.json"
        self.write("pyproject.toml", SETTINGS)

    def write(self, path, text):
        """Write a file below the root."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
        return target

    def claim(self, name="cheap", body="evidence.identical(1, 1)", *, topic="shop", data="", declared="", **more):
        """Add a row to a topic's data, and its test: `body` with the fixtures `uses` beside `evidence`.

        Args:
            name: The claim's name in its topic.
            body: The test's body.
            topic: The topic.
            data: Further lines of the row.
            declared: Further arguments of `@claim`.
            more: `module`, `kind`, `tier`, `uses`, and `above`, lines before the test.
        """
        row = f'[{name}]\npost = "a-post"\nsays = "It is {name}."\n'
        row += f'kind = "{more.get("kind", "identity")}"\ntier = "{more.get("tier", "fast")}"\n'
        self._append(f"claims/{topic}/claims.toml", row + textwrap.dedent(data))
        test = textwrap.dedent(more.get("above", ""))
        test += f'@claim("{topic}.{name}"{", " + declared if declared else ""})\n'
        test += f"def test_{name.replace('-', '_').replace('.', '_')}(evidence{more.get('uses', '')}):\n"
        test += textwrap.indent(textwrap.dedent(body).strip() or "pass", "    ")
        self._append(f"claims/{topic}/{more.get('module', f'test_{topic}.py')}", test, "from runtwice import claim\n")
        return self

    def _append(self, path, text, head=""):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        before = target.read_text(encoding="utf-8") if target.exists() else head
        target.write_text(before + text + "\n\n", encoding="utf-8")

    def run(self, *arguments, apart=False, target="claims/"):
        """Run the plugin in this process, or `apart` in one of its own, and read its ledger."""
        self.ledger.unlink(missing_ok=True)
        result = self.run_pytest(target, f"--ledger={self.ledger}", *arguments, apart=apart)
        return Run(int(result.ret), "\n".join([*result.outlines, *result.errlines]), self.ledger)

    def run_pytest(self, *arguments, apart=False):
        """Run pytest on the project, whose rooms are its own and not those of this repository."""
        if apart:
            return self.pytester.runpytest_subprocess(*arguments)
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in sys.modules if name.partition(".")[0] in ("claims", "implementations")]:
                patch.delitem(sys.modules, name)
            # What `inspect` remembers of their files would confuse it about the real ones.
            patch.setattr(inspect, "_filesbymodname", {})
            return self.pytester.runpytest_inprocess(*arguments)
