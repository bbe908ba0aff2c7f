"""One run: which claims it selected, the rows it has so far, and where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runtwice import __version__, environment, ledger, sweep
from runtwice.errors import LedgerError

LOCAL = Path("reports", "local")


class Session:
    """State of a run, on the process that keeps the ledger or on a worker that only measures.

    Args:
        root: The project's root.
        path: The ledger's path, or None for a new one in `reports/local/`.
        resume: A ledger whose judged claims and sweeps are carried over.
        worker: The worker's name; "" on the process that keeps the ledger.
        progress: Shows long experiments passing.
    """

    def __init__(
        self,
        root: Path,
        path: Path | None,
        resume: Path | None = None,
        worker: str = "",
        progress: sweep.Progress = sweep.silent,
    ) -> None:
        self.root = root
        self.resume = resume
        self.path = path or resume or ledger.fresh_path(root / LOCAL)
        self.worker = worker
        self.progress = progress
        self.selection: list[str] = []
        self.rows: dict[str, dict[str, Any]] = {}
        self.carried: dict[str, dict[str, Any]] = {}
        self.written: Path | None = None
        self._journal: ledger.Journal | None = None

    def start(self, selection: Sequence[str], command: Sequence[str]) -> None:
        """Open the journal for the selected claims; without any, nothing is written.

        Raises:
            LedgerError: the folder cannot be written, or the ledger to resume cannot be read.
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
        try:
            self._journal = ledger.Journal(self.path, head)
        except OSError as error:
            raise LedgerError(f"{self.path}: the ledger cannot be written: {error}") from None

    def add(self, row: dict[str, Any]) -> None:
        """Keep one row."""
        self.rows[row["id"]] = row
        if self._journal is not None:
            self._journal.add(row)

    def finish(self) -> None:
        """Write the ledger; it says `partial` where a selected claim was not judged."""
        if self._journal is None:
            return
        partial = not set(self.selection) <= set(self.rows)
        self.written = self._journal.finish(partial=partial)
        if not partial:
            sweep.discard(self.path)

    def load_carried(self) -> None:
        """Read the rows of the ledger to resume.

        Raises:
            LedgerError: it cannot be read.
        """
        if self.resume is not None:
            self.carried = {id_: row for id_, row in ledger.read(self.resume).rows.items() if row["verdict"] != "error"}

    def carried_row(self, claim_id: str, fingerprint: Callable[[], Mapping[str, Any]]) -> dict[str, Any] | None:
        """The row of the resumed run, where the experiment is still the same."""
        row = self.carried.get(claim_id)
        if row is None or row["fingerprint"].get("code") != fingerprint().get("code"):
            return None
        return row

    def sweep(self) -> sweep.Sweep:
        """The sweep of this run, with what the resumed one kept."""
        kept = sweep.kept_results(self.resume) if self.resume else {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return sweep.Sweep(self.root, sweep.sweeps_path(self.path, self.worker), kept, self.progress)
