"""Builds environments for other versions of the libraries, and keeps them, so that none is built twice.

An environment has what a recipe asks for and what that depends on, from wheels only; neither this package nor the
project is installed in it (the oracle brings both along as source). It is built by `uv` where that is on the path, or
else by this environment's pip, and counts only once it is complete: an interrupted build is begun anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import platformdirs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from runtwice import releases
from runtwice.errors import InstallError, ReleaseError

CACHE_VARIABLE = "RUNTWICE_CACHE"
MARK = "complete.json"
INSTALL_TIMEOUT_S = 1800.0

Say = Callable[[str], None]


def silent(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Recipe:
    """What an environment is to contain.

    Attributes:
        roots: Requirements whose presence the experiment needs; which version, pins and holds say first.
        pins: Exact versions that make this environment what it is; never given up.
        holds: Versions that everything else is to have. Where they cannot all be had together, those of the roots are
            tried alone, and then none; `Sandbox.held` says which it was.
        strict: Whether the holds of the roots may not be given up either.
        label: Told apart by it where nothing else differs (the newest releases of one day and of another).
    """

    roots: tuple[str, ...]
    pins: Mapping[str, str] = field(default_factory=dict)
    holds: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    label: str = ""

    @property
    def key(self) -> str:
        """Same recipe, same Python: same key."""
        tried = [(word, sorted(constraints.items())) for word, constraints in self.attempts()]
        parts = [sys.version, sorted(self.roots), sorted(_canonical(self.pins)), tried, self.label]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def attempts(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Constraints to try in turn, each with the word for what of the holds it keeps."""
        pins, holds = _canonical(self.pins), _canonical(self.holds)
        roots = {canonicalize_name(Requirement(root).name) for root in self.roots}
        of_roots = {name: version for name, version in holds.items() if name in roots}
        yield "all", {**holds, **pins}
        if of_roots not in (holds, {}):
            yield "roots", {**of_roots, **pins}
        if holds and not self.strict:
            yield "none", pins


@dataclass(frozen=True)
class Sandbox:
    """An environment that was built.

    Attributes:
        folder: Where it stands.
        distributions: What it contains, by canonical name.
        held: How much of the recipe's holds it kept: `all`, `roots` or `none`.
    """

    folder: Path
    distributions: Mapping[str, str]
    held: str = "all"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return _python(self.folder)


def _canonical(versions: Mapping[str, str]) -> dict[str, str]:
    return {str(canonicalize_name(name)): version for name, version in versions.items()}


def cache_folder() -> Path:
    """Where environments are kept: `$RUNTWICE_CACHE`, or the user's cache folder."""
    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("runtwice"))


def core_requirements() -> list[str]:
    """What this package itself depends on, without its extras.

    Raises:
        InstallError: it runs from a source tree that was never installed.
    """
    try:
        stated = metadata.requires("runtwice") or []
    except metadata.PackageNotFoundError:
        raise InstallError("runtwice is not installed here, so that what it depends on is unknown") from None
    wanted = [Requirement(text) for text in stated]
    return [
        str(requirement).partition(";")[0].strip()
        for requirement in wanted
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]


class Builder:
    """Builds sandboxes and finds again those it built.

    Args:
        folder: Where they are kept.
        say: Told what takes long.
    """

    def __init__(self, folder: Path | None = None, say: Say = silent) -> None:
        self.folder = (folder or cache_folder()) / "environments"
        self._say = say

    def build(self, recipe: Recipe) -> Sandbox:
        """The environment of a recipe, built unless it is there.

        Raises:
            InstallError: it cannot be had, with the installer's reason.
            ReleaseError: the package index cannot be reached.
        """
        target = self.folder / recipe.key
        found = _complete(target)
        if found is not None:
            return found
        faults: list[str] = []
        for held, constraints in recipe.attempts():
            try:
                self._install(target, recipe, constraints)
            except InstallError as error:
                faults.append(str(error))
                continue
            return _marked(target, held)
        shutil.rmtree(target, ignore_errors=True)
        raise InstallError(faults[-1])

    def _install(self, target: Path, recipe: Recipe, constraints: Mapping[str, str]) -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        listed = target / "constraints.txt"
        listed.write_text("".join(f"{name}=={version}\n" for name, version in sorted(constraints.items())), "utf-8")
        wanted = _wanted(recipe, constraints)
        if uv := shutil.which("uv"):
            try:
                _by_uv(uv, target, listed, wanted)
                return
            except InstallError as error:
                # uv does not read pip's settings; what it cannot find pip may know from another index.
                self._say(f"uv: {error}; trying pip")
                shutil.rmtree(target / "venv", ignore_errors=True)
        _by_pip(target, listed, wanted)


def _wanted(recipe: Recipe, constraints: Mapping[str, str]) -> list[str]:
    """What to ask for: of what is constrained only the name, since another version may be the point."""
    names = {root: str(canonicalize_name(Requirement(root).name)) for root in recipe.roots}
    roots = [names[root] if names[root] in constraints else root for root in recipe.roots]
    pins = [f"{name}=={version}" for name, version in _canonical(recipe.pins).items()]
    return [*dict.fromkeys(root for root in roots if root not in _canonical(recipe.pins)), *pins]


def _by_uv(uv: str, target: Path, listed: Path, wanted: list[str]) -> None:
    _run([uv, "venv", "--quiet", "--python", sys.executable, str(target / "venv")])
    options = ["--quiet", "--no-build", "--constraint", str(listed), "--python", str(_python(target))]
    _run([uv, "pip", "install", *options, *wanted])


def _by_pip(target: Path, listed: Path, wanted: list[str]) -> None:
    venv.create(target / "venv", with_pip=False, symlinks=os.name != "nt")
    options = ["--quiet", "--no-compile", "--only-binary", ":all:", "--constraint", str(listed), "--retries", "1"]
    answer = releases.pip("--python", str(_python(target)), "install", *options, *wanted, timeout_s=INSTALL_TIMEOUT_S)
    if answer.is_unreached:
        raise ReleaseError(f"the package index cannot be reached: {answer.fault}")
    if answer.code != 0:
        raise InstallError(answer.fault)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from None
    if done.returncode != 0:
        lines = [line.strip(" ×╰─▶│") for line in done.stderr.splitlines() if line.strip(" ×╰─▶│")]
        raise InstallError(" ".join(lines[:3]) or f"{command[0]} failed and said nothing")


def _python(target: Path) -> Path:
    folder = target / "venv"
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def _marked(target: Path, held: str) -> Sandbox:
    script = (
        "import importlib.metadata as m, json; "
        "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions() if d.metadata['Name']}))"
    )
    done = subprocess.run([str(_python(target)), "-c", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallError(f"its Python does not start: {done.stderr.strip()[-200:]}")
    distributions = _canonical(json.loads(done.stdout))
    temporary = target / f".{MARK}"
    temporary.write_text(json.dumps({"held": held, "distributions": distributions}, indent=1), encoding="utf-8")
    temporary.replace(target / MARK)
    return Sandbox(target, distributions, held)


def _complete(target: Path) -> Sandbox | None:
    try:
        kept = json.loads((target / MARK).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    return Sandbox(target, kept["distributions"], kept["held"]) if _python(target).exists() else None
