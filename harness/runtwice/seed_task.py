"""One seed of a sweep, on a process that is not the run's own: a worker of a cluster.

The result counts only where it is the one the run would have had itself: the worker's code on disk and in memory is
that of the run, and so are its Python and the libraries the code imports. A worker that was started before the code
changed still holds the old code, however new its disk is; so each process remembers every file as it first met it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any

from runtwice import environment, fingerprint
from runtwice.errors import EvidenceError
from runtwice.plain import through_json

_turn = Lock()
_met: dict[Path, str] = {}


@dataclass(frozen=True)
class SeedTask:
    """What a worker is asked for.

    Attributes:
        module: Dotted name of the function's module.
        function: The function's name in it.
        path: The module's file, from the project's root.
        code: Hash of that module and what it reaches.
        circumstances: Versions of Python and of the distributions they import, and the threads of BLAS.
        seed: The seed.
    """

    module: str
    function: str
    path: PurePosixPath
    code: str
    circumstances: Mapping[str, str]
    seed: int


def tasks_of(root: Path, function: Callable[[int], Any], seeds: Iterable[int]) -> list[SeedTask]:
    """The tasks for the seeds of a function.

    Raises:
        EvidenceError: the function's module does not stand below the root.
    """
    path = Path(inspect.unwrap(function).__code__.co_filename)
    if root not in path.parents:
        raise EvidenceError(f"sweep({function.__qualname__}): {path} is not below {root}, so no worker can be sent it")
    sources = fingerprint.sources_of_module(root, path)
    relative = PurePosixPath(path.relative_to(root).as_posix())
    code, around = fingerprint.code_of_sources(sources), _circumstances(root, sources)
    return [SeedTask(function.__module__, function.__qualname__, relative, code, around, seed) for seed in seeds]


def run(task: SeedTask) -> dict[str, Any]:
    """The result of a task, and which process gave it.

    Raises:
        EvidenceError: this worker cannot import the function, or has other code or libraries than the run.
    """
    with _turn:  # experiments are written for a process of their own
        environment.fix_threads()
        function = _loaded(task)
        return {"value": through_json(function, task.seed), "process": process()}


@cache
def process() -> dict[str, Any]:
    """This process, as the ledger names it."""
    processor = environment.machine_info()["cpu"]["brand_raw"]
    return {"host": platform.node(), "pid": os.getpid(), "processor": processor}


def _loaded(task: SeedTask) -> Callable[[int], Any]:
    path = _found(task)
    root = path.parents[len(task.path.parts) - 1]
    sources = fingerprint.sources_of_module(root, path)
    if fingerprint.code_of_sources(sources) != task.code:
        raise _refused(f"{task.path}, or a module it imports, is other code there than in this run; update it")
    for file, source in sources.items():
        if _met.setdefault(file, source) != source:
            raise _refused(f"{file.relative_to(root)} has changed since the worker loaded it; restart the worker")
    here = _circumstances(root, sources)
    for name, wanted in task.circumstances.items():
        if here.get(name) != wanted:
            raise _refused(f"{name} is {here.get(name, 'missing')} there and {wanted} in this run; make it the same")
    function: Callable[[int], Any] = getattr(importlib.import_module(task.module), task.function)
    return function


def _found(task: SeedTask) -> Path:
    importlib.invalidate_caches()  # a module that was written after the worker started
    try:
        spec = importlib.util.find_spec(task.module)
    except ImportError:
        spec = None
    path = Path(spec.origin) if spec is not None and spec.origin else None
    if path is None or path.parts[-len(task.path.parts) :] != task.path.parts:
        raise _refused(
            f"it cannot import {task.module}; start it in the project's folder, or install the project there"
        )
    return path


def _circumstances(root: Path, sources: Mapping[Path, str]) -> dict[str, str]:
    # Sums on another number of threads may differ in their last bits.
    threads = os.environ.get("OMP_NUM_THREADS", "1")
    versions = fingerprint.versions_of_sources(root, sources)
    return {"python": platform.python_version(), "OMP_NUM_THREADS": threads, **versions}


def _refused(why: str) -> EvidenceError:
    return EvidenceError(f"the worker on {platform.node()}, process {os.getpid()}: {why}")
