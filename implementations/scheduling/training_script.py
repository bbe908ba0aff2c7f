"""A training script on disk, and what a process has of it once it was read.

Follows: nothing but Python's own `compile`: the source is read and run anew at each load, so that no cached bytecode
and no module of an earlier load stands between the file and what is in memory.
Leaves out: the modules a script imports, which Python loads as ever; a digest covers those in the script's folder.

A script has two functions: `parser()` returns its `argparse.ArgumentParser`, and `train(settings, report)` runs it and
returns what JSON can hold, calling `report(step, steps)` as it goes.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from implementations.scheduling.identity import Parameter, Value, parameters_of

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Loaded:
    """A script as it was when it was read.

    Attributes:
        parameters: Its options.
        digest: Of the code in its folder, at that moment.
        at_s: When, in seconds of the reader's clock.
        train: Runs it.
    """

    parameters: tuple[Parameter, ...]
    digest: str
    at_s: float
    train: Callable[[argparse.Namespace, Report], Any]

    def run(self, options: Mapping[str, Value], report: Report) -> Any:
        """Train with these options and the defaults of the others.

        Raises:
            ValueError: an option that the script, as loaded, does not have.
        """
        refuse_unknown(options, self.parameters)
        defaults = {one.name: one.default for one in self.parameters}
        return self.train(argparse.Namespace(**{**defaults, **options}), report)


def load(path: Path, at_s: float) -> Loaded:
    """Read a script and run its top level.

    Args:
        path: The file.
        at_s: The time, in seconds.

    Raises:
        ValueError: it cannot be run or ends the process, lacks `parser` or `train`, or its parser is none.
        OSError: there is no such file.
    """
    digest = code_digest(path)  # first: a file that changes meanwhile must look stale, not fresh
    module = ModuleType("training_script")
    module.__file__ = str(path)
    source = path.read_bytes()
    try:
        exec(compile(source, path, "exec"), vars(module))
    except (Exception, SystemExit) as fault:
        raise ValueError(f"{path} cannot be loaded: {type(fault).__name__}: {fault}") from fault
    lacking = [name for name in ("parser", "train") if not callable(getattr(module, name, None))]
    if lacking:
        raise ValueError(f"{path} has no function `{lacking[0]}`")
    parser = module.parser()
    if not isinstance(parser, argparse.ArgumentParser):
        raise ValueError(f"`parser` of {path} returns {type(parser).__name__}; it must return an ArgumentParser")
    return Loaded(parameters_of(parser), digest, at_s, module.train)


def code_digest(path: Path) -> str:
    """A digest of the Python files in the script's folder and below, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for file in sorted(path.parent.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(path.parent)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def modified_at_s(path: Path) -> float:
    """When the youngest of these files was written, in seconds since the epoch."""
    return max(file.stat().st_mtime for file in path.parent.rglob("*.py"))


def refuse_unknown(options: Mapping[str, Any], parameters: tuple[Parameter, ...]) -> None:
    """Refuse an option that is not among the parameters.

    Raises:
        ValueError: there is one.
    """
    known = [one.name for one in parameters]
    if unknown := sorted(set(options) - set(known)):
        raise ValueError(f"no option --{unknown[0]}; the {len(known)} there are: {' '.join(sorted(known))}")
