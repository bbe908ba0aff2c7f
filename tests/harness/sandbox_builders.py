"""Environments that cost nothing: this one's Python under a wrapper, telling the claim which release it is to play."""

import subprocess
import sys
from fnmatch import fnmatchcase
from itertools import pairwise

from runtwice.errors import InstallError
from runtwice.releases import Answer
from runtwice.sandbox import Sandbox
from tests.harness.ledger_builders import a_judged_row, a_ledger

RELEASE = "PLAYED_RELEASE"  # what a played claim reads


class PlayedBuilder:
    """Builds environments in which the package `played` has the release that the recipe pins or holds.

    Args:
        folder: Where the wrappers go.
        broken: Releases that do not install.
        newest: The release of a recipe that names none.
    """

    def __init__(self, folder, broken=(), newest="9"):
        self.folder = folder
        self.broken = broken
        self.newest = newest
        self.built = []

    def build(self, recipe):
        """The environment of a recipe."""
        release = recipe.pins.get("played") or recipe.holds.get("played") or self.newest
        self.built.append(release)
        if release in self.broken:
            raise InstallError("no wheel")
        folder = self.folder / f"played-{release}"
        python = folder / "venv" / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(f'#!/bin/sh\n{RELEASE}={release} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        others = {name: version for name, version in recipe.holds.items() if name != "played"}
        return Sandbox(folder, {**others, "played": release})


def played_index(*versions):
    """A stand-in for pip that lists these releases, and knows of none that was withdrawn."""

    def pip(*arguments, **_):
        if arguments[0] == "index":
            return Answer(0, f"Available versions: {', '.join(versions)}\n", "")
        return Answer(0, '{"install": []}', "")

    return pip


def played_runs(verdicts, code="c0de"):
    """A stand-in for running claims: writes the ledger that a run would have left.

    Args:
        verdicts: By claim, the verdict as a function of the played release.
        code: The experiment's fingerprint.
    """

    def run_claims(sandbox, root, arguments, path, timeout_s=0.0):
        wanted = [after for before, after in pairwise(arguments) if before == "--claim"] or ["*"]
        release = float(sandbox.distributions["played"])
        rows = [
            a_judged_row(id_, verdict(release), code=code)
            for id_, verdict in verdicts.items()
            if any(fnmatchcase(id_, glob) for glob in wanted)
        ]
        a_ledger(path, *rows, packages=dict(sandbox.distributions))
        return subprocess.CompletedProcess([], 0, "", "")

    return run_claims
