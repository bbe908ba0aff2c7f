"""The ledger: one JSON file a run, which pytest-benchmark and the tools around it read as one of their own.

Format history of the `claims` block
  1  `schema`, `created`, `runtwice`, `partial`, `selection` (ids), `command`, `environment`, `controls`,
     `rows` (one a claim, see `runtwice.row`); where workers were asked for, `cluster`: `scheduler`, `workers`,
     and `sweeps`, the seeds by worker, by sweep. Later, without a new number: `first_seed` where seeds were shifted,
     `accepted` (what `runtwice accept` moved), `controls.ceilings`, and `needs` and `warnings` in rows.

While a run lasts, its rows are appended to a journal beside the ledger (`<ledger>.journal`, JSON lines: a header, then
a row a line); the ledger is written by rename when the run ends. A killed run leaves the journal, an interrupted one a
ledger that says `partial`; `read` takes either.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median, stdev
from typing import IO, Any

from runtwice import ledger_shape, whole
from runtwice.errors import LedgerError

SCHEMA = 1
JOURNAL_SUFFIX = ".journal"
# Half of a pair that stands for one sign: JSON can spell it, no file can hold it.
_HALF_SIGN = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Ledger:
    """A run's rows and what they were measured with."""

    path: Path
    document: dict[str, Any]

    @property
    def block(self) -> dict[str, Any]:
        """The `claims` block."""
        block: dict[str, Any] = self.document["claims"]
        return block

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The rows by claim id."""
        return {row["id"]: row for row in self.block["rows"]}

    @property
    def cpu(self) -> dict[str, Any]:
        """What is known of the processor."""
        machine = self.document.get("machine_info") or {}
        return machine.get("cpu") or {}

    def timings(self, claim_id: str) -> list[dict[str, Any]]:
        """One claim's durations, as its row had them before they went to the benchmark list."""
        entries = [entry for entry in self.document["benchmarks"] if entry["fullname"] == claim_id]
        return [
            {"name": entry["extra_info"]["figure"], "seconds": entry["stats"]["data"], "group": entry["group"]}
            for entry in entries
        ]

    @property
    def partial(self) -> bool:
        """True where the run ended before every selected claim was judged."""
        return bool(self.block["partial"])

    @property
    def completeness(self) -> str:
        """`complete, M claims` or `partial, N of M`."""
        done, selected = len(self.block["rows"]), len(self.block["selection"])
        return f"partial, {done} of {selected}" if self.partial else f"complete, {done} claims"


class Journal:
    """Appends a run's rows as they are decided, and writes the ledger in the end.

    Of one path there is one at a time: it is locked, and a killed run's lock goes with the run.

    Args:
        path: The ledger's path; the journal stands beside it.
        header: The document without its rows.
        fresh: Whether the path must not be another run's.
        kept: Rows of an earlier run that this one goes on from. They are in the journal, where another kill must not
            lose them, and in the ledger once they are added.

    Raises:
        FileExistsError: `fresh`, and another run was here first.
        BlockingIOError: another run is going on there.
        OSError: nothing can be written there.
    """

    def __init__(
        self, path: Path, header: dict[str, Any], *, fresh: bool = False, kept: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        self.path = path
        self.header = header
        self.rows: dict[str, dict[str, Any]] = {}
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = _locked(journal_path(path), "x" if fresh else "a")
        self._file.truncate(0)
        self._write(header, *kept)

    def add(self, row: dict[str, Any]) -> None:
        """Keep one claim's row; a later row of the same claim replaces it."""
        self.rows[row["id"]] = row
        self._write(row)

    def finish(self, *, partial: bool) -> Path:
        """Write the ledger by rename, remove the journal, and return the ledger's path."""
        document = assembled(self.header, self.rows.values(), partial=partial)
        try:
            whole.write(self.path, _dumped(document, indent=1))
            journal_path(self.path).unlink(missing_ok=True)
        finally:
            self.close()
        return self.path

    def close(self) -> None:
        """Leave the journal as it is."""
        self._file.close()

    def _write(self, *records: Mapping[str, Any]) -> None:
        self._file.write("".join(_dumped(record) + "\n" for record in records))
        self._file.flush()


def _locked(path: Path, mode: str) -> IO[str]:
    """The journal, which no other run has or gets while it is open."""
    while True:
        file = path.open(mode, encoding="utf-8")
        try:
            _lock(file)
            if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                return file
        except FileNotFoundError:
            pass
        except OSError:
            file.close()
            raise
        file.close()  # the run that had it has just ended, and its journal is gone


def _lock(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # a system without it
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(errno.EWOULDBLOCK, "another run is writing it", file.name) from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # a file system without locks
            raise


def journal_path(ledger: Path) -> Path:
    """Where the journal of a ledger stands."""
    return ledger.with_name(ledger.name + JOURNAL_SUFFIX)


def fresh_path(folder: Path, now: datetime | None = None) -> Path:
    """A path in `folder` named after the UTC time, that no ledger or journal has taken."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    candidates = (folder / f"{stamp}{suffix}.json" for suffix in ("", *(f"-{i}" for i in range(2, 1000))))
    return next(path for path in candidates if not path.exists() and not journal_path(path).exists())


def newest(folder: Path) -> Path:
    """The ledger (or the path of the ledger a journal belongs to) in `folder` that was written last.

    Raises:
        LedgerError: there is none.
    """
    named = [path for pattern in ("*.json", f"*.json{JOURNAL_SUFFIX}") for path in folder.glob(pattern)]
    found = [path for path in named if path.is_file()]
    if not found:
        raise LedgerError(f"no ledger in {folder}; run `pytest claims/` first, or name one with --ledger")
    path = max(found, key=lambda one: one.stat().st_mtime_ns)
    return path.with_name(path.name.removesuffix(JOURNAL_SUFFIX))


def read(path: Path) -> Ledger:
    """The ledger at `path`, or what the journal beside it holds.

    Raises:
        LedgerError: missing, unreadable, truncated, not JSON, not a ledger, or of a later schema.
    """
    if path.name.endswith(JOURNAL_SUFFIX):
        return Ledger(path, _from_journal(path))
    if _is_newer(journal_path(path), path):
        return Ledger(path, _from_journal(journal_path(path)))
    try:
        document = parsed(_text(path))
    except ValueError as error:
        raise LedgerError(f"{path} {error}") from None
    return Ledger(path, _checked(path, document))


def parsed(text: str) -> Any:
    """What a text of strict JSON says.

    Raises:
        ValueError: it is none, or holds what could not be written again; the message goes on after the file's name.
    """
    try:
        document = json.loads(text, parse_constant=_not_finite, parse_float=_finite_float)
        if _HALF_SIGN.search(text):
            json.dumps(document, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        what = "is empty" if not text.strip() else f"is not JSON, or was cut off (line {error.lineno}: {error.msg})"
        raise ValueError(what) from None
    except UnicodeEncodeError:
        raise ValueError("holds half of a sign (a lone surrogate)") from None
    except RecursionError:
        raise ValueError("is nested too deeply for a ledger") from None
    except ValueError as error:  # a number that this Python refuses
        raise ValueError(f"holds a number that is none: {error}") from None
    return document


def _not_finite(word: str) -> float:
    raise ValueError(f"{word}, where JSON has finite ones only")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:40]} is too large")
    return number


def _is_newer(journal: Path, path: Path) -> bool:
    """True where a later run than the one that wrote the ledger is going on, or was killed."""
    if not journal.is_file():
        return False
    return not path.is_file() or journal.stat().st_mtime_ns > path.stat().st_mtime_ns


def _text(path: Path, errors: str = "strict") -> str:
    try:
        if path.is_char_device():  # some of them have no end
            raise LedgerError(f"{path} is a device, not a ledger")
        return path.read_text(encoding="utf-8", errors=errors)
    except FileNotFoundError:
        raise LedgerError(f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path} cannot be read: {error}") from None


def _from_journal(path: Path) -> dict[str, Any]:
    """What a journal holds; a last line cut off by the kill is dropped."""
    records = []
    # Not splitlines: a text in a row may hold one of Unicode's other line breaks.
    for line in _text(path, errors="replace").split("\n"):
        try:
            records.append(parsed(line))
        except ValueError:
            break
    if not records:
        raise LedgerError(f"{path} is empty: the run was killed before it judged anything")
    header = _checked(path, records[0])
    rows = {row["id"]: row for row in _checked_rows(path, records[1:])}
    return assembled(header, rows.values(), partial=True)


def _checked(path: Path, document: Any) -> dict[str, Any]:
    block = document.get("claims") if isinstance(document, dict) else None
    if not isinstance(block, dict) or not isinstance(block.get("rows"), list):
        raise LedgerError(f"{path} is not a runtwice ledger: it has no `claims` block with rows")
    schema = block.get("schema")
    if type(schema) is not int or schema < 1:
        raise LedgerError(f"{path}: schema {schema!r} is not a number from 1 up")
    if schema > SCHEMA:
        raise LedgerError(
            f"{path}: schema {schema} is newer than this release reads (up to {SCHEMA}); upgrade runtwice"
        )
    if fault := _fault(ledger_shape.BLOCK, block, "claims") or _fault(ledger_shape.DOCUMENT, document):
        raise LedgerError(f"{path}: {fault}")
    rows = _checked_rows(path, block["rows"])
    ids = Counter(row["id"] for row in rows)
    if (twice := ids.most_common(1)) and twice[0][1] > 1:
        raise LedgerError(f"{path}: {twice[0][1]} rows of one claim, {twice[0][0]}")
    checked: dict[str, Any] = document
    return checked


def _checked_rows(path: Path, rows: list[Any]) -> list[dict[str, Any]]:
    for number, row in enumerate(rows, 1):
        if fault := _fault(ledger_shape.ROW, row):
            raise LedgerError(f"{path}: row {number} of {len(rows)}{_named(row)}: {fault}")
    return rows


def _fault(shape: ledger_shape.Shape, found: Any, where: str = "") -> str:
    try:
        return shape(found, where)
    except RecursionError:
        return "nested too deeply"


def _named(row: Any) -> str:
    """The claim a row is of, where it says so."""
    id_ = row.get("id") if isinstance(row, dict) else None
    return f" ({id_})" if id_ and not ledger_shape.claim_id(id_, "") else ""


def assembled(header: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], *, partial: bool) -> dict[str, Any]:
    """The whole document: durations go to the benchmark list, everything else to the claims block."""
    kept = [dict(row) for row in rows]
    benchmarks = [benchmark(row["id"], timing) for row in kept for timing in row.pop("timings", [])]
    block = {**header["claims"], "partial": partial, "rows": kept}
    return {**header, "benchmarks": benchmarks, "claims": block}


def header(
    machine: Mapping[str, Any],
    commit: Mapping[str, Any],
    environment: Mapping[str, Any],
    selection: list[str],
    command: list[str],
    version: str,
) -> dict[str, Any]:
    """A document without rows."""
    now = datetime.now(UTC).isoformat()
    return {
        "machine_info": dict(machine),
        "commit_info": dict(commit),
        "benchmarks": [],
        "datetime": now,
        "version": version,
        "claims": {
            "schema": SCHEMA,
            "created": now,
            "runtwice": version,
            "partial": True,
            "selection": selection,
            "command": command,
            "environment": dict(environment),
            "controls": {},
            "rows": [],
        },
    }


def benchmark(claim_id: str, timing: Mapping[str, Any]) -> dict[str, Any]:
    """One entry of pytest-benchmark's list; its full name is the claim's id."""
    seconds = [float(value) for value in timing["seconds"]]
    return {
        "group": timing.get("group"),
        "name": f"{claim_id}: {timing['name']}",
        "fullname": claim_id,
        "params": None,
        "param": None,
        "extra_info": {"figure": timing["name"]},
        "options": {
            "disable_gc": False,
            "timer": "perf_counter",
            "min_rounds": len(seconds),
            "max_time": 0.0,
            "min_time": 0.0,
            "warmup": False,
        },
        "stats": _stats(seconds),
    }


def _stats(seconds: list[float]) -> dict[str, Any]:
    """The fields pytest-benchmark keeps of a list of rounds, one iteration each."""
    ordered = sorted(seconds)
    centre, spread = mean(ordered), stdev(ordered) if len(ordered) > 1 else 0.0
    q1, q3 = _lower_quartile(ordered), -_lower_quartile([-value for value in reversed(ordered)])
    fence_low, fence_high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    beyond = sum(not fence_low <= value <= fence_high for value in ordered)
    far = sum(not centre - spread <= value <= centre + spread for value in ordered)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": centre,
        "stddev": spread,
        "rounds": len(ordered),
        "median": median(ordered),
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": beyond,
        "stddev_outliers": far,
        "outliers": f"{far};{beyond}",
        "ld15iqr": min((value for value in ordered if value >= fence_low), default=ordered[0]),
        "hd15iqr": max((value for value in ordered if value <= fence_high), default=ordered[-1]),
        "ops": len(ordered) / math.fsum(ordered) if centre else 0.0,
        "total": math.fsum(ordered),
        "data": seconds,
        "iterations": 1,
    }


def _lower_quartile(ordered: list[float]) -> float:
    """As pytest-benchmark has it: the median of the lower half, which has half a share in a value in the middle."""
    quarter, rest = divmod(len(ordered), 4)
    if rest % 2 == 0:
        return median(ordered[: len(ordered) // 2])
    if len(ordered) == 1:
        return ordered[0]
    below, weight = (quarter - 1, 0.25) if rest == 1 else (quarter, 0.75)
    return weight * ordered[below] + (1 - weight) * ordered[below + 1]


def _dumped(value: Any, indent: int | None = None) -> str:
    return json.dumps(finite(value), indent=indent, allow_nan=False, ensure_ascii=False)


def finite(value: Any) -> Any:
    """`value` for JSON: numbers that are not finite as the words `nan`, `inf`, `-inf`; unknown objects as text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")  # a lone surrogate is not text
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [finite(item) for item in value]
    return finite(value.tolist()) if hasattr(value, "tolist") else str(value)
