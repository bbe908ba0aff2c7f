"""The identity of a worker: a hash over the options its training script declares.

Follows: argparse's description of an option (name, type, default, choices); SHA-256 over JSON with sorted keys, which,
unlike the built-in `hash`, is the same in every process.
Leaves out: positional arguments, subcommands and flags without a value; what an option means. Two scripts that declare
the same options have the same identity, whatever their code does with them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Value = int | float | str | bool | None
_KINDS: dict[Any, str] = {int: "int", float: "float", str: "str", None: "str"}
_CONVERT = {"int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Parameter:
    """One option of a training script.

    Attributes:
        name: Without the leading dashes.
        kind: `int`, `float` or `str`.
        default: What the script takes where the option is not given.
        choices: The only values it takes; empty where any will do.
    """

    name: str
    kind: str
    default: Value = None
    choices: tuple[Value, ...] = ()

    def typed(self, text: str) -> Value:
        """The value a text on the command line stands for.

        Raises:
            ValueError: `text` is not of this kind, or not among the choices.
        """
        try:
            value: Value = _CONVERT[self.kind](text)
        except ValueError:
            raise ValueError(f"--{self.name} {text!r}: the script takes {self.kind} here") from None
        if self.choices and value not in self.choices:
            allowed = ", ".join(map(str, self.choices))
            raise ValueError(f"--{self.name} {text!r}: the script takes {allowed}")
        return value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Parameter:
        """The parameter that `vars` was taken of, also after JSON made its choices a list.

        Raises:
            ValueError: a kind that there is not.
        """
        if record["kind"] not in _CONVERT:
            raise ValueError(f"an option of kind {record['kind']!r}; it is int, float or str")
        return cls(record["name"], record["kind"], record["default"], tuple(record["choices"]))


def parameters_of(parser: argparse.ArgumentParser) -> tuple[Parameter, ...]:
    """The options of a parser that take a value, in the order of their names.

    Raises:
        ValueError: an option converts with something other than int, float or str, takes other than one value, or has a
            default or a choice that JSON cannot hold.
    """
    options = [action for action in parser._actions if action.option_strings and action.dest != "help"]
    return tuple(sorted(map(_parameter, options), key=lambda one: one.name))


def _parameter(option: argparse.Action) -> Parameter:
    if option.type not in _KINDS or option.nargs is not None:
        raise ValueError(f"option {option.option_strings[0]}: it must take one int, float or str")
    for value in (option.default, *(option.choices or ())):
        if not isinstance(value, Value):
            raise ValueError(f"option {option.option_strings[0]}: {value!r}; defaults and choices are numbers or texts")
    return Parameter(option.dest, _KINDS[option.type], option.default, tuple(option.choices or ()))


def identity(parameters: Iterable[Parameter], *, names_only: bool = False, code: str = "") -> str:
    """A hash over a set of options, in whatever order they come.

    Args:
        parameters: The options.
        names_only: Whether types, defaults and choices are left out.
        code: A digest of the code that stands behind the options, to tell apart what declares the same.

    Returns:
        16 hexadecimal digits.
    """
    ordered = sorted(parameters, key=lambda one: one.name)
    described: list[Any] = [one.name if names_only else vars(one) for one in ordered]
    text = json.dumps([described, code], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
