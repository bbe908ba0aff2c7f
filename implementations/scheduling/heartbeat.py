"""What a worker says of itself in each heartbeat, and how old or out of date that is.

Follows: the heartbeat of a job scheduler that reads the training script's options once, when the worker starts, and
repeats that copy for as long as it lives: current in its time, out of date in what it says. The repair puts beside the
copy a digest of the code that was loaded and of the code on disk.
Leaves out: the way the beat travels (`script_worker.py` hangs it on Dask's own heartbeat); a wrong version of the data.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from implementations.scheduling.identity import Parameter, identity
from implementations.scheduling.training_script import code_digest, load, modified_at_s


@dataclass(frozen=True)
class Contents:
    """What a beat carries beside its time.

    Attributes:
        options: `cached`, as they were read at the start; `fresh`, read from the disk at each beat; or `none`.
        code: Digests of the code loaded and of the code on disk.
        progress: The running job and its step.
        instance: Host, process and start of the worker.
    """

    options: Literal["none", "cached", "fresh"] = "cached"
    code: bool = True
    progress: bool = True
    instance: bool = True


FULL = Contents()
# The heartbeat that hid the fault: the options of the start, and the time of the beat.
READ_ONCE = Contents("cached", code=False, progress=False, instance=False)


@dataclass(frozen=True)
class Code:
    """The code in memory beside the code on disk: their digests, when one was loaded and the other written."""

    loaded: str
    loaded_at_s: float
    on_disk: str
    modified_at_s: float

    @property
    def stale(self) -> bool:
        """True where the disk holds other code than the process."""
        return self.loaded != self.on_disk

    @property
    def behind_s(self) -> float:
        """How much older the code in memory is, in seconds; 0 where it is the code on disk."""
        return max(0.0, self.modified_at_s - self.loaded_at_s) if self.stale else 0.0


@dataclass(frozen=True)
class Running:
    """A job under way and the step it is at."""

    job: str
    step: int = 0
    steps: int = 0


@dataclass(frozen=True)
class Instance:
    """One process: no two have the same, however alike their options."""

    host: str
    pid: int
    started_at_s: float


@dataclass(frozen=True)
class Beat:
    """One heartbeat. What it does not carry is None."""

    sent_at_s: float
    parameters: tuple[Parameter, ...] | None = None
    code: Code | None = None
    running: Running | None = None
    instance: Instance | None = None

    @property
    def identity(self) -> str | None:
        """The hash over the options it carries."""
        return None if self.parameters is None else identity(self.parameters)

    def to_record(self) -> dict[str, Any]:
        """Plain values, for the wire."""
        record = asdict(self)
        if self.parameters is not None:
            record["parameters"] = [{**vars(one), "choices": list(one.choices)} for one in self.parameters]
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Beat:
        """The beat that `to_record` wrote.

        Raises:
            ValueError: it is none.
        """
        try:
            return cls._read(record)
        except (AttributeError, KeyError, TypeError, ValueError) as fault:
            raise ValueError(f"no heartbeat of this version ({fault!r})") from None

    @classmethod
    def _read(cls, record: Mapping[str, Any]) -> Beat:
        if not isinstance(record["sent_at_s"], int | float):
            raise ValueError(f"sent at {record['sent_at_s']!r}")
        listed, code, running, instance = (record[part] for part in ("parameters", "code", "running", "instance"))
        return cls(
            record["sent_at_s"],
            None if listed is None else tuple(map(Parameter.from_record, listed)),
            None if code is None else Code(**code),
            None if running is None else Running(**running),
            None if instance is None else Instance(**instance),
        )


@dataclass
class Pulse:
    """Beats of one worker process on one training script.

    Args:
        script: The script's file; it is loaded at once.
        contents: What the beats carry.
        clock: Seconds since the epoch.
    """

    script: Path
    contents: Contents = FULL
    clock: Callable[[], float] = time.time
    running: Running | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Load the script: from here on this process runs that code, whatever happens to the file."""
        self.loaded = load(self.script, self.clock())
        self.instance = Instance(platform.node(), os.getpid(), self.clock())

    def beat(self) -> Beat:
        """What this worker says of itself now."""
        carried = self.contents
        return Beat(
            self.clock(),
            self._parameters(),
            self._code() if carried.code else None,
            self.running if carried.progress else None,
            self.instance if carried.instance else None,
        )

    def _parameters(self) -> tuple[Parameter, ...] | None:
        if self.contents.options == "none":
            return None
        return self.loaded.parameters if self.contents.options == "cached" else load(self.script, 0.0).parameters

    def _code(self) -> Code:
        return Code(self.loaded.digest, self.loaded.at_s, code_digest(self.script), modified_at_s(self.script))

    def report(self, step: int, steps: int) -> None:
        """Note how far the running job is."""
        if self.running is not None:
            self.running = replace(self.running, step=step, steps=steps)


def age_s(beat: Beat, now_s: float) -> float:
    """Seconds since the beat was sent."""
    return now_s - beat.sent_at_s


def is_late(beat: Beat, now_s: float, interval_s: float) -> bool:
    """True from two intervals on: the rule of most status lights, which asks for nothing but the time."""
    return age_s(beat, now_s) >= 2 * interval_s
