"""Which release of which package changed what a claim concludes.

Between two ledgers, first the smallest set of changed packages that changes it by itself, then for each of them the
release; for one package between two versions, the release at once. Both ends are made and seen to differ before
anything is searched. An outcome that is undecided is tried again, and three times undecided ends the search with what
is known; what does not install or import is skipped and named.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from runtwice import circumstances, releases, target
from runtwice.culprits import Outcome, Place, Undecided, first_bad, smallest, tries_left
from runtwice.errors import BisectError, LedgerError, ReleaseError
from runtwice.ledger import Ledger
from runtwice.oracle import Observation, Oracle, Question, code_digest
from runtwice.sandbox import Recipe, Say, silent
from runtwice.session import LOCAL
from runtwice.target import Target
from runtwice.terminal import shown

TRIES = 3  # of an undecided outcome
FOLDER = LOCAL / "bisect"


@dataclass(frozen=True)
class Found:
    """Where one package turns a claim.

    Attributes:
        package: The package.
        last_good: The last release known to be good; "" where no release was singled out.
        first_bad: The first release known to be bad.
        before: What the claim was with the former.
        after: What it is with the latter.
        skipped: Releases between the two that could not be tried, with the reason.
        undecided: The release at which the search ended undecided; "" where it did not.
        along: What else differs between the two environments.
        context: Other packages that had to be at their later versions for it.
    """

    package: str
    last_good: str
    first_bad: str
    before: str
    after: str
    skipped: Mapping[str, str] = field(default_factory=dict)
    undecided: str = ""
    along: tuple[str, ...] = ()
    context: tuple[str, ...] = ()

    @property
    def is_settled(self) -> bool:
        """True where two neighbouring releases were found."""
        return not self.skipped and not self.undecided


@dataclass(frozen=True)
class Answer:
    """What a bisection found.

    Attributes:
        id: The claim.
        found: A place for each package of the smallest set.
        steps: Runs it took; those of an earlier, interrupted bisection not among them.
        seconds: All it took.
        folder: Where every step's ledger is.
        tried: What was seen, in the order of trying.
    """

    id: str
    found: tuple[Found, ...]
    steps: int
    seconds: float
    folder: Path
    tried: tuple[str, ...] = ()

    @property
    def is_settled(self) -> bool:
        """True where every place is one between neighbouring releases."""
        return all(one.is_settled for one in self.found)

    def sentences(self) -> list[str]:
        """One sentence a package: claim, before and after, package, releases, steps and seconds."""
        cost = f"{self.steps} {'run' if self.steps == 1 else 'runs'}, {self.seconds:.0f} s"
        return [f"{self.id}: {_spelled(one)}; {cost}" for one in self.found]


def _spelled(one: Found) -> str:
    text = (
        f"{one.before} with {one.package} {one.last_good} (last good), "
        f"{one.after} with {one.package} {one.first_bad} (first bad)"
    )
    if one.skipped:
        text += f"; between them could not be tried: {'; '.join(f'{name} {why}' for name, why in one.skipped.items())}"
    if one.undecided:
        text += f"; {TRIES} times undecided with {one.undecided}, where the search ended"
    if one.context:
        text += f"; only together with {', '.join(one.context)}"
    return text + (f"; changed along with it: {', '.join(one.along)}" if one.along else "")


def folder(root: Path, asked: Question, *parts: object) -> Path:
    """Where a bisection is kept: another one for another claim, other ends, and other code."""
    digest = hashlib.sha256(repr((code_digest(root), parts)).encode()).hexdigest()[:12]
    return root / FOLDER / f"{asked.id}-{digest}"


class Bisection:
    """Searches for what changed a claim.

    Args:
        oracle: Runs the claim.
        extra: Requirements every environment must meet besides the claim's own.
        figure: The figure to follow; "" to follow whatever differs.
        pre: Whether pre-releases are tried.
        yanked: Whether releases that the index has withdrawn are tried.
        say: Told each step.
    """

    def __init__(
        self,
        oracle: Oracle,
        extra: Iterable[str] = (),
        figure: str = "",
        *,
        pre: bool = False,
        yanked: bool = False,
        say: Say = silent,
    ) -> None:
        self._oracle = oracle
        self._extra = tuple(extra)
        self._figure = figure
        self._pre = pre
        self._yanked = yanked
        self._say = say
        self._tried: list[str] = []
        self._begin = time.monotonic()

    @property
    def _id(self) -> str:
        return self._oracle.asked.id

    def by_releases(self, package: str, good: str, bad: str, holds: Mapping[str, str]) -> Answer:
        """Find the release of one package.

        Args:
            package: Its name.
            good: A version with which the claim is as it was.
            bad: One with which it is not.
            holds: Versions that everything else is to have.

        Raises:
            ReleaseError: no such package or release, or no index in reach.
            BisectError: an end does not run, or both show the same.
        """
        package = releases.checked_name(package)
        row = releases.between(package, good, bad, pre=self._pre)
        recipe = self._recipe({}, {name: version for name, version in holds.items() if name != package})
        self._say(f"{self._id}: {package} {row[0]} to {row[-1]}, {len(row)} releases")
        return self._answer([self._release(recipe, package, [str(version) for version in row])])

    def by_ledgers(self, old: Ledger, new: Ledger) -> Answer:
        """Find the packages, and of each the release, behind a change between two ledgers.

        Raises:
            LedgerError: the claim is not in both.
            BisectError: nothing changed in them, no package did, or the packages alone do not change it.
        """
        before, after = (_row(ledger, self._id) for ledger in (old, new))
        target.between(before, after, self._figure)
        versions = _Versions(_distributions(old), _distributions(new))
        both = [name for name, pair in circumstances.changed(versions.old, versions.new).items() if None not in pair]
        if not both:
            raise BisectError(f"{self._id}: {_unexplained(old, new)}")
        good = self._seen(self._recipe({}, versions.old, strict=True), f"as in {old.path.name}")
        bad = self._seen(self._recipe({}, versions.new, strict=True), f"as in {new.path.name}")
        followed = self._ends(good, bad, old.path.name, new.path.name)
        imported = (before["fingerprint"].get("distributions") or {}).keys()
        present = {*good.distributions, *bad.distributions}
        candidates = sorted((name for name in both if name in present), key=lambda name: (name not in imported, name))
        self._say(f"{self._id}: changed packages: {', '.join(candidates)}")
        try:
            culprits = smallest(candidates, partial(self._of_subset, followed, versions))
        except Undecided as stopped:
            raise BisectError(f"{self._id}: {TRIES} times undecided with {stopped} at the later versions") from None
        self._say(f"{self._id}: it takes {' and '.join(culprits)}")
        return self._answer([self._of_culprit(followed, name, culprits, versions) for name in culprits])

    def _of_subset(self, followed: Target, versions: _Versions, chosen: frozenset[str]) -> Outcome:
        found, _ = self._decided(followed, self._mixed(versions, chosen), f"later {', '.join(sorted(chosen))}")
        if found is Outcome.UNDECIDED:
            raise Undecided(", ".join(sorted(chosen)))
        return found

    def _of_culprit(self, followed: Target, package: str, culprits: list[str], versions: _Versions) -> Found:
        """The release of one package of the smallest set, the others of it at their later versions."""
        others = frozenset(culprits) - {package}
        context = tuple(f"{name} {versions.new[name]}" for name in sorted(others))
        old, new = versions.old[package], versions.new[package]
        try:
            row = releases.between(package, old, new, pre=self._pre)
            found = self._release(self._mixed(versions, others), package, [str(version) for version in row])
        except (BisectError, ReleaseError) as error:
            before, after = followed.of(followed.good), followed.of(followed.bad)
            return Found(package, old, new, before, after, {"the releases": f"({error})"}, context=context)
        return replace(found, context=context)

    def _release(self, recipe: Recipe, package: str, row: list[str]) -> Found:
        """Find the release of `package` in `row`, in environments that are otherwise as the recipe says."""
        recipe, good, bad = self._two_ends(recipe, package, row)
        followed = self._ends(good, bad, f"{package} {row[0]}", f"{package} {row[-1]}")
        seen: dict[int, Observation] = {0: good, len(row) - 1: bad}
        faults: dict[int, str] = {}

        def outcome(index: int, left: int) -> Outcome:
            label = f"{package} {row[index]}"
            self._say(f"{label} (then at most {left} more)")
            if not self._yanked and releases.is_yanked(package, row[index]):
                faults[index] = "was withdrawn"
                return Outcome.SKIPPED
            found, seen[index] = self._decided(followed, _at(recipe, package, row[index]), label)
            faults[index] = _fault(seen[index])
            return found

        self._say(f"releases between the ends: {len(row) - 2}, at most {tries_left(len(row) - 2)} more steps")
        place = first_bad(len(row), outcome)
        return self._found(followed, package, row, place, seen, faults)

    def _two_ends(self, recipe: Recipe, package: str, row: list[str]) -> tuple[Recipe, Observation, Observation]:
        """Both ends, with everything else held at what both of them can have beside them, where there is such."""
        first, last = row[0], row[-1]
        good = self._seen(_at(recipe, package, first), f"{package} {first}")
        if good.held == "none" and good.row is not None:
            recipe = _held_at(recipe, good, package)
        bad = self._seen(_at(recipe, package, last), f"{package} {last}")
        if bad.held == "none" and bad.row is not None and good.held != "none":
            other = _held_at(recipe, bad, package)
            again = self._seen(_at(other, package, first), f"{package} {first}")
            if again.held == "all" and again.row is not None:
                return other, again, self._seen(_at(other, package, last), f"{package} {last}")
        return recipe, good, bad

    def _found(
        self,
        followed: Target,
        package: str,
        row: list[str],
        place: Place,
        seen: Mapping[int, Observation],
        faults: Mapping[int, str],
    ) -> Found:
        before, after = seen[place.last_good], seen[place.first_bad]
        changed = circumstances.changed(before.distributions, after.distributions)
        return Found(
            package=package,
            last_good=row[place.last_good],
            first_bad=row[place.first_bad],
            before=followed.of(before.row or {}),
            after=followed.of(after.row or {}),
            skipped={row[index]: faults[index] for index in place.skipped},
            undecided="" if place.undecided is None else row[place.undecided],
            along=tuple(circumstances.spelled(name, pair) for name, pair in changed.items() if name != package),
        )

    def _decided(self, followed: Target, recipe: Recipe, label: str) -> tuple[Outcome, Observation]:
        """The outcome of an environment and what was seen there; one that is undecided is tried again."""
        for attempt in range(1, TRIES + 1):
            seen = self._seen(recipe, label, attempt)
            found = followed.outcome(seen)
            if found is not Outcome.UNDECIDED:
                break
        return found, seen

    def _seen(self, recipe: Recipe, label: str, attempt: int = 1) -> Observation:
        found = self._oracle.observe(recipe, attempt)
        said = found.fault if found.row is None else _described(found.row)
        self._tried.append(f"{label}: {said}")
        self._say(f"  {self._tried[-1]}")
        return found

    def _ends(self, good: Observation, bad: Observation, *names: str) -> Target:
        """What differs between the two ends, both of which must have run."""
        for end, name in zip((good, bad), names, strict=True):
            if end.row is None:
                raise BisectError(f"{self._id} cannot be asked with {name}: it {end.fault}")
            if fault := _unfit(end):
                raise BisectError(f"{self._id} with {name} is {fault}")
        one, other = good.row or {}, bad.row or {}
        if target.does_not_import(one) and not target.does_not_import(other):
            raise BisectError(
                f"{self._id} cannot be asked with {names[0]}: {one['reason']}; "
                "it may lack a bound that --with can give, such as --with 'numpy<2'"
            )
        return target.between(one, other, self._figure)

    def _recipe(self, pins: Mapping[str, str], holds: Mapping[str, str], *, strict: bool = False) -> Recipe:
        roots = (*self._oracle.asked.requirements, *self._extra)
        named = {canonicalize_name(Requirement(extra).name) for extra in self._extra}
        return Recipe(
            roots,
            pins,
            {name: version for name, version in holds.items() if name not in {*circumstances.UNREMARKABLE, *named}},
            strict,
        )

    def _mixed(self, versions: _Versions, later: frozenset[str]) -> Recipe:
        """The environment of the earlier ledger with some packages at the later one's versions.

        What only the later ledger has comes along where it is asked for.
        """
        pins = {name: versions.new[name] for name in later}
        return self._recipe(pins, {**versions.new, **versions.old, **pins}, strict=True)

    def _answer(self, found: list[Found]) -> Answer:
        seconds = time.monotonic() - self._begin
        return Answer(self._id, tuple(found), self._oracle.runs, seconds, self._oracle.folder, tuple(self._tried))


@dataclass(frozen=True)
class _Versions:
    """What the environments of two ledgers contain."""

    old: Mapping[str, str]
    new: Mapping[str, str]


def _at(recipe: Recipe, package: str, version: str) -> Recipe:
    return replace(recipe, pins={**recipe.pins, package: version})


def _held_at(recipe: Recipe, seen: Observation, package: str) -> Recipe:
    """The recipe with everything but one package held at what an environment turned out to contain."""
    return replace(recipe, holds={name: version for name, version in seen.distributions.items() if name != package})


def _described(row: Mapping[str, Any]) -> str:
    figures = ", ".join(f"{one['name']} {shown(one['measured'])}" for one in row["figures"])
    return f"{row['verdict']} ({figures or row['reason']})"


def _fault(seen: Observation) -> str:
    return seen.fault if seen.row is None else str(seen.row["reason"])


def _unfit(end: Observation) -> str:
    """Why an end says nothing; "" where it does. A crash may be what is looked for."""
    row = end.row or {}
    return f"{row['verdict']}: {row['reason']}" if row["verdict"] == "not run" and not row["figures"] else ""


def _row(ledger: Ledger, id_: str) -> Mapping[str, Any]:
    row = ledger.rows.get(id_)
    if row is None:
        raise LedgerError(f"{ledger.path} has no claim {id_!r}")
    return row


def _distributions(ledger: Ledger) -> dict[str, str]:
    found: dict[str, str] = dict(ledger.block["environment"].get("distributions") or {})
    return {name: version for name, version in found.items() if name not in circumstances.UNREMARKABLE}


def _unexplained(old: Ledger, new: Ledger) -> str:
    """Why no package is to be searched: none changed, so that something else did."""
    around = circumstances.between(old, new)
    if not around.same_machine:
        return "the two ledgers are of different machines and have the same packages; no package is behind it"
    if not around.same_processor:
        return "the packages are the same, the processor features NumPy uses are not; no package is behind it"
    return "the packages are the same in both ledgers; no package is behind it"
