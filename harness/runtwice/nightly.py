"""The newest releases, every night: run the claims, say what changed since the last good night, and what did it.

A night's folder is written whole or not at all. The ledger of a night without a confirmed break becomes the last good
one; after a break it stays where it was, until the break is gone or accepted.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from runtwice import (
    catalogue,
    circumstances,
    collection,
    comparison_formats,
    environment,
    foreign,
    ledger,
    oracle,
    whole,
)
from runtwice.bisect import Answer, Bisection
from runtwice.claim import RESOURCES, Claim
from runtwice.compare import Change, Comparison, compare
from runtwice.confirm import Confirmation, Side, confirm
from runtwice.errors import LedgerError, RuntwiceError, UnknownClaim
from runtwice.ledger import Ledger, finite
from runtwice.oracle import Observation, Oracle, Question
from runtwice.sandbox import Builder, Recipe, Sandbox, Say, core_requirements, silent

FOLDER = Path("reports", "nightly")
GOOD = FOLDER / "good.json"
# Left where it is unless asked for: its builds are large, and its index is another one on many machines.
PINNED = "torch"
RUN_TIMEOUT_S = 6 * 3600.0

Page = Callable[[Ledger, Path, Path], None]


@dataclass(frozen=True)
class Selection:
    """Which claims a night runs."""

    tier: str = "standard"
    topics: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()

    def of(self, claims: Mapping[str, Claim]) -> list[Claim]:
        """The claims that are selected and not exempt.

        Raises:
            UnknownClaim: there is none.
        """
        tiers = collection.chosen_tiers(self.tier)
        found = [
            claim
            for claim in claims.values()
            if not claim.exempt and collection.selected(claim, tiers, self.topics, self.globs)
        ]
        if not found:
            raise UnknownClaim("no claim is selected; `runtwice list` shows all")
        return found

    def arguments(self, root: Path) -> list[str]:
        """The same for pytest."""
        topics = [argument for topic in self.topics for argument in ("--topic", topic)]
        globs = [argument for glob in self.globs for argument in ("--claim", glob)]
        return [str(root / "claims"), "--tier", self.tier, *topics, *globs]


@dataclass(frozen=True)
class Night:
    """What one night found.

    Attributes:
        folder: Its report.
        comparison: With the last good ledger; None on the first night.
        confirmations: Of every suspect.
        answers: Of the bisections, by claim; a text where one could not be answered.
        seconds: All it took.
    """

    folder: Path
    comparison: Comparison | None
    confirmations: tuple[Confirmation, ...] = ()
    answers: Mapping[str, Answer | str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def broken(self) -> list[str]:
        """The claims whose change is confirmed."""
        return [one.id for one in self.confirmations if one.confirmed]


class Nightly:
    """Runs a night.

    Args:
        root: The project's folder.
        selection: Which claims.
        out: Where nights are kept.
        reference: The last good ledger; None for the one in `out`, if there is one.
        torch: Whether torch moves too.
        bisections: How many breaks are bisected at most.
        builder: Builds the environments.
        page: Writes the pages of a ledger into a folder, given that of the claims; None where nothing draws one.
        say: Told what is going on.
    """

    def __init__(
        self,
        root: Path,
        selection: Selection,
        out: Path,
        reference: Path | None = None,
        *,
        torch: bool = False,
        bisections: int = 5,
        builder: Builder | None = None,
        page: Page | None = None,
        say: Say = silent,
    ) -> None:
        self._root = root.absolute()
        self._selection = selection
        self._out = out.absolute()
        self._reference = reference or (out / GOOD.name if (out / GOOD.name).exists() else None)
        self._torch = torch
        self._bisections = bisections
        self._builder = builder or Builder(say=say)
        self._page = page
        self._say = say
        self._oracles: dict[str, Oracle] = {}

    def run(self) -> Night:
        """Run the night and write its report.

        Raises:
            RuntwiceError: no claim is selected, the reference cannot be read, the environment cannot be built, or the
                run left no ledger. Nothing is written then.
        """
        begin = time.monotonic()
        found = catalogue.read(self._root / "claims")
        claims = self._selection.of(found.claims)
        reference = ledger.read(self._reference) if self._reference else None
        if reference is not None and not set(reference.rows) & {claim.id for claim in claims}:
            raise LedgerError(f"{reference.path} has none of tonight's claims; there is nothing to compare them with")
        needs = sorted({need for claim in claims for need in claim.needs if need not in RESOURCES})
        target = _free(self._out, datetime.now(UTC))
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            _made(partial)
            tonight = self._measured(self._sandbox(needs, reference), len(claims), partial / "ledger.json")
            night = self._judged(target, partial, found, needs, reference, tonight)
            self._write(partial, night, tonight, time.monotonic() - begin)
            partial.replace(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self._move_forward(night, reference, target / "ledger.json")
        return night

    def _sandbox(self, needs: Iterable[str], reference: Ledger | None) -> Sandbox:
        """A fresh environment with the newest releases of what the claims need."""
        pins: dict[str, str] = {}
        roots = [*core_requirements(), *needs]
        if not self._torch and any(_name(root) == PINNED for root in roots):
            known = reference.block["environment"].get("distributions") or {} if reference else {}
            version = known.get(PINNED) or environment.distributions().get(PINNED)
            roots = [root for root in roots if _name(root) != PINNED]
            pins = {PINNED: version} if version else {}
        self._say("building an environment of the newest releases")
        return self._builder.build(Recipe(tuple(roots), pins, label=datetime.now(UTC).isoformat()))

    def _measured(self, sandbox: Sandbox, claims: int, path: Path) -> Ledger:
        self._say(f"running {claims} claims")
        done = oracle.run_claims(sandbox, self._root, self._selection.arguments(self._root), path, RUN_TIMEOUT_S)
        try:
            return ledger.read(path)
        except LedgerError:
            raise RuntwiceError(f"the run left no ledger; it said: {oracle.last_words(done)}") from None

    def _judged(
        self,
        target: Path,
        partial: Path,
        found: catalogue.Catalogue,
        needs: list[str],
        reference: Ledger | None,
        tonight: Ledger,
    ) -> Night:
        if reference is None:
            return Night(target, None)
        comparison = compare(reference, tonight)
        suspects: dict[str, list[Change]] = {}
        for change in comparison.counted:
            if not change.experiment_changed:
                suspects.setdefault(change.id, []).append(change)
        self._say(f"{len(suspects)} suspects")
        old, new = (_recipe(needs, one) for one in (reference, tonight))

        def rerun(side: Side, id_: str, attempt: int, first_seed: int) -> Observation:
            asked = self._oracle(found, id_, needs, partial)
            return asked.observe(old if side == "old" else new, attempt, first_seed=first_seed)

        confirmations = confirm(suspects, reference.rows, tonight.rows, rerun)
        broken = [one.id for one in confirmations if one.confirmed]
        answers = {
            id_: self._bisected(found, id_, needs, partial, reference, tonight) for id_ in broken[: self._bisections]
        }
        return Night(target, comparison, tuple(confirmations), answers)

    def _oracle(self, found: catalogue.Catalogue, id_: str, needs: list[str], partial: Path) -> Oracle:
        if id_ not in self._oracles:
            asked = oracle.question(self._root, found, id_)
            # Every claim is asked in environments with what all of them need, so that each is built once.
            shared = Question(asked.root, asked.id, asked.module, asked.tier, tuple(needs))
            self._oracles[id_] = Oracle(shared, self._builder, partial / "steps" / id_, self._say)
        return self._oracles[id_]

    def _bisected(
        self, found: catalogue.Catalogue, id_: str, needs: list[str], partial: Path, old: Ledger, new: Ledger
    ) -> Answer | str:
        try:
            return Bisection(self._oracle(found, id_, needs, partial), say=self._say).by_ledgers(old, new)
        except RuntwiceError as error:
            return str(error)

    def _write(self, folder: Path, night: Night, tonight: Ledger, seconds: float) -> None:
        (folder / "summary.md").write_text(summary(night, tonight, seconds), encoding="utf-8")
        (folder / "night.json").write_text(_dumped(report_of(night)), encoding="utf-8")
        if night.comparison is not None:
            (folder / "diff.json").write_text(comparison_formats.as_json(night.comparison), encoding="utf-8")
        if self._page is not None:
            self._draw(self._page, tonight, folder)

    def _draw(self, page: Page, tonight: Ledger, folder: Path) -> None:
        """The pages; a night of hours is not lost over a plot that cannot be drawn."""
        try:
            page(tonight, folder, self._root / "claims")
        except (RuntwiceError, OSError, ValueError) as error:
            self._say(f"no pages: {error}")

    def _move_forward(self, night: Night, reference: Ledger | None, path: Path) -> None:
        """The ledger becomes the last good one, unless something broke or it has fewer claims than the last had."""
        good = self._out / GOOD.name
        tonight = ledger.read(path)
        if night.broken or tonight.partial:
            return
        if reference is not None and not set(reference.rows) <= set(tonight.rows):
            self._say(f"{good} stays: it has claims that were not run tonight")
            return
        whole.write(good, path.read_text(encoding="utf-8"))


def summary(night: Night, tonight: Ledger, seconds: float) -> str:
    """The night on one page, in Markdown."""
    rows = list(tonight.rows.values())
    unexpected = [row["id"] for row in rows if not row["as_declared"]]
    lines = [
        f"# {night.folder.name}",
        "",
        f"{len(rows)} claims ({tonight.completeness}), {len(unexpected)} not as declared, {seconds:.0f} s, "
        f"Python {tonight.block['environment'].get('python') or 'unknown'}.",
        "",
    ]
    if night.comparison is None:
        return "\n".join([*lines, "There is no last good ledger to compare with; this is the first.", ""])
    lines += ["## Breaks", ""]
    lines += [*_breaks(night)] or ["None confirmed."]
    doubtful = [one for one in night.confirmations if not one.confirmed]
    if doubtful:
        lines += [
            "",
            "## Not confirmed",
            "",
            *(f"- {foreign.code(one.id)}: {foreign.markdown(one.how)}" for one in doubtful),
        ]
    lines += ["", f"## Since the last good ledger ({night.comparison.old.block['created'][:10]})", ""]
    return "\n".join([*lines, comparison_formats.markdown(night.comparison), ""])


def _breaks(night: Night) -> list[str]:
    lines = []
    for one in night.confirmations:
        if not one.confirmed:
            continue
        answer = night.answers.get(one.id)
        sentences = answer.sentences() if isinstance(answer, Answer) else [f"{one.id}: {answer or 'not bisected'}"]
        lines += [f"- {foreign.markdown(f'{sentence} (confirmed: {one.how})')}" for sentence in sentences]
    if lines:
        good = Path(os.path.relpath(night.folder.parent / GOOD.name))
        options = f"--ledger {os.path.relpath(night.folder / 'ledger.json')}"
        options += "" if good == GOOD else f" --reference {good}"
        lines += [
            "",
            f"Where this is how it is from now on: `runtwice accept {' '.join(night.broken)} {options}`",
        ]
    return lines


def report_of(night: Night) -> dict[str, Any]:
    """The night for other tools."""
    return {
        "night": night.folder.name,
        "broken": night.broken,
        "confirmations": [vars(one) for one in night.confirmations],
        "bisected": {
            id_: answer.sentences() if isinstance(answer, Answer) else [answer] for id_, answer in night.answers.items()
        },
    }


def _recipe(needs: Iterable[str], found: Ledger) -> Recipe:
    """The environment of a ledger, as far as its claims need it."""
    holds = dict(found.block["environment"].get("distributions") or {})
    holds = {name: version for name, version in holds.items() if name not in circumstances.UNREMARKABLE}
    return Recipe((*core_requirements(), *needs), {}, holds, strict=True)


def _made(folder: Path) -> None:
    """Make a folder; where that cannot be it is better known before the claims have run for hours."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise RuntwiceError(f"{folder.parent}: no night can be kept there: {error}") from None


def _name(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)


def _free(out: Path, now: datetime) -> Path:
    names = (f"{now:%Y-%m-%d}{suffix}" for suffix in ("", *(f"-{i}" for i in range(2, 1000))))
    return next(out / name for name in names if not (out / name).exists())


def _dumped(value: Any) -> str:
    return json.dumps(finite(value), indent=1, ensure_ascii=False)
