"""Runs a hypothesis property as a claim's evidence: refuted by a shrunk example, undecided by none at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from unittest import SkipTest

from hypothesis import settings
from hypothesis.errors import FailedHealthCheck, Flaky, Unsatisfiable

from runtwice.errors import EvidenceError
from runtwice.verdict import Conclusion, Verdict

# `claims` repeats itself exactly, so that a changed verdict is the software's doing; `explore` searches further each
# time and never counts as an upgrade's break.
PROFILES = {
    "claims": settings(derandomize=True, deadline=None, database=None, max_examples=100),
    "explore": settings(derandomize=False, deadline=None, database=None, max_examples=2000),
}


def run_property(check: Callable[[], None]) -> tuple[Conclusion, int]:
    """Run `check` and say what it shows, with the number of examples that were executed.

    Raises:
        EvidenceError: `check` is no hypothesis test.
        Exception: whatever else than an AssertionError the property raised.
    """
    handle = getattr(check, "hypothesis", None)
    if handle is None:
        raise EvidenceError(f"evidence.every({getattr(check, '__name__', check)!s}): put the check under @given")
    inner = handle.inner_test
    handle.inner_test, executed = _counting(inner)
    try:
        check()
    except AssertionError as failure:
        return Conclusion(Verdict.REFUTED, _example(failure)), executed()
    except Flaky:  # it failed, and did not fail again
        raise
    except BaseExceptionGroup as failures:
        unexpected = failures.subgroup(lambda one: not isinstance(one, AssertionError | BaseExceptionGroup))
        if unexpected is not None:
            raise
        return Conclusion(Verdict.REFUTED, _example(failures.exceptions[0])), executed()
    except (Unsatisfiable, FailedHealthCheck, SkipTest):  # hypothesis skips where it is told to run nothing
        if executed():
            raise
        return Conclusion(Verdict.UNDECIDED, "no example met the property's assumptions"), 0
    finally:
        handle.inner_test = inner
    if executed() == 0:
        return Conclusion(Verdict.UNDECIDED, "no example was executed"), 0
    return Conclusion(Verdict.HOLDS, f"{executed()} examples"), executed()


def search_settings() -> dict[str, Any]:
    """How far hypothesis searches now, for the record: a random search is not the repeatable one."""
    now = settings.default
    return {"max_examples": now.max_examples, "derandomize": now.derandomize} if now else {}


def _counting(inner: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[[], int]]:
    """`inner`, counted: examples rejected by an assumption do not count."""
    count = 0

    @wraps(inner)
    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        result = inner(*args, **kwargs)
        count += 1
        return result

    return counted, lambda: count


def _example(failure: BaseException) -> str:
    """The failure and the shrunk example hypothesis noted on it, on one line."""
    notes = " ".join(" ".join(note.split()) for note in getattr(failure, "__notes__", []))
    first = (str(failure).strip().splitlines() or ["assertion failed"])[0]
    return f"{first} — {notes}" if notes else first
