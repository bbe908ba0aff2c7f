"""Prints the extras that a selection of claims needs, from the table in pyproject.toml.

Usage: python3 constraints/extras.py "itl and not adversarial"
Topics named in the expression give their extras; an expression that names none needs those of every topic.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def extras(expression: str) -> list[str]:
    """Extras for the topics named in `expression`, sorted; for all topics where it names none."""
    table = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["runtwice"]["extras"]
    named = set(re.findall(r"[a-z]+", expression)) & set(table)
    return sorted({extra for topic in (named or table) for extra in table[topic]})


if __name__ == "__main__":
    print(",".join(extras(" ".join(sys.argv[1:]))))
