"""Timing one arm against another: fresh processes, interleaved rounds, and an answer as soon as there is one.

Each process times both arms by turns (A B B A, or B A A B) and counts once: as the log ratio of the two medians.
Which arm is set up and warmed up first is a coin per process, so that between identical arms each log ratio is as
likely above 0 as below whatever being first does; that is all the sign e-process asks for, and its interval for the
median log ratio may be looked at after every process.
Leaves out: pinning to a core, and subtracting the 50 ns a call of the loop costs, which pulls the ratio of arms
below a microsecond towards 1.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from runtwice.errors import EvidenceError
from runtwice.machine import Watch, machine_lock
from runtwice.sequential import SignSequence, unanimous, values_needed
from runtwice.stats import Estimate, sign_flip

ALPHA = 0.01
MAX_SECONDS = 10.0
MAX_PROCESSES = 60
MAX_TURNS = 25  # turns of four rounds a process times at most
MIN_ROUND_S = 1e-3
CONTROL_CONFIDENCE = 0.999
CONTROL_PROCESSES = 12
THREADS = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
_PLANNED = 20  # processes the time is planned for; a 10% slowdown at a spread of 4% is decided by 16
_TIMED_SHARE = 0.6  # of a process's time; the rest is its start, its set-up and its warm-up
_WORKER = Path(__file__).with_name("worker.py")
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class ArmError(EvidenceError):
    """An arm that cannot be timed; the message names it.

    Args:
        arm: the arm's name or target.
        what: what went wrong, and what would be right.
    """

    def __init__(self, arm: str, what: str) -> None:
        super().__init__(f"arm {arm!r}: {what}")
        self.arm = arm


class UnfitArm(ArmError, ValueError):
    """Declared in a way no fresh process can follow."""


class ArmRaised(ArmError):
    """Raised while it was imported, set up or called."""


class ReturnedEarly(ArmError):
    """Did nothing that could be timed: as quick as an empty function, or a coroutine nobody awaited."""


class WorkerDied(ArmError):
    """Ended its process, or kept it beyond the time limit."""


class BadDuration(ArmError):
    """Gave a duration that is missing, zero, negative or not finite."""


@dataclass(frozen=True)
class Arm:
    """One side of a timing, by name, so that a fresh process can import it.

    Args:
        target: "module.path:function", what is timed.
        setup: "module.path:function", called once a process with `settings` as keywords. A tuple it returns is the
            target's positional arguments, a dict its keywords, anything else its one argument. Without a setup the
            target is called with `settings` as keywords.
        settings: JSON values.

    Raises:
        UnfitArm: a lambda, a closure, a function object or a name that is none, or settings that are not JSON.
    """

    target: str
    setup: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for reference in (self.target, self.setup):
            if reference is not None:
                _check_reference(reference)
        try:
            json.dumps(dict(self.settings), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UnfitArm(self.target, f"settings {self.settings!r} are not JSON ({error})") from None

    def as_dict(self) -> dict[str, Any]:
        """The arm as JSON values, for a ledger or a fingerprint."""
        return {"target": self.target, "setup": self.setup, "settings": dict(self.settings)}


def _check_reference(reference: object) -> None:
    if not isinstance(reference, str):
        name = getattr(reference, "__qualname__", type(reference).__name__)
        where = f"{getattr(reference, '__module__', 'module')}:{name}"
        advice = f"write {where!r}" if _TARGET.fullmatch(where) else "move it to the top level of a module"
        raise UnfitArm(where, f"a fresh process cannot be sent an object; {advice}")
    if "<" in reference:
        raise UnfitArm(reference, "lambdas and closures cannot be imported; move it to the top level of a module")
    if not _TARGET.fullmatch(reference):
        raise UnfitArm(reference, "write 'module.path:function'")
    module = reference.partition(":")[0]
    if module == "__main__":
        raise UnfitArm(reference, "'__main__' is another module in a fresh process; move it to one with a name")


@dataclass(frozen=True)
class Plan:
    """What one process is asked to do.

    Args:
        hash_seed: its PYTHONHASHSEED.
        first: 0 if the slow arm is set up and warmed up first, 1 if the fast one is.
        starts: which arm each turn starts with.
    """

    hash_seed: int
    first: int
    starts: tuple[int, ...]


@dataclass(frozen=True)
class ProcessTimes:
    """What one process measured: seconds per call, one value a round, in the order taken."""

    slow_s: tuple[float, ...]
    fast_s: tuple[float, ...]
    slow_loops: int = 1
    fast_loops: int = 1
    plan: Plan | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log_ratio(self) -> float:
        """log(median slow / median fast)."""
        return math.log(median(self.slow_s) / median(self.fast_s))


@dataclass(frozen=True)
class Progress:
    """How far a timing is: said after each process."""

    processes: int
    elapsed_s: float
    log_ratio: float
    decided: str | None


@dataclass(frozen=True)
class Rule:
    """When a timing stops.

    Args:
        alpha: probability of a wrong answer, at all looks together.
        margin: relative difference that counts as none, or None.
        promised: the ratio slow / fast must exceed.
        max_seconds: time to spend.
        min_processes: never stop before; at least what unanimous processes need to decide.
        max_processes: never go on after.
        patient: whether as many processes as can decide are timed although the time is up.
    """

    alpha: float = ALPHA
    margin: float | None = None
    promised: float = 1.0
    max_seconds: float = MAX_SECONDS
    min_processes: int = 0
    max_processes: int = MAX_PROCESSES
    patient: bool = False

    def __post_init__(self) -> None:
        _require("alpha", self.alpha, 0.0 < self.alpha < 1.0, "strictly between 0 and 1")
        _require("promised", self.promised, self.promised > 0.0 and math.isfinite(self.promised), "a ratio above 0")
        _require("max_seconds", self.max_seconds, self.max_seconds > 0.0, "above 0")
        margin_fits = self.margin is None or (math.isfinite(self.margin) and self.margin > 0.0)
        _require("margin", self.margin, margin_fits, "a fraction above 0, or None")
        fewest = self.fewest
        _require("max_processes", self.max_processes, self.max_processes >= fewest, f"at least {fewest}")

    @property
    def fewest(self) -> int:
        """Processes before which nothing is decided."""
        return max(self.min_processes, unanimous(self.alpha))

    def decided(self, low: float, high: float) -> str | None:
        """`above`, `inside` or `below` once the interval shows it, else None.

        Args:
            low: lower end of the interval of the log ratio over the promised one.
            high: its upper end.
        """
        margin = 0.0 if self.margin is None else math.log1p(self.margin)
        if low > 0.0:
            return "above"
        if high < -margin:
            return "below"
        return "inside" if margin > 0.0 and -margin <= low and high <= margin else None


def _require(name: str, value: object, fits: bool, wanted: str) -> None:
    if not fits:
        raise ValueError(f"{name} must be {wanted}, got {value!r}")


@dataclass(frozen=True)
class TimingResult:
    """A timing: its samples, its estimate and how it ended.

    Args:
        slow: the arm that should take longer.
        fast: the other.
        processes: what each process measured, in order.
        rule: when it was to stop.
        estimate: log(slow / fast) with the interval that holds at any stopping time; None below the fewest processes.
        decided: `above`, `inside` or `below` the promised ratio, or None.
        stopped: why it ended, in words.
        seed: of the coins and hash seeds.
        seconds: all it took.
        noise: what was wrong with the machine meanwhile, or None.
    """

    slow: Arm
    fast: Arm
    processes: tuple[ProcessTimes, ...]
    rule: Rule
    estimate: Estimate | None
    decided: str | None
    stopped: str
    seed: int
    seconds: float
    noise: str | None = None

    @property
    def log_ratios(self) -> tuple[float, ...]:
        """log(slow / fast), one a process."""
        return tuple(one.log_ratio for one in self.processes)

    @property
    def ratio(self) -> float:
        """The estimated slow / fast: the median over processes."""
        return math.exp(self.estimate.value if self.estimate else float(np.median(self.log_ratios)))

    @property
    def spread(self) -> float:
        """Standard deviation of the log ratio from process to process; 0 of one."""
        return float(np.std(self.log_ratios, ddof=1)) if len(self.processes) > 1 else 0.0

    @property
    def more_processes(self) -> int:
        """How many more would decide with 80% power, were the median seen the truth; 0 where it is decided.

        Decided as an effect or as inside the margin, whichever is nearer.
        """
        if self.decided:
            return 0
        seen = abs(median(self.log_ratios) - math.log(self.rule.promised))
        to_margin = 0.0 if self.rule.margin is None else abs(math.log1p(self.rule.margin) - seen)
        distance, fewest = max(seen, to_margin), self.rule.fewest
        needed = values_needed(self.spread, distance, self.rule.alpha) if distance > 0.0 else fewest
        return max(1, max(needed, fewest) - len(self.processes))

    @property
    def e_value(self) -> float:
        """Largest evidence so far against a ratio as promised; 1 is none."""
        return 1.0 / self.estimate.p_value if self.estimate and self.estimate.p_value else 1.0

    def seconds_of(self, arm: str) -> list[float]:
        """Seconds per call of the `slow` or the `fast` arm, all rounds of all processes in order."""
        return [value for one in self.processes for value in getattr(one, f"{arm}_s")]

    def settings(self) -> dict[str, Any]:
        """What was asked for, not what came out: JSON values for a fingerprint."""
        return {
            "slow": self.slow.as_dict(),
            "fast": self.fast.as_dict(),
            "rule": asdict(self.rule),
            "seed": self.seed,
            "threads": THREADS,
            "round_s": round_seconds(self.rule.max_seconds),
            "max_turns": MAX_TURNS,
        }


def compare(
    slow: Arm,
    fast: Arm,
    *,
    alpha: float = ALPHA,
    margin: float | None = None,
    promised: float = 1.0,
    max_seconds: float = MAX_SECONDS,
    min_processes: int = 0,
    max_processes: int = MAX_PROCESSES,
    patient: bool = False,
    seed: int = 0,
    cwd: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TimingResult:
    """Time two arms against each other until the ratio is known, or the time is up.

    Args:
        slow: the arm that should take longer.
        fast: the arm that should take less.
        alpha: probability of a wrong answer.
        margin: relative difference that counts as none; without one "no difference" is never concluded.
        promised: ratio that slow / fast should exceed.
        max_seconds: time to spend, waiting for the machine not counted; the process that is running is finished.
        min_processes: never stop before; 10 at alpha = 1% in any case.
        max_processes: never go on after.
        patient: whether as many processes as can decide are timed although the time is up.
        seed: of the coins and hash seeds.
        cwd: folder the processes start in.
        progress: called after each process.

    Returns:
        The samples, the estimate of log(slow / fast) and how it ended.

    Raises:
        ArmError: an arm raised, returned early, ended its process, or gave no valid duration.
        MachineBusy: another timing kept the machine.
        ValueError: a rule that cannot be kept.
    """
    rule = Rule(alpha, margin, promised, max_seconds, min_processes, max_processes, patient)
    measure = Worker(slow, fast, max_seconds, cwd)
    with machine_lock(f"{slow.target} against {fast.target}"):
        return run(measure, slow, fast, rule, seed=seed, progress=progress)


def run(
    measure: Callable[[Plan], ProcessTimes],
    slow: Arm,
    fast: Arm,
    rule: Rule,
    *,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TimingResult:
    """The sequential part of `compare`, over anything that measures one process.

    Args:
        measure: times both arms in one process.
        slow: the arm that should take longer.
        fast: the other.
        rule: when to stop.
        seed: of the plans.
        progress: called after each process.
        clock: seconds, to keep the time limit by.

    Raises:
        BadDuration: a process gave a duration that is missing, zero, negative or not finite.
    """
    watch, begin, plans = Watch(), clock(), _plans(seed)
    processes: list[ProcessTimes] = []
    sequence = SignSequence(1 - rule.alpha)  # of the log ratio over the promised one
    while True:
        processes.append(checked(measure(next(plans))))
        log_ratio = processes[-1].log_ratio
        sequence.update(log_ratio - math.log(rule.promised))
        decided = rule.decided(sequence.low, sequence.high) if len(processes) >= rule.fewest else None
        elapsed = clock() - begin
        if progress:
            progress(Progress(len(processes), elapsed, log_ratio, decided))
        if stopped := _stopped(decided, len(processes), elapsed, rule):
            break
    return TimingResult(
        slow=slow,
        fast=fast,
        processes=tuple(processes),
        rule=rule,
        estimate=_unshifted(sequence, rule),
        decided=decided,
        stopped=stopped,
        seed=seed,
        seconds=elapsed,
        noise=watch.reason(),
    )


def checked(times: ProcessTimes) -> ProcessTimes:
    """The same times, if every one of them is a duration.

    Raises:
        BadDuration: one is missing, zero, negative or not finite.
    """
    for name in ("slow", "fast"):
        seconds = getattr(times, f"{name}_s")
        if not seconds:
            raise BadDuration(name, "no round was timed; need at least one")
        bad = [value for value in seconds if not (math.isfinite(value) and value > 0.0)]
        if bad:
            raise BadDuration(name, f"a call of {bad[0]} s; need a finite duration above 0")
    return times


def _plans(seed: int) -> Iterator[Plan]:
    source = random.Random(seed)
    while True:
        hash_seed, first = source.randrange(2**32), source.randrange(2)
        yield Plan(hash_seed, first, tuple(source.randrange(2) for _ in range(MAX_TURNS)))


def _unshifted(sequence: SignSequence, rule: Rule) -> Estimate | None:
    if len(sequence.values) < unanimous(rule.alpha):
        return None
    relative, by = sequence.estimate(), math.log(rule.promised)
    return replace(relative, value=relative.value + by, low=relative.low + by, high=relative.high + by)


def _stopped(decided: str | None, processes: int, elapsed: float, rule: Rule) -> str | None:
    if decided:
        return f"decided after {processes} processes"
    if processes >= rule.max_processes:
        return f"undecided after {processes} processes, the most allowed"
    undecidable = rule.patient and processes < rule.fewest
    if elapsed * (processes + 1) / processes > rule.max_seconds and not undecidable:
        return f"undecided after {processes} processes, {rule.max_seconds:g} s were up"
    return None


def round_seconds(max_seconds: float) -> float:
    """How long one round lasts at least: 25 turns of four fill the time planned for a process."""
    return max(MIN_ROUND_S, _budget(max_seconds) / (4 * MAX_TURNS))


def _budget(max_seconds: float) -> float:
    return max(4 * MIN_ROUND_S, _TIMED_SHARE * max_seconds / _PLANNED)


class Worker:
    """Measures one process: starts `worker.py`, sends it the arms and reads the times.

    Args:
        slow: the arm that should take longer.
        fast: the other; None times the slow arm alone.
        max_seconds: time planned for all processes, of which one takes its part.
        cwd: folder the process starts in.
        budget_s: time for the rounds of one process instead, set-up and warm-up not counted.

    Raises:
        UnfitArm: a module that this process cannot find either.
    """

    def __init__(
        self,
        slow: Arm,
        fast: Arm | None,
        max_seconds: float,
        cwd: str | os.PathLike[str] | None = None,
        budget_s: float | None = None,
    ) -> None:
        named = {"slow": slow} if fast is None else {"slow": slow, "fast": fast}
        for arm in named.values():
            _find(arm.target)
            if arm.setup is not None:
                _find(arm.setup)
        self._arms = [{"name": name, **arm.as_dict()} for name, arm in named.items()]
        self._budget_s = _budget(max_seconds) if budget_s is None else budget_s
        self._round_s = round_seconds(max_seconds)
        self._patience_s = max(60.0, 10 * max_seconds)
        self._cwd = cwd

    def __call__(self, plan: Plan) -> ProcessTimes:
        """Start a fresh process and return what it measured.

        Raises:
            ArmError: an arm raised, returned early or ended the process.
        """
        request = {
            "arms": self._arms,
            "first": plan.first,
            "starts": plan.starts,
            "round_s": self._round_s,
            "budget_s": self._budget_s,
        }
        answer = self._ask(request, plan.hash_seed)
        slow, fast = answer["times"]["slow"], answer["times"].get("fast", {"seconds": [], "loops": 0})
        return ProcessTimes(
            tuple(slow["seconds"]), tuple(fast["seconds"]), slow["loops"], fast["loops"], plan, answer["environment"]
        )

    def _ask(self, request: dict[str, Any], hash_seed: int) -> dict[str, Any]:
        try:
            # run() ends the child whatever goes wrong here, Ctrl-C included
            done = subprocess.run(
                [sys.executable, "-P", str(_WORKER)],
                input=json.dumps(request),
                capture_output=True,
                text=True,
                check=False,
                timeout=self._patience_s,
                cwd=self._cwd,
                env={**os.environ, **THREADS, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": _path()},
            )
        except subprocess.TimeoutExpired as late:
            output = late.stdout or ""
            text = output.decode(errors="replace") if isinstance(output, bytes) else output
            return _answer(text, f"no answer for {self._patience_s:g} s")
        last_words = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it wrote nothing")
        return _answer(done.stdout, f"its process ended with status {done.returncode}; {last_words.strip()}")


def _path() -> str:
    """Where this process finds modules, so that what it can import its children can."""
    folders = [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)]
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if os.path.exists(folder)))


def _find(reference: str) -> None:
    module = reference.partition(":")[0]
    try:
        found = find_spec(module)
    except (ImportError, ValueError) as error:
        raise UnfitArm(reference, f"module {module!r} cannot be imported ({error})") from None
    if found is None:
        raise UnfitArm(reference, f"there is no module {module!r}; put the arm in one that can be imported")


def _answer(output: str, ending: str) -> dict[str, Any]:
    """The worker's last line, or the error that its lines amount to."""
    messages = [json.loads(line) for line in output.splitlines() if line.endswith("}")]
    last: dict[str, Any] = messages[-1] if messages else {}
    if "times" in last:
        return last
    if "fault" in last:
        fault = last["fault"]
        kind = ReturnedEarly if fault["type"] == "ReturnedEarly" else ArmRaised
        detail = fault["message"] if kind is ReturnedEarly else f"{fault['type']}: {fault['message']}"
        raise kind(fault["arm"], f"{fault['stage']}: {detail}")
    arm, stage = last.get("at", ["slow", "start"])
    raise WorkerDied(arm, f"{stage}: {ending}")


@dataclass(frozen=True)
class Control:
    """What timing an arm against itself showed.

    Args:
        estimate: log ratio of identical arms with its 99.9% interval.
        margin: relative difference that claims call none.
        spread: standard deviation of the log ratio from process to process.
        seconds: all it took.
        machine: what was wrong with the machine meanwhile, or None.
    """

    estimate: Estimate
    margin: float
    spread: float
    seconds: float
    machine: str | None = None

    @property
    def state(self) -> str:
        """`quiet` if the interval lies within half the margin, `noisy` if clear of it, else `unresolved`."""
        half = math.log1p(self.margin / 2)
        if -half <= self.estimate.low and self.estimate.high <= half:
            return "quiet"
        return "noisy" if self.estimate.low > half or self.estimate.high < -half else "unresolved"

    @property
    def noise(self) -> str | None:
        """Why timings of this session are not to be trusted, or None."""
        if self.machine:
            return self.machine
        if self.state == "noisy":
            seen, half = math.expm1(self.estimate.value), self.margin / 2
            return f"identical arms differ by {seen:+.1%}, more than half the margin ({half:.1%})"
        return None


DEFAULT_CONTROL = Arm("runtwice.worker:spin", settings={"steps": 10_000})


def a_a_control(
    arm: Arm = DEFAULT_CONTROL,
    *,
    margin: float = 0.05,
    processes: int = CONTROL_PROCESSES,
    max_seconds: float = 1.0,
    seed: int = 0,
    cwd: str | os.PathLike[str] | None = None,
) -> Control:
    """Time an arm against itself in a fixed number of processes.

    Args:
        arm: what to time.
        margin: relative difference that claims call none; half of it is allowed here.
        processes: at least 11, below which no 99.9% interval exists.
        max_seconds: sets how long a process times, as in `compare`.
        seed: of the coins and hash seeds.
        cwd: folder the processes start in.

    Returns:
        The estimate; `noise` says whether it voids the timings of this session.

    Raises:
        ArmError: as `compare`.
        TooFewSamples: fewer than 11 processes.
        MachineBusy: another timing kept the machine.
    """
    measure, plans = Worker(arm, arm, max_seconds, cwd), _plans(seed)
    with machine_lock(f"control with {arm.target}"):
        watch, begin = Watch(), time.monotonic()
        ratios = [checked(measure(next(plans))).log_ratio for _ in range(processes)]
        seconds, reason = time.monotonic() - begin, watch.reason()
    estimate = sign_flip(ratios, CONTROL_CONFIDENCE)
    return Control(estimate, margin, float(np.std(ratios, ddof=1)), seconds, reason)
