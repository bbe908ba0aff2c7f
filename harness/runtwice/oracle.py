"""Asks one claim in another environment what it concludes there.

The experiment is the project's own, run by this very harness; only the libraries are the environment's. What was seen
is kept in a journal, so that interrupted work goes on where it was, and each run's ledger stays beside it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import runtwice
from runtwice import ledger
from runtwice.catalogue import Catalogue
from runtwice.claim import RESOURCES
from runtwice.environment import THREAD_VARIABLES
from runtwice.errors import InstallError, LedgerError, RuntwiceError, UnknownClaim
from runtwice.fingerprint import FIRST_PARTY
from runtwice.sandbox import Builder, Recipe, Sandbox, Say, cache_folder, core_requirements, silent

STEP_TIMEOUT_S = 3600.0
# Imported before pytest puts the project's own paths first: a project may hold another release of this package.
_EARLY = "ignore:Module already imported"
_RUNNER = "import sys, runtwice, pytest; sys.exit(pytest.main(sys.argv[1:]))"
_SOURCES = (".py", ".toml", ".csv", ".json")


@dataclass(frozen=True)
class Observation:
    """What a claim showed in one environment.

    Attributes:
        row: Its row; None where it could not be run.
        fault: Why it could not.
        distributions: What the environment contains.
        held: How much of the recipe's holds the environment kept.
        seconds: What building and running took.
        ledger: Where the run's ledger is; "" without one.
    """

    row: Mapping[str, Any] | None
    fault: str = ""
    distributions: Mapping[str, str] = field(default_factory=dict)
    held: str = "all"
    seconds: float = 0.0
    ledger: str = ""


@dataclass(frozen=True)
class Question:
    """One claim of a project: where its test is and what it needs.

    Attributes:
        root: The project's folder.
        id: The claim.
        module: The test's module.
        tier: The claim's tier.
        needs: Requirements of its data beyond what the harness needs.
    """

    root: Path
    id: str
    module: Path
    tier: str
    needs: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """What an environment must contain to run it."""
        return (*core_requirements(), *self.needs)


def question(root: Path, catalogue: Catalogue, id_: str) -> Question:
    """The question that a claim's test answers.

    Raises:
        UnknownClaim: no such claim, or none with a test.
    """
    claim = catalogue.claims.get(id_)
    if claim is None:
        raise UnknownClaim(f"no claim {id_!r}; `runtwice list` shows all")
    tests = catalogue.tests.get(id_, [])
    if claim.exempt or not tests:
        raise UnknownClaim(f"{id_} has no test to ask" + (f": {claim.exempt}" if claim.exempt else ""))
    needs = tuple(need for need in claim.needs if need not in RESOURCES)
    return Question(root.absolute(), id_, tests[0].path.absolute(), claim.tier, needs)


class Oracle:
    """Runs one claim in one environment after another.

    Args:
        asked: The claim.
        builder: Builds the environments.
        folder: Where the journal and the runs' ledgers are kept.
        say: Told what is going on.
    """

    def __init__(self, asked: Question, builder: Builder, folder: Path, say: Say = silent) -> None:
        self.asked = asked
        self.folder = folder
        self.runs = 0
        self._builder = builder
        self._say = say
        self._kept = dict(_journalled(self._journal))

    @property
    def _journal(self) -> Path:
        return self.folder / "journal.jsonl"

    def observe(self, recipe: Recipe, attempt: int = 1, *, first_seed: int = 0) -> Observation:
        """What the claim shows there; an attempt that was seen before is not made again.

        Raises:
            ReleaseError: the package index cannot be reached.
        """
        key = f"{recipe.key}-{attempt}" + (f"-{first_seed}" if first_seed else "")
        if key not in self._kept:
            begin = time.monotonic()
            self.runs += 1
            seen = self._observe(recipe, key, first_seed)
            self._keep(key, recipe, Observation(**{**asdict(seen), "seconds": time.monotonic() - begin}))
        return self._kept[key]

    def _observe(self, recipe: Recipe, key: str, first_seed: int) -> Observation:
        try:
            sandbox = self._builder.build(recipe)
        except InstallError as error:
            return Observation(None, f"does not install: {error}")
        path = self.folder / f"{key}.json"
        fault = self._run(sandbox, path, first_seed)
        try:
            found = ledger.read(path)
            row = {**found.rows[self.asked.id], "timings": found.timings(self.asked.id)}
        except (LedgerError, KeyError):
            return Observation(None, f"does not run: {fault}", sandbox.distributions, sandbox.held)
        return Observation(row, "", sandbox.distributions, sandbox.held, ledger=str(path))

    def _run(self, sandbox: Sandbox, path: Path, first_seed: int) -> str:
        """Run the claim's test there; what it last said, for where that was all."""
        asked = self.asked
        arguments = ["--claim", asked.id, "--tier", asked.tier, "--first-seed", str(first_seed)]
        done = run_claims(sandbox, asked.root, [str(asked.module), *arguments], path)
        return last_words(done)

    def _keep(self, key: str, recipe: Recipe, seen: Observation) -> None:
        self._kept[key] = seen
        if seen.row is None:
            return  # it may have been the moment's fault; a later bisection tries again
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._journal.open("a", encoding="utf-8") as file:
            # The line break comes first: a line that a kill cut off must not swallow the next one.
            record = {"key": key, "pins": dict(recipe.pins), "seen": ledger.finite(asdict(seen))}
            file.write("\n" + json.dumps(record))


def _journalled(path: Path) -> Iterator[tuple[str, Observation]]:
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            record = json.loads(line)
            yield record["key"], Observation(**record["seen"])
        except (json.JSONDecodeError, KeyError, TypeError):
            continue


def run_claims(
    sandbox: Sandbox, root: Path, arguments: list[str], path: Path, timeout_s: float = STEP_TIMEOUT_S
) -> subprocess.CompletedProcess[str]:
    """Run claims with an environment's Python.

    Args:
        sandbox: The environment.
        root: The project's folder.
        arguments: Of pytest: what to collect and which claims of it.
        path: Where the ledger goes.
        timeout_s: When to give up; the journal of what was judged stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    options = [
        "--rootdir",
        str(root),
        "-p",
        "runtwice.plugin",
        "-p",
        "no:cacheprovider",
        "--ledger",
        str(path),
        "-q",
        "-W",
        _EARLY,
    ]
    command = [str(sandbox.python), "-c", _RUNNER, *options, *arguments]
    threads = {name: os.environ.get(name, "1") for name in THREAD_VARIABLES}
    environment = {**os.environ, **threads, "PYTHONPATH": str(own_source()), "PYTHONNOUSERSITE": "1"}
    for name in ("PYTHONHOME", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        environment.pop(name, None)
    try:
        return subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"took more than {timeout_s:g} s")


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    """The line of a run that left no ledger which says most: its last error, or else its last line."""
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in said if line.startswith(("E  ", "ERROR:")) or "Error: " in line or " error: " in line]
    return [f"exit status {done.returncode}", *said, *errors][-1]


def own_source() -> Path:
    """A folder that holds this package and nothing else, so that no other of this environment's comes along."""
    here = Path(runtwice.__file__).parent
    sources = sorted(path for path in here.rglob("*.py") if "__pycache__" not in path.parts)
    target = cache_folder() / "harness" / _digest(here, sources)
    if not target.exists():
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.copytree(here, partial / "runtwice", ignore=shutil.ignore_patterns("__pycache__"))
        try:
            partial.replace(target)
        except OSError:  # another process was here first
            shutil.rmtree(partial, ignore_errors=True)
    return target


def code_digest(root: Path) -> str:
    """Hash of the harness and of a project's rooms: what was seen under other code is not seen again."""
    here = Path(runtwice.__file__).parent
    folders = [here, *(root / room for room in FIRST_PARTY)]
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in _SOURCES]
    return _digest(root, [path for path in found if "__pycache__" not in path.parts])


def _digest(root: Path, paths: list[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        name = path.relative_to(root) if path.is_relative_to(root) else path.name
        found.update(f"{name}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def project_root(claims: Path) -> Path:
    """The project's folder, which holds its claims.

    Raises:
        RuntwiceError: `claims` is no folder named so.
    """
    folder = claims.absolute()
    if folder.name != "claims":
        raise RuntwiceError(f"{claims}: the folder of the topics must be called 'claims'")
    return folder.parent
