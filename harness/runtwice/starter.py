"""A folder of claims that can be run at once and written over: what `runtwice init` writes.

The claims are about Python's own sort, so that they need no package, and decide the same everywhere.
"""

from __future__ import annotations

import tomllib
from configparser import ConfigParser
from pathlib import Path

from runtwice.errors import RuntwiceError

DATA = """\
post = "the-post-you-are-testing"

# A table with `says` is a claim. Its id is the folder and the name: sorting.sorted-input-is-cheap
[sorted-input-is-cheap]
says = "Sorting 1,000 numbers that are in order already takes 999 comparisons, and far fewer than shuffled ones."
kind = "ordering"
tier = "fast"
given = { numbers = 1000, seeds = 8 }
printed = { comparisons = "999" }

[shuffled-input]
says = "Shuffled, they take about 8,600 comparisons."
kind = "figure"
tier = "fast"
given = { numbers = 1000, seeds = 8 }
printed = { comparisons = "8600" }
tolerance = { rel = 0.02, because = "depends on the order; 8,530 is what theory gives as the least, on average" }
"""

TEST = '''\
"""How many comparisons Python's sort makes."""

import random

from runtwice import claim


class Counted(float):
    """A number that counts how often it is compared."""

    comparisons = 0

    def __lt__(self, other):
        Counted.comparisons += 1
        return float(self) < float(other)


def comparisons(numbers):
    """Comparisons that sorting `numbers` takes."""
    Counted.comparisons = 0
    sorted(map(Counted, numbers))
    return Counted.comparisons


def shuffled(evidence):
    """Comparisons for shuffled numbers, one value a seed."""
    numbers = list(range(evidence.given("numbers")))
    return [comparisons(random.Random(seed).sample(numbers, len(numbers))) for seed in range(evidence.given("seeds"))]


@claim("sorting.sorted-input-is-cheap")
def test_numbers_in_order(evidence):
    """Comparisons for numbers in order, and for shuffled ones against those, one value a seed."""
    in_order = comparisons(range(evidence.given("numbers")))
    evidence.figure("comparisons", in_order)
    evidence.above(shuffled(evidence), in_order)


@claim("sorting.shuffled-input")
def test_shuffled_numbers(evidence):
    """The mean over seeds."""
    counts = shuffled(evidence)
    evidence.keep("comparisons, one value a seed", counts)
    evidence.figure("comparisons", sum(counts) / len(counts))
'''

SETTINGS = """\
[pytest]
addopts = --import-mode=importlib
"""


def write(folder: Path) -> list[Path]:
    """Write the starting folder and return the paths that were written.

    Raises:
        RuntwiceError: one of the files is there already, or nothing can be written there.
    """
    wanted = {"claims/sorting/claims.toml": DATA, "claims/sorting/test_sorting.py": TEST}
    if not is_configured(folder):
        wanted["pytest.ini"] = SETTINGS
    paths = {folder / name: text for name, text in wanted.items()}
    if there := [path for path in paths if path.exists()]:
        raise RuntwiceError(f"{there[0]} is there already; nothing was written")
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise RuntwiceError(f"{folder}: cannot be written: {fault}") from None
    return list(paths)


def is_configured(folder: Path) -> bool:
    """True where pytest finds settings of its own in `folder`."""
    if (folder / "pytest.ini").is_file() or (folder / ".pytest.ini").is_file():
        return True
    return _in_pyproject(folder / "pyproject.toml") or any(
        _in_sections(folder / name, section) for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
    )


def _in_pyproject(path: Path) -> bool:
    try:
        return "pytest" in tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError):
        return False


def _in_sections(path: Path, section: str) -> bool:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except Exception:  # a file that is not for us to judge
        return False
    return parser.has_section(section)
