"""A study: trials of one space, asked for and told one at a time, that can be kept and resumed.

The study owns the trials and nothing else: samplers and pruners are stateless and read them. Each trial gets a random
stream of its own, drawn from the study's seed and the trial's number, so that a study resumed after any trial goes on
as if it had never stopped.

Leaves out: several objectives, several writers, a database.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from operator import index
from typing import Any, Protocol

import numpy as np

from implementations.search.space import Config, Space, plain


class State(StrEnum):
    """Where a trial stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"


@dataclass
class Trial:
    """One configuration and what came of it.

    Attributes:
        value: What was told; None while it runs and where it failed.
        reports: Values seen on the way, by step.
        error: Why it failed.
    """

    number: int
    config: Config
    state: State = State.RUNNING
    value: float | None = None
    reports: dict[int, float] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class History:
    """What a sampler or pruner may look at.

    Attributes:
        trials: All of them, in the order they were asked for.
        sign: 1 where small values are good, -1 where large ones are.
    """

    space: Space
    trials: Sequence[Trial]
    sign: float = 1.0

    def having(self, *states: State) -> list[Trial]:
        """Trials in one of the given states, in order."""
        return [trial for trial in self.trials if trial.state in states]

    def loss(self, trial: Trial) -> float:
        """The value of a trial, turned so that small is good; infinite where it has none."""
        return math.inf if trial.value is None else self.sign * trial.value


class Sampler(Protocol):
    """Chooses the next configuration."""

    def propose(self, history: History, rng: np.random.Generator) -> Config:
        """The configuration of the next trial."""


class Pruner(Protocol):
    """Decides whether a running trial is hopeless."""

    def should_stop(self, history: History, trial: Trial) -> bool:
        """Whether to stop `trial` after its last report."""


Streams = Callable[[int], np.random.Generator]
Growing = Generator[tuple[int, float], None, float | None]


class Exhausted(Exception):
    """A sampler has no configuration left, as a grid at its end."""


class Study:
    """Trials of one space.

    Args:
        space: What is searched.
        sampler: Chooses configurations.
        seed: Of the trials' random streams.
        maximise: Whether large values are good.
        pruner: Stops hopeless trials of `grow`; None lets all of them finish.
        streams: The random stream of a trial by its number, instead of one from the seed.

    Raises:
        ValueError: a seed that is no whole number of at least 0.
    """

    def __init__(
        self,
        space: Space,
        sampler: Sampler,
        *,
        seed: int = 0,
        maximise: bool = False,
        pruner: Pruner | None = None,
        streams: Streams | None = None,
    ) -> None:
        self.space = space
        self.sampler = sampler
        self.pruner = pruner
        self.seed = _whole("seed", seed)
        self.trials: list[Trial] = []
        self._sign = -1.0 if maximise else 1.0
        self._streams = streams or partial(_own_stream, self.seed)

    @property
    def history(self) -> History:
        """The trials as samplers see them."""
        return History(self.space, self.trials, self._sign)

    # --- one trial at a time ------------------------------------------------------------------------------------

    def ask(self) -> Trial:
        """Start the next trial.

        Raises:
            Exhausted: the sampler has no configuration left.
        """
        number = len(self.trials)
        trial = Trial(number, self.sampler.propose(self.history, self._streams(number)))
        self.trials.append(trial)
        return trial

    def add(self, config: Config, value: float) -> Trial:
        """Record a finished trial that was not asked for.

        Raises:
            ValueError: the space cannot produce the configuration.
        """
        self.space.check(config)
        own = {name: plain(value) for name, value in config.items()}
        self.trials.append(Trial(len(self.trials), own))
        return self.tell(len(self.trials) - 1, value)

    def report(self, number: int, step: int, value: float) -> bool:
        """Note an intermediate value; True where the pruner would stop the trial there.

        Raises:
            ValueError: no such trial is running, a step that is no whole number of at least 0, or a value that is no
                number (NaN and infinity are, and are reported).
        """
        trial = self._running(number)
        if not _is_number(value):
            raise ValueError(f"value {value!r} reported by trial {number}; report a number")
        trial.reports[_whole("step", step)] = float(value)
        return self.pruner is not None and self.pruner.should_stop(self.history, trial)

    def tell(self, number: int, value: float | None = None, state: State = State.COMPLETE, error: str = "") -> Trial:
        """End a trial. A value that is no finite number makes it a failed one.

        Raises:
            ValueError: no such trial is running, a state that does not end one is told, or a value beside it that is no
                number. The trial then goes on running.
        """
        trial = self._running(number)
        if state not in (State.COMPLETE, State.PRUNED, State.FAILED):
            raise ValueError(f"trial {number} is told as {state}; tell how it ended: complete, pruned or failed")
        state = State(state)
        if state is State.COMPLETE and not _is_finite(value):
            state, error, value = State.FAILED, error or f"value {value!r}", None
        if value is not None and not _is_number(value):
            raise ValueError(f"value {value!r} of the {state} trial {number}; tell a number or None")
        trial.state, trial.error = state, error
        trial.value = None if value is None else float(value)
        return trial

    def _running(self, number: int) -> Trial:
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self.trials):
            raise ValueError(f"no trial {number!r}; there are {len(self.trials)}, counted from 0")
        trial = self.trials[number]
        if trial.state is not State.RUNNING:
            raise ValueError(f"trial {number} has ended already ({trial.state})")
        return trial

    # --- many trials ----------------------------------------------------------------------------------------------

    def run(self, objective: Callable[[Config], float], n_trials: int) -> Study:
        """Ask, evaluate, tell; an objective that raises makes a failed trial and the study goes on."""
        return self._drive(lambda trial: self.tell(trial.number, objective(trial.config)), n_trials)

    def grow(self, objective: Callable[[Config], Growing], n_trials: int) -> Study:
        """Like `run`, for objectives that yield (step, value) on their way and return their final value.

        A pruned trial keeps its last value; one that returns None is told that too.
        """

        def one(trial: Trial) -> None:
            steps, value = objective(trial.config), None
            try:
                while True:
                    step, value = next(steps)
                    if self.report(trial.number, step, value):
                        self.tell(trial.number, value, State.PRUNED)
                        return
            except StopIteration as end:
                self.tell(trial.number, value if end.value is None else end.value)
            finally:
                steps.close()

        return self._drive(one, n_trials)

    def _drive(self, evaluate: Callable[[Trial], object], n_trials: int) -> Study:
        for _ in range(n_trials):
            try:
                trial = self.ask()
            except Exhausted:
                break
            try:
                evaluate(trial)
            except Exception as failure:
                error = f"{type(failure).__name__}: {failure}"
                if trial.state is State.RUNNING:
                    self.tell(trial.number, state=State.FAILED, error=error)
                else:  # raised while it was put away, after its end had been told
                    trial.error = error
        return self

    # --- results --------------------------------------------------------------------------------------------------

    @property
    def best(self) -> Trial:
        """The complete trial with the best value, the first of equals.

        Raises:
            ValueError: no trial is complete.
        """
        complete = self.history.having(State.COMPLETE)
        if not complete:
            raise ValueError(f"none of {len(self.trials)} trials is complete; there is no best")
        return min(complete, key=self.history.loss)

    def best_so_far(self) -> list[float]:
        """Best value after each trial; NaN before the first complete one."""
        losses = [self.history.loss(t) if t.state is State.COMPLETE else math.inf for t in self.trials]
        return [self._sign * low if math.isfinite(low) else math.nan for low in np.minimum.accumulate(losses)]

    # --- kept and resumed -----------------------------------------------------------------------------------------

    def dump(self) -> str:
        """The trials as JSON, for `resume`.

        Raises:
            ValueError: a choice of the space that JSON would give back as something else.
        """
        for name, parameter in self.space.parameters.items():
            for choice in getattr(parameter, "choices", ()):
                if not isinstance(choice, str | int | float | None):
                    raise ValueError(f"choice {choice!r} of {name!r} cannot be kept; use texts, numbers or None")
        kept = {"space": self.space.describe(), "seed": self.seed, "sign": self._sign}
        return json.dumps({**kept, "trials": [asdict(trial) for trial in self.trials]})

    def resume(self, dumped: str) -> Study:
        """Take over the trials of an earlier study; those that were still running have failed.

        Raises:
            ValueError: `dumped` is no kept study or one of its trials is damaged, this study has trials of its own, or
                the other had another space, seed or direction, or a configuration that the space cannot produce.
        """
        kept = _parsed(dumped)
        own = json.loads(Study(self.space, self.sampler, seed=self.seed, maximise=self._sign < 0).dump())
        for name in ("space", "seed", "sign"):
            if kept[name] != own[name]:
                raise ValueError(f"the kept study had another {name}: {kept[name]}, not {own[name]}")
        if self.trials:
            raise ValueError(f"this study has {len(self.trials)} trials of its own; resume into a fresh one")
        trials = [_restored(number, row) for number, row in enumerate(kept["trials"])]
        for trial in trials:
            self.space.check(trial.config)
        self.trials = trials
        return self


def _parsed(dumped: str) -> dict[str, Any]:
    try:
        kept = json.loads(dumped)
    except (ValueError, TypeError) as fault:
        raise ValueError(f"this is no kept study ({fault}); give what `dump` returned") from None
    whole = isinstance(kept, dict) and {"space", "seed", "sign", "trials"} <= set(kept)
    if not whole or not isinstance(kept["trials"], list):
        raise ValueError(f"this is no kept study ({dumped[:40]!r}); give what `dump` returned")
    return dict(kept)


def _restored(number: int, row: Any) -> Trial:
    try:
        reports = {int(step): float(value) for step, value in row["reports"].items()}
        trial = Trial(**{**row, "state": State(row["state"]), "reports": reports, "config": dict(row["config"])})
    except (TypeError, ValueError, AttributeError, KeyError) as fault:
        raise ValueError(
            f"trial {number} of the kept study is damaged ({fault!r}); give what `dump` returned"
        ) from None
    complete = trial.state is State.COMPLETE
    valued = _is_finite(trial.value) if complete else trial.value is None or _is_number(trial.value)
    if trial.number != number or not valued:
        raise ValueError(f"trial {number} of the kept study is damaged: {row}; give what `dump` returned")
    if trial.state is State.RUNNING:
        trial.state, trial.error = State.FAILED, "interrupted"
    return trial


def _own_stream(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng((seed, number))


def _whole(name: str, value: Any) -> int:
    try:
        number = index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"{name} {value!r}; it must be a whole number of at least 0")
    return number


def _is_number(value: Any) -> bool:
    """Whether a float can hold it, NaN and infinity included."""
    if not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _is_finite(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value)
