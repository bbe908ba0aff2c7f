"""Which releases of a package install here, asked of pip: it knows the index, its mirrors and what this Python takes.

Only releases with a wheel count, since a build from source says more about the compiler at hand than about the release.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from runtwice.errors import ReleaseError

TIMEOUT_S = 120.0
# What pip says of a package that is not there it also says where it reached nobody; the retries tell them apart.
_UNREACHED = re.compile(
    r"Retrying \(|Failed to establish|Connection (?:refused|reset|aborted)|name resolution|Name or service not known"
    r"|Could not fetch URL|ConnectTimeout|ReadTimeout|ProxyError|Network is unreachable"
)


@dataclass(frozen=True)
class Answer:
    """What pip answered."""

    code: int
    out: str
    err: str

    @property
    def is_unreached(self) -> bool:
        """True where pip reached no index."""
        return self.code != 0 and self.lost_an_index

    @property
    def lost_an_index(self) -> bool:
        """True where an index did not answer, whatever another one gave."""
        return bool(_UNREACHED.search(self.err))

    @property
    def fault(self) -> str:
        """The line that says why it failed."""
        said = [line.strip() for line in self.err.splitlines() if line.strip().lower().startswith("error")]
        lines = said or [line.strip() for line in self.err.splitlines() if line.strip()] or ["pip said nothing"]
        return lines[0].removeprefix("ERROR: ").removeprefix("error: ")


def pip(*arguments: str, python: str = sys.executable, timeout_s: float = TIMEOUT_S) -> Answer:
    """Run pip.

    Raises:
        ReleaseError: this environment has no pip, or it took too long.
    """
    command = [python, "-m", "pip", *arguments, "--disable-pip-version-check", "--no-input"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise ReleaseError(f"pip took more than {timeout_s:g} s; is the package index reachable?") from None
    if "No module named pip" in done.stderr:
        raise ReleaseError(f"{python} has no pip; install it with `{python} -m ensurepip`")
    return Answer(done.returncode, done.stdout, done.stderr)


@cache
def released(package: str, *, pre: bool = False) -> tuple[Version, ...]:
    """All releases of a package with a wheel for this Python, oldest first.

    Args:
        package: Its name.
        pre: Whether pre-releases count.

    Raises:
        ReleaseError: no such package, none for this Python, or no index in reach.
    """
    options = ["--only-binary", ":all:", "--retries", "1", *(["--pre"] if pre else [])]
    answer = pip("index", "versions", checked_name(package), *options)
    listed = re.search(r"^Available versions: (.+)$", answer.out, flags=re.MULTILINE)
    if answer.lost_an_index:
        # Of a list with a part missing, the first and last release of anything would be made up.
        why = f"`pip index versions {package}` says more"
        raise ReleaseError(f"the package index cannot be reached to look for {package}; {why}")
    if not listed:
        raise ReleaseError(f"no package {package!r} with a wheel for this Python: {answer.fault}")
    versions = {Version(text) for text in re.split(r",\s*", listed[1].strip())}
    return tuple(sorted(version for version in versions if pre or not version.is_prerelease))


def between(package: str, good: str, bad: str, *, pre: bool = False) -> list[Version]:
    """The releases from `good` to `bad`, both included, in that order.

    Raises:
        ReleaseError: as `released`; the two are the same, or one of them is none.
    """
    first, last = version(package, good), version(package, bad)
    if first == last:
        raise ReleaseError(f"good and bad are both {package} {first}; there is nothing between them")
    asked = {one for one in (first, last) if one.is_prerelease}
    known = released(package, pre=pre)
    if asked and not pre:
        known = tuple(sorted({*known, *(asked & set(released(package, pre=True)))}))
    for end in (first, last):
        if end not in known:
            near = sorted(known, key=lambda one: (abs(one.major - end.major), abs(one.minor - end.minor), one))[:3]
            names = ", ".join(map(str, sorted(near)))
            raise ReleaseError(f"{package} {end} is no release with a wheel for this Python; near it are {names}")
    low, high = min(first, last), max(first, last)
    inside = [one for one in known if low <= one <= high]
    return inside if first < last else inside[::-1]


def is_yanked(package: str, release: str) -> bool:
    """True where the index has withdrawn a release; False too where an older pip does not say."""
    options = ["--dry-run", "--no-deps", "--ignore-installed", "--only-binary", ":all:", "--quiet", "--report", "-"]
    answer = pip("install", *options, f"{checked_name(package)}=={release}")
    try:
        return any(item.get("is_yanked", False) for item in json.loads(answer.out)["install"])
    except (json.JSONDecodeError, KeyError, TypeError):
        return False


def checked_name(package: str) -> str:
    """The canonical name of a package.

    Raises:
        ReleaseError: it is no name.
    """
    try:
        requirement = Requirement(package)
    except InvalidRequirement:
        raise ReleaseError(f"{package!r} is no name of a package") from None
    if requirement.name != package:
        raise ReleaseError(f"{package!r} is no plain name of a package; give versions with --good and --bad")
    return canonicalize_name(requirement.name)


def version(package: str, text: str) -> Version:
    """A version as given.

    Raises:
        ReleaseError: it is none.
    """
    try:
        return Version(text)
    except InvalidVersion:
        raise ReleaseError(f"{text!r} is no version of {package}; write it like 1.26.4") from None
