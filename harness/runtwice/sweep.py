"""Runs one experiment over seeds, keeping each seed's result as soon as it is there.

A killed run leaves its finished seeds in a file beside the ledger (`<ledger>.sweeps*`, JSON lines); a resumed run takes
them from there as long as the experiment's code is the same. The seeds run in this process one by one, in others of
this machine (`runtwice.local_workers`), or on the workers of a Dask cluster (`runtwice.cluster`); the results are the
same bit for bit, and the file says which process each came from.
"""

from __future__ import annotations

import glob
import inspect
import json
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from runtwice.errors import EvidenceError
from runtwice.fingerprint import code_of_module
from runtwice.plain import through_json
from runtwice.seed_task import SeedTask, tasks_of

SUFFIX = ".sweeps"
# The name of this process among the workers.
HERE = "here"

_Found = tuple[int, Any, Mapping[str, Any] | None]


class Progress(Protocol):
    """Shows how far a long experiment is."""

    def __call__(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Open a bar for `total` steps; the context gives the function that advances it by one."""


def silent(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:  # noqa: ARG001 - the protocol's names
    """Progress that nobody watches."""
    return nullcontext(lambda: None)


class Workers(Protocol):
    """Processes that seeds are sent to.

    Attributes:
        address: Where they are, as the ledger says it.
    """

    address: str

    def results(self, tasks: Sequence[SeedTask]) -> Iterator[tuple[SeedTask, dict[str, Any]]]:
        """What they found, as it comes; a task that does not come back is run in the process that asked."""

    def close(self) -> None:
        """Leave them."""


class Sweep:
    """Calls a function once a seed.

    Args:
        root: The project's root; first-party code below it decides whether a kept result still counts.
        journal: Where results are appended, or None to keep none.
        kept: Results of an earlier run, as `kept_results` reads them.
        progress: Shows the seeds passing.
        workers: Says who runs the seeds now; None for this process.
        first_seed: Added to every seed, so that the same experiment runs on seeds it has never seen.
    """

    def __init__(
        self,
        root: Path,
        journal: Path | None = None,
        kept: dict[tuple[str, str], Any] | None = None,
        progress: Progress = silent,
        workers: Callable[[], Workers | None] = lambda: None,
        first_seed: int = 0,
    ) -> None:
        self._first_seed = first_seed
        self._root = root
        self._journal = journal
        self._kept = dict(kept or {})
        self._progress = progress
        self._workers = workers

    def __call__(self, function: Callable[[int], Any], seeds: Iterable[int], *, shifted: bool = True) -> list[Any]:
        """One result a seed, in the order of `seeds`.

        Args:
            function: A module-level function of one seed that returns what JSON can hold.
            seeds: Whole numbers, each once: a seed run twice is still one observation.
            shifted: Whether the run's first seed is added to them; not where they are the post's own.

        Raises:
            EvidenceError: `function` is not module-level, or returns something JSON cannot hold; a seed comes twice.
        """
        key = self._key(function)
        first = self._first_seed if shifted else 0
        seeds = [operator.index(seed) + first for seed in seeds]
        if len(set(seeds)) < len(seeds):
            twice = next(seed for seed, count in Counter(seeds).items() if count > 1)
            raise EvidenceError(f"sweep({function.__qualname__}): seed {twice} comes twice; that is one observation")
        missing = [seed for seed in seeds if (key, str(seed)) not in self._kept]
        with self._progress(function.__name__.replace("_", " "), len(seeds)) as advance:
            for _ in range(len(seeds) - len(missing)):
                advance()
            for seed, value, worker in self._found(function, missing):
                self._kept[(key, str(seed))] = value
                self._append(key, seed, value, worker)
                advance()
        return [self._kept[(key, str(seed))] for seed in seeds]

    def _found(self, function: Callable[[int], Any], seeds: list[int]) -> Iterator[_Found]:
        """Seed, result, and who ran it where there are workers."""
        workers = self._workers()
        left = dict.fromkeys(seeds)
        if workers is not None:
            for task, found in workers.results(tasks_of(self._root, function, seeds)):
                del left[task.seed]
                yield task.seed, found["value"], found["process"]
        for seed in left:
            yield seed, through_json(function, seed), None

    def _append(self, key: str, seed: int, value: Any, worker: Mapping[str, Any] | None) -> None:
        if self._journal is not None:
            record = {"sweep": key, "seed": seed, "value": value, **({"worker": worker} if worker else {})}
            with self._journal.open("a", encoding="utf-8") as file:
                # The line break comes first: a line that a kill cut off must not swallow the next one.
                file.write("\n" + json.dumps(record))

    def _key(self, function: Callable[[int], Any]) -> str:
        if not inspect.isfunction(function) or not function.__qualname__.isidentifier():
            raise EvidenceError(
                f"sweep({function}): only a module-level function can be resumed; move it to the top of a module"
            )
        code = code_of_module(self._root, Path(inspect.unwrap(function).__code__.co_filename))
        return f"{function.__module__}:{function.__qualname__}@{code}"


def kept_results(ledger: Path) -> dict[tuple[str, str], Any]:
    """Results kept beside a ledger, by sweep and seed; a line cut off by a kill is dropped."""
    return {(record["sweep"], str(record["seed"])): record["value"] for record in _records(ledger)}


def shares(ledger: Path) -> dict[str, Any]:
    """Who ran what, of the results kept beside a ledger.

    Returns:
        `workers`: host, process id and processor by name, `host/process`; `sweeps`: by sweep, the seeds each worker
        ran, those that ran in no cluster under `here`.
    """
    workers: dict[str, Any] = {}
    sweeps: dict[str, dict[str, list[int]]] = {}
    for record in _records(ledger):
        worker = record.get("worker")
        name = f"{worker['host']}/{worker['pid']}" if worker else HERE
        if worker:
            workers[name] = worker
        sweeps.setdefault(record["sweep"], {}).setdefault(name, []).append(record["seed"])
    return {"workers": workers, "sweeps": sweeps}


def _records(ledger: Path) -> Iterator[dict[str, Any]]:
    for path in _files(ledger):
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                record = json.loads(line)
                record["sweep"], record["seed"], record["value"]
            except (json.JSONDecodeError, KeyError, TypeError):
                continue
            yield record


def sweeps_path(ledger: Path, worker: str = "") -> Path:
    """Where a run (or one of its workers) keeps the results of its sweeps."""
    return ledger.with_name(ledger.name + SUFFIX + (f".{worker}" if worker else ""))


def discard(ledger: Path) -> None:
    """Remove the kept results of a run that is complete."""
    for path in _files(ledger):
        path.unlink(missing_ok=True)


def _files(ledger: Path) -> list[Path]:
    return sorted(ledger.parent.glob(f"{glob.escape(ledger.name)}{SUFFIX}*"))
