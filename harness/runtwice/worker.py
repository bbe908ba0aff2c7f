"""The child process of a timing: imports the arms, times them in turn, and says what it measured.

Started by path (`python -P worker.py`), so that neither this package nor anything of pytest is loaded: what the arms
do not import is not there. Reads one JSON request from standard input and writes JSON lines to what was standard
output: `{"at": [arm, stage]}` before each stage, so that a death can be blamed, then `{"times": ...}` or
`{"fault": ...}`. What the arms print goes to standard error.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable
from functools import partial
from itertools import repeat
from time import get_clock_info, perf_counter
from typing import Any, TextIO

MOST_LOOPS = 10_000_000
EMPTY_FACTOR = 2.0  # an arm must cost this many empty calls
UNFINISHED = ("generator", "coroutine", "async_generator")


class Fault(Exception):
    """What an arm did wrong, and where."""

    def __init__(self, arm: str, stage: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.report = {"arm": arm, "stage": stage, "type": kind, "message": message}


class Timed:
    """One arm, ready to be called."""

    def __init__(self, request: dict[str, Any], round_s: float, say: Callable[[Any], None]) -> None:
        self.name: str = request["name"]
        self.round_s = round_s
        self.loops = 1
        self.seconds: list[float] = []
        self._say = say
        function = self._attempt("import", partial(load, request["target"]))
        args, keywords = self._case(request)
        self.call = partial(function, *args, **keywords)
        self.empty = partial(_nothing, *args, **keywords)

    def _attempt(self, stage: str, action: Callable[[], Any]) -> Any:
        self._say({"at": [self.name, stage]})
        try:
            return action()
        except (KeyboardInterrupt, Fault):
            raise
        except BaseException as error:
            raise Fault(self.name, stage, type(error).__name__, f"{error} ({_place(error)})") from error

    def _case(self, request: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        settings: dict[str, Any] = request["settings"]
        if request["setup"] is None:
            return (), settings
        make = self._attempt("import", partial(load, request["setup"]))
        case = self._attempt("setup", partial(make, **settings))
        if isinstance(case, tuple):
            return case, {}
        return ((), case) if isinstance(case, dict) else ((case,), {})

    def warm_up(self) -> None:
        """Call once, then count the loops that make a round long enough."""
        result = self._attempt("call", self.call)
        if type(result).__name__ in UNFINISHED:
            kind = type(result).__name__
            raise Fault(self.name, "call", "ReturnedEarly", f"returned a {kind}, which has not run yet")
        self._attempt("call", self.calibrate)

    def calibrate(self) -> None:
        """Double the loops until a round lasts `round_s`; refuse a call that costs no more than an empty one."""
        while (seconds := timed_loop(self.call, self.loops)) < self.round_s:
            if self.loops >= MOST_LOOPS:
                raise Fault(self.name, "call", "ReturnedEarly", f"{self.loops} calls took {seconds} s")
            wanted = 1.1 * self.loops * self.round_s / seconds if seconds > 0 else 0.0
            self.loops = min(MOST_LOOPS, max(2 * self.loops, int(min(wanted, MOST_LOOPS)) + 1))
        if self.loops > 1_000:
            self._compare_with_nothing()

    def _compare_with_nothing(self) -> None:
        own = min(timed_loop(self.call, self.loops) for _ in range(3)) / self.loops
        empty = min(timed_loop(self.empty, self.loops) for _ in range(3)) / self.loops
        if own < EMPTY_FACTOR * empty:
            message = f"{own * 1e9:.0f} ns a call where an empty function takes {empty * 1e9:.0f} ns"
            raise Fault(self.name, "call", "ReturnedEarly", message)

    def round(self) -> None:
        """Time one round and keep the seconds per call."""
        seconds = self._attempt("timed rounds", partial(timed_loop, self.call, self.loops))
        self.seconds.append(seconds / self.loops)


def load(target: str) -> Callable[..., Any]:
    """The object that 'module.path:qualified.name' names."""
    module, _, path = target.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{target} is a {type(found).__name__}, not callable")
    return found  # type: ignore[no-any-return]


def timed_loop(call: Callable[[], Any], loops: int) -> float:
    """Seconds that `loops` calls take together, without the cyclic collector."""
    steps = repeat(None, loops)
    gc.disable()
    try:
        begin = perf_counter()
        for _ in steps:
            call()
        return perf_counter() - begin
    finally:
        gc.enable()


def spin(steps: int) -> int:
    """Work whose amount can be turned: what the harness times when it times itself.

    A slowdown of 5% is 5% more of the same steps and no sleep, so that it meets the clock, the caches and the
    neighbours of the machine as any other work does.

    Args:
        steps: steps of a linear congruential generator; from some hundred up the time is proportional to them.

    Returns:
        The last state, so that no step is idle.
    """
    state = 1
    for _ in range(steps):
        state = (1_103_515_245 * state + 12_345) & 0x7FFFFFFF
    return state


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if frame.filename != __file__), frames[-1])
    return f"{last.filename}:{last.lineno}"


def _nothing(*_args: Any, **_keywords: Any) -> None:
    pass


def measure(request: dict[str, Any], say: Callable[[Any], None]) -> dict[str, Any]:
    """Time the arms of a request: A B B A by turns (B A A B where the turn starts with B), or one arm alone.

    Args:
        request: `arms` (name, target, setup, settings), `first` (index of the arm that is set up and warmed up
            first), `starts` (which arm each turn starts with, at most one turn each), `round_s`, `budget_s`.
        say: takes one JSON value for the parent.

    Returns:
        Per arm its seconds per call, one a round, and its loops; and this process's environment.
    """
    ahead = request["first"]
    asked = list(enumerate(request["arms"]))
    built = {index: Timed(arm, request["round_s"], say) for index, arm in asked[ahead:] + asked[:ahead]}
    for arm in built.values():
        arm.warm_up()
    gc.collect()
    gc.freeze()  # what the set-up made is not walked again by the collections between turns
    _fill([built[index] for index in sorted(built)], request["starts"], request["budget_s"])
    return {arm.name: {"seconds": arm.seconds, "loops": arm.loops} for arm in built.values()}


def _fill(arms: list[Timed], starts: list[int], budget_s: float) -> None:
    """Turns until the next one would overrun the budget; never none."""
    begin = perf_counter()
    for done, start in enumerate(starts):
        spent = perf_counter() - begin
        if done and spent * (done + 1) / done > budget_s:
            return
        for arm in _turn(arms, start):
            arm.round()
        gc.collect()


def _turn(arms: list[Timed], start: int) -> list[Timed]:
    if len(arms) == 1:
        return arms
    first, second = arms[start], arms[1 - start]
    return [first, second, second, first]


def environment() -> dict[str, Any]:
    """What this process ran under; plain values, ready for JSON."""
    threads = {name: value for name, value in os.environ.items() if name.endswith("_THREADS")}
    numpy = sys.modules.get("numpy")
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "numpy": getattr(numpy, "__version__", None),
        "threads": dict(sorted(threads.items())),
        "hash_seed": os.environ.get("PYTHONHASHSEED"),
        "affinity": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "clock_resolution_s": get_clock_info("perf_counter").resolution,
    }


def _private_output() -> TextIO:
    """Standard output for the parent alone; from here on prints go to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def main() -> None:
    """Answer the request on standard input."""
    # `runtwice.worker:spin` is this very module; importing it by name would load the whole package
    sys.modules["runtwice.worker"] = sys.modules["__main__"]
    channel = _private_output()

    def say(message: Any) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    request = json.load(sys.stdin)
    try:
        times = measure(request, say)
    except Fault as fault:
        say({"fault": fault.report})
        return
    say({"times": times, "environment": environment()})


if __name__ == "__main__":
    main()
