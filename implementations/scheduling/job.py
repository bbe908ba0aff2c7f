"""A job: one run of the training script with some of its options, as a command line states them.

Follows: the pairs `--name value` or `--name=value` of common command lines.
Leaves out: flags without a value; abbreviations, which `argparse` would accept and which a new option can turn into
another one. Nothing is dropped in silence: what no script declares is refused (`argparse.parse_known_args` would not).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from implementations.scheduling.identity import Parameter, Value
from implementations.scheduling.training_script import refuse_unknown


@dataclass(frozen=True)
class Job:
    """One run to be made.

    Attributes:
        id: Its name, also of its result.
        queue: The workers it is for.
        options: Values of the options that were given.
    """

    id: str
    queue: str
    options: Mapping[str, Value]

    def to_record(self) -> dict[str, Any]:
        """Plain values, for the wire."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Job:
        """The job that `to_record` wrote."""
        return cls(record["id"], record["queue"], dict(record["options"]))


def pairs(words: Sequence[str]) -> dict[str, str]:
    """The options on a command line, as texts by name.

    Raises:
        ValueError: a word that is no option, an option without a value, or one that comes twice.
    """
    found: dict[str, str] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise ValueError(f"{word!r} is no option; write --name value")
        if not has_value and not left:
            raise ValueError(f"--{name} has no value")
        if name in found:
            raise ValueError(f"--{name} comes twice")
        found[name] = value if has_value else left.pop(0)
    return found


def typed(options: Mapping[str, str], parameters: tuple[Parameter, ...]) -> dict[str, Value]:
    """The values these texts stand for, by the types a script declares.

    Raises:
        ValueError: an option the script does not have, or a value it does not take.
    """
    refuse_unknown(options, parameters)
    by_name = {one.name: one for one in parameters}
    return {name: by_name[name].typed(text) for name, text in options.items()}
