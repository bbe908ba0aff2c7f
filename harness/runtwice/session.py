"""One run: which claims it selected, the rows it has so far, and where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runtwice import __version__, environment, ledger, row, sweep
from runtwice.errors import LedgerError
from runtwice.stopwatch import Stopwatch

LOCAL = Path("reports", "local")


class Session:
    """State of a run, on the process that keeps the ledger or on a worker that only measures.

    Args:
        root: The project's root.
        path: The ledger's path, or None for a new one in `reports/local/`.
        resume: A ledger whose judged claims and sweeps are carried over.
        worker: The worker's name; "" on the process that keeps the ledger.
        progress: Shows long experiments passing.
        workers: Who runs the seeds of sweeps; None for this process.
        first_seed: Added to the seeds of every sweep.

    Attributes:
        timed: Whether the claim at hand needs the machine to itself; its sweeps stay in this process.
        shares: Which worker ran which seeds, once the run has ended.
    """

    def __init__(
        self,
        root: Path,
        path: Path | None,
        resume: Path | None = None,
        worker: str = "",
        progress: sweep.Progress = sweep.silent,
        workers: sweep.Workers | None = None,
        first_seed: int = 0,
    ) -> None:
        self.root = root
        self.first_seed = first_seed
        # Absolute, since an experiment may change the current folder.
        self.resume = resume and resume.absolute()
        self.path = (path or resume or ledger.fresh_path(root / LOCAL)).absolute()
        self._fresh = path is None and resume is None
        self.worker = worker
        self.progress = progress
        self.workers = workers
        self.timed = False
        self.shares: dict[str, Any] = {}
        self.selection: list[str] = []
        self.rows: dict[str, dict[str, Any]] = {}
        self.carried: dict[str, dict[str, Any]] = {}
        self.written: Path | None = None
        self.stopwatch = Stopwatch(root)
        self._controls: Mapping[str, Any] = {}  # of the resumed run
        self._journal: ledger.Journal | None = None

    def start(self, selection: Sequence[str], command: Sequence[str]) -> None:
        """Open the journal for the selected claims; without any, nothing is written.

        Raises:
            LedgerError: nothing can be written there, another run is at it, or a resumed ledger would lose rows.
        """
        self.selection = sorted(set(selection) | set(self.selection))
        if not self.selection or self.worker or self._journal is not None:
            return
        head = ledger.header(
            environment.machine_info(),
            environment.commit_info(self.root),
            environment.describe(),
            self.selection,
            list(command),
            __version__,
        )
        if self.first_seed:
            head["claims"]["first_seed"] = self.first_seed
        try:
            self._journal = self._opened(head)
        except OSError as error:
            raise LedgerError(f"{self.path}: the ledger cannot be written: {error}") from None

    def _opened(self, head: dict[str, Any]) -> ledger.Journal:
        while True:
            try:
                return ledger.Journal(self.path, head, fresh=self._fresh, kept=self._kept())
            except FileExistsError:
                if not ledger.journal_path(self.path).exists():
                    raise
                self.path = ledger.fresh_path(self.root / LOCAL)  # another run began in the same second

    def _kept(self) -> list[dict[str, Any]]:
        """Rows that the journal holds from the start: those of the resumed run, where this one goes on in its place.

        Raises:
            LedgerError: some of them were not selected, and the ledger would lose them.
        """
        if self.resume != self.path:
            return []
        if lost := sorted(self.carried.keys() - set(self.selection)):
            names = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
            raise LedgerError(
                f"{self.path} would lose claims that this run does not select ({names}); "
                "select them too, or name another file with --ledger"
            )
        return list(self.carried.values())

    def add(self, found: dict[str, Any]) -> None:
        """Keep one row."""
        self.rows[found["id"]] = found
        if self._journal is not None:
            self._journal.add(found)

    def finish(self) -> None:
        """Write the ledger; it says `partial` where a selected claim was not judged.

        Raises:
            LedgerError: it cannot be written; the journal stays.
        """
        if self._journal is None:
            return
        partial = not set(self.selection) <= set(self.rows)
        for found in self._kept() if partial else ():
            self._journal.rows.setdefault(found["id"], found)
        self._journal.header["claims"]["controls"] = dict(self.stopwatch.record() or self._controls)
        if self.workers is not None:
            self.shares = sweep.shares(self.path)
            self._journal.header["claims"]["cluster"] = {"scheduler": self.workers.address, **self.shares}
        try:
            self.written = self._journal.finish(partial=partial)
        except OSError as error:
            kept = ledger.journal_path(self.path)
            raise LedgerError(f"{self.path}: the ledger cannot be written: {error}; its rows are in {kept}") from None
        if not partial:
            sweep.discard(self.path)

    def load_carried(self) -> None:
        """Read the rows of the ledger to resume.

        Raises:
            LedgerError: it cannot be read.
        """
        if self.resume is not None:
            earlier = ledger.read(self.resume)
            self._controls = earlier.block.get("controls") or {}
            judged = {id_: found for id_, found in earlier.rows.items() if row.was_judged(found)}
            self.carried = {id_: {**found, "timings": earlier.timings(id_)} for id_, found in judged.items()}

    def carried_row(self, claim_id: str, fingerprint: Callable[[], Mapping[str, Any]]) -> dict[str, Any] | None:
        """The row of the resumed run, where the experiment and its libraries are still the same."""
        found = self.carried.get(claim_id)
        if found is None:
            return None
        now = fingerprint()
        same = all(found["fingerprint"].get(part) == now[part] for part in ("code", "distributions"))
        return found if same else None

    def _workers_now(self) -> sweep.Workers | None:
        return None if self.timed else self.workers

    def sweep(self) -> sweep.Sweep:
        """The sweep of this run, with what the resumed one kept."""
        kept = sweep.kept_results(self.resume) if self.resume else {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        journal = sweep.sweeps_path(self.path, self.worker)
        return sweep.Sweep(self.root, journal, kept, self.progress, self._workers_now, self.first_seed)

    def close(self) -> None:
        """Leave the workers, where there are any."""
        if self.workers is not None:
            self.workers.close()
