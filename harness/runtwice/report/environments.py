"""Which ledgers were measured in one environment, and what to call it.

Two ledgers belong to one environment where processor and what NumPy may use of it, cores, GPUs, operating system and
Python are the same and no library that a result rests on has two versions. Of a claim that several of them judged, the
latest row stands; one that was not run displaces none that was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtwice import circumstances
from runtwice.ledger import Ledger
from runtwice.verdict import Verdict

Row = Mapping[str, Any]


@dataclass
class Environment:
    """One machine with one set of libraries, and what was found there."""

    ledgers: list[Ledger]
    name: str = ""
    rows: dict[str, Row] = field(default_factory=dict)
    sources: dict[str, Ledger] = field(default_factory=dict)

    @property
    def latest(self) -> Ledger:
        """The ledger that was written last."""
        return max(self.ledgers, key=_created)

    @property
    def libraries(self) -> dict[str, str]:
        """Version of each library that some result rests on."""
        return {name: version for one in self.ledgers for name, version in sorted(_libraries(one).items())}

    def add(self, ledger: Ledger) -> None:
        """Take the rows of one more ledger, in the order of their dates."""
        for id_, row in ledger.rows.items():
            if id_ not in self.rows or row["verdict"] != Verdict.NOT_RUN or self._unjudged(id_):
                self.rows[id_], self.sources[id_] = row, ledger

    def _unjudged(self, id_: str) -> bool:
        return bool(self.rows[id_]["verdict"] == Verdict.NOT_RUN)


def environments(ledgers: Iterable[Ledger]) -> list[Environment]:
    """The environments of some ledgers, in the order their first ledgers are given, each with a name of its own."""
    found: list[Environment] = []
    for ledger in ledgers:
        home = next((one for one in found if all(_alike(ledger, other) for other in one.ledgers)), None)
        if home is None:
            found.append(Environment([ledger]))
        else:
            home.ledgers.append(ledger)
    for one in found:
        for ledger in sorted(one.ledgers, key=_created):
            one.add(ledger)
    for one, name in zip(found, _names(found)):
        one.name = name
    return found


def _created(ledger: Ledger) -> str:
    return str(ledger.block["created"])


def machine(ledger: Ledger) -> str:
    """Processor, what was withheld of it, cores and GPUs in a few words."""
    about = ledger.block["environment"]
    cpu = ledger.cpu
    brand = re.sub(r"\((R|TM)\)|\bCPU\b|\bProcessor\b|@.*", "", str(cpu.get("brand_raw") or "unknown processor"))
    cores = about.get("cores") or cpu.get("count")
    count = f"{cores} core{'s' if cores != 1 else ''}" if cores else ""
    parts = [" ".join(brand.split()), count, circumstances.withheld(ledger)]
    return ", ".join([*filter(None, parts), *(about.get("gpus") or [])])


def python(ledger: Ledger) -> str:
    """The version of Python."""
    return str(ledger.block["environment"].get("python") or "unknown")


def _alike(one: Ledger, other: Ledger) -> bool:
    if (machine(one), python(one), _system(one)) != (machine(other), python(other), _system(other)):
        return False
    here, there = _libraries(one), _libraries(other)
    return all(here[name] == there[name] for name in here.keys() & there.keys())


def _system(ledger: Ledger) -> str:
    info = ledger.document.get("machine_info") or {}
    return f"{info.get('system', '')} {info.get('machine', '')}"


def _libraries(ledger: Ledger) -> dict[str, str]:
    """What the fingerprints name, with its version; the interpreter's own modules are not among them."""
    found: dict[str, str] = {}
    for row in ledger.block["rows"]:
        found.update(row["fingerprint"].get("distributions") or {})
    return found


def _names(found: Sequence[Environment]) -> list[str]:
    """Machine and Python; where two would be called the same, the libraries that differ, then a number."""
    plain = [f"{machine(one.latest)}, Python {python(one.latest)}" for one in found]
    full = []
    for i, name in enumerate(plain):
        alike = [one for one, other in zip(found, plain) if other == name]
        full.append(", ".join([name, *_apart(found[i], alike)]))
    return [f"{name} ({full[: i + 1].count(name)})" if full.count(name) > 1 else name for i, name in enumerate(full)]


def _apart(own: Environment, alike: Sequence[Environment]) -> list[str]:
    """`numpy 2.4.6` for each library of `own` that another has in another version; three at most."""
    libraries = own.libraries
    others = [one.libraries for one in alike if one is not own]
    differ = [name for name in libraries if any(one.get(name, libraries[name]) != libraries[name] for one in others)]
    return [f"{name} {libraries[name]}" for name in differ[:3]]
