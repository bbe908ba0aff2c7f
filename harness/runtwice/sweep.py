"""Runs one experiment over seeds, keeping each seed's result as soon as it is there.

A killed run leaves its finished seeds in a file beside the ledger (`<ledger>.sweeps*`, JSON lines); a resumed run takes
them from there as long as the experiment's code is the same.
"""

from __future__ import annotations

import glob
import inspect
import json
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from runtwice.errors import EvidenceError
from runtwice.fingerprint import code_of_module

SUFFIX = ".sweeps"


class Progress(Protocol):
    """Shows how far a long experiment is."""

    def __call__(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Open a bar for `total` steps; the context gives the function that advances it by one."""


def silent(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:  # noqa: ARG001 - the protocol's names
    """Progress that nobody watches."""
    return nullcontext(lambda: None)


class Sweep:
    """Calls a function once a seed.

    Args:
        root: The project's root; first-party code below it decides whether a kept result still counts.
        journal: Where results are appended, or None to keep none.
        kept: Results of an earlier run, as `kept_results` reads them.
        progress: Shows the seeds passing.
        first_seed: Added to every seed, so that the same experiment runs on seeds it has never seen.
    """

    def __init__(
        self,
        root: Path,
        journal: Path | None = None,
        kept: dict[tuple[str, str], Any] | None = None,
        progress: Progress = silent,
        first_seed: int = 0,
    ) -> None:
        self._first_seed = first_seed
        self._root = root
        self._journal = journal
        self._kept = dict(kept or {})
        self._progress = progress

    def __call__(self, function: Callable[[int], Any], seeds: Iterable[int]) -> list[Any]:
        """One result a seed, in the order of `seeds`.

        Args:
            function: A module-level function of one seed that returns what JSON can hold.
            seeds: Whole numbers, each once: a seed run twice is still one observation.

        Raises:
            EvidenceError: `function` is not module-level, or returns something JSON cannot hold; a seed comes twice.
        """
        key = self._key(function)
        seeds = [operator.index(seed) for seed in seeds]
        if len(set(seeds)) < len(seeds):
            twice = next(seed for seed, count in Counter(seeds).items() if count > 1)
            raise EvidenceError(f"sweep({function.__qualname__}): seed {twice} comes twice; that is one observation")
        with self._progress(function.__name__.replace("_", " "), len(seeds)) as advance:
            return [self._one(key, function, seed + self._first_seed, advance) for seed in seeds]

    def _one(self, key: str, function: Callable[[int], Any], seed: int, advance: Callable[[], None]) -> Any:
        slot = (key, str(seed))
        if slot not in self._kept:
            self._kept[slot] = _through_json(function, seed)
            self._append(key, seed, self._kept[slot])
        advance()
        return self._kept[slot]

    def _append(self, key: str, seed: int, value: Any) -> None:
        if self._journal is not None:
            with self._journal.open("a", encoding="utf-8") as file:
                # The line break comes first: a line that a kill cut off must not swallow the next one.
                file.write("\n" + json.dumps({"sweep": key, "seed": seed, "value": value}))

    def _key(self, function: Callable[[int], Any]) -> str:
        if not inspect.isfunction(function) or not function.__qualname__.isidentifier():
            raise EvidenceError(
                f"sweep({function}): only a module-level function can be resumed; move it to the top of a module"
            )
        code = code_of_module(self._root, Path(inspect.unwrap(function).__code__.co_filename))
        return f"{function.__module__}:{function.__qualname__}@{code}"


def _through_json(function: Callable[[int], Any], seed: int) -> Any:
    """The result as JSON gives it back, so that a fresh and a kept one are the same."""
    value = function(seed)
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise EvidenceError(f"sweep({function.__qualname__}), seed {seed}: {error}; return plain values") from None


def kept_results(ledger: Path) -> dict[tuple[str, str], Any]:
    """Results kept beside a ledger, by sweep and seed; a line cut off by a kill is dropped."""
    kept: dict[tuple[str, str], Any] = {}
    for path in _files(ledger):
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                record = json.loads(line)
                kept[(record["sweep"], str(record["seed"]))] = record["value"]
            except (json.JSONDecodeError, KeyError, TypeError):
                continue
    return kept


def sweeps_path(ledger: Path, worker: str = "") -> Path:
    """Where a run (or one of its workers) keeps the results of its sweeps."""
    return ledger.with_name(ledger.name + SUFFIX + (f".{worker}" if worker else ""))


def discard(ledger: Path) -> None:
    """Remove the kept results of a run that is complete."""
    for path in _files(ledger):
        path.unlink(missing_ok=True)


def _files(ledger: Path) -> list[Path]:
    return sorted(ledger.parent.glob(f"{glob.escape(ledger.name)}{SUFFIX}*"))
