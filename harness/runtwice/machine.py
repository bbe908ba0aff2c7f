"""The machine a timing shares with others: one timing at a time on it, and whether it is quiet enough.

Leaves out: what the machine is made of (`environment.py`), and locks on systems without `flock`.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from runtwice.errors import RuntwiceError

LOCK_NAME = "runtwice-timing.lock"
LOCK_TIMEOUT_S = 600.0
MOST_STEAL = 0.05  # share of CPU time the hypervisor gave to other guests
_POLL_S = 0.05
_depth = 0  # how often this process holds the lock; a timing inside a timing is the same holder


class MachineBusy(RuntwiceError):
    """Another process timed something for all of the time this one would wait."""


def lock_path() -> Path:
    """The file all timings of this machine lock."""
    return Path(tempfile.gettempdir()) / LOCK_NAME


@contextmanager
def machine_lock(owner: str = "", timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Keep other timings off this machine, in this and in other processes.

    The lock belongs to an open file, so that a killed holder releases it. Holding it twice in one process is holding
    it once.

    Args:
        owner: what is timed, for the message to whoever waits.
        timeout_s: how long to wait for the present holder.

    Raises:
        MachineBusy: still held after `timeout_s`; names the holder.
    """
    global _depth
    if _depth:
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
        return
    handle = _acquire(timeout_s)
    _depth = 1
    try:
        _sign(handle, f"process {os.getpid()}" + (f" ({owner})" if owner else ""))
        yield
    finally:
        _depth = 0
        _sign(handle, "")
        os.close(handle)


def _acquire(timeout_s: float) -> int:
    import fcntl

    handle = _open(lock_path())
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 400, 0).decode(errors="replace") or "a process that did not sign"
                os.close(handle)
                raise MachineBusy(f"{lock_path()} was held for {timeout_s:g} s by {holder}") from None
            time.sleep(_POLL_S)
        else:
            return handle


def _open(path: Path) -> int:
    try:
        # in a sticky folder, O_CREAT on another user's file is refused even where writing is allowed
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        os.fchmod(handle, 0o666)
        return handle


def _sign(handle: int, text: str) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, text.encode(), 0)


class Watch:
    """Looks at the machine now and again later, and says what was in the way between."""

    def __init__(self) -> None:
        self._before = psutil.cpu_times()

    def steal(self) -> float:
        """Share of CPU time since the start that went to other guests; 0 where the system does not count it."""
        after = psutil.cpu_times()
        total = _total(after) - _total(self._before)
        stolen = getattr(after, "steal", 0.0) - getattr(self._before, "steal", 0.0)
        return max(0.0, stolen / total) if total > 0 else 0.0

    def reason(self) -> str | None:
        """Why a timing taken since the start is not to be trusted, or None."""
        stolen, load, cores = self.steal(), psutil.getloadavg()[0], psutil.cpu_count() or 1
        if stolen > MOST_STEAL:
            return f"{stolen:.0%} of CPU time was stolen by other guests (at most {MOST_STEAL:.0%})"
        if load > cores:
            return f"load {load:.1f} on {cores} cores"
        return None


def _total(times: Any) -> float:
    # Linux counts the time of guests in `user` and `nice` as well
    return float(sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0))


def machine_noise(window_s: float = 0.2) -> str | None:
    """Why this machine is too noisy to time anything now, or None.

    Args:
        window_s: how long to count stolen time.
    """
    watch = Watch()
    time.sleep(window_s)
    return watch.reason()
