"""Whether a printed figure can follow from other printed figures, given that each of them was rounded.

Each input is an interval, half a unit of its last place to either side. A continuous function of the inputs takes
every value between any two it takes (the box of the intervals is connected), so it is enough to find one point of the
box that gives a small value and one that gives a large value: `reachable` tries the middle and every corner, or, where
there are too many corners, walks each input to the end that lowers (raises) the result, the others at their middle.
A list is reachable where each of its items is; a word is evaluated at the printed values alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from runtwice.errors import EvidenceError
from runtwice.figure import Agreement, Printed, PrintedNumber, PrintedText, compare
from runtwice.verdict import Verdict

# Up to this many inputs every corner of their box is tried.
_CORNERED = 10


def reachable(target: Printed, function: Callable[..., Any], inputs: Sequence[Printed]) -> tuple[Verdict, str]:
    """Whether `function(*inputs)` can round to `target`, and the sentence that says so.

    Raises:
        EvidenceError: there is no input, or the function gives another shape than the target.
    """
    if not inputs:
        raise EvidenceError("a derived figure needs at least one printed input")
    leaves = [leaf for one in inputs for leaf in _leaves(one)]
    middle = [float(leaf) for leaf in leaves]

    def at(values: Sequence[float]) -> Any:
        supply = iter(values)
        return function(*[_filled(one, supply) for one in inputs])

    if isinstance(target, list):
        return _each(target, at(middle), function, inputs)
    if not isinstance(target, PrintedNumber):
        return _exactly(target, at(middle))
    low, high = _extremes(lambda values: _scalar(at(values)), leaves, middle)
    shown = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
    slack = 1e-9 * max(target.resolution, abs(target) * 1e-3)  # the binary rounding of the interval's own ends
    inside = low <= target.high + slack and high >= target.low - slack
    return (
        (Verdict.HOLDS, f"{target.text} is within {shown}")
        if inside
        else (Verdict.REFUTED, f"{target.text} is outside {shown}")
    )


def _each(
    target: list[Any], middle: Any, function: Callable[..., Any], inputs: Sequence[Printed]
) -> tuple[Verdict, str]:
    """The first item of a list that is out of reach, or the list as a whole."""
    if len(middle) != len(target):
        raise EvidenceError(f"the function gave {len(middle)} values where {len(target)} are printed")
    for index, one in enumerate(target):
        verdict, reason = reachable(one, lambda *values, at=index: function(*values)[at], inputs)
        if verdict is not Verdict.HOLDS:
            return verdict, f"item {index}: {reason}"
    return Verdict.HOLDS, f"each of {target!r} is within reach"


def _exactly(target: Printed, value: Any) -> tuple[Verdict, str]:
    if isinstance(target, PrintedText):
        value = str(value)
    comparison = compare("derived", value, target, None)
    verdict = Verdict.HOLDS if comparison.agreement is Agreement.EXACT else Verdict.REFUTED
    return verdict, f"{target!r} against {comparison.measured!r}"


def _extremes(
    function: Callable[[Sequence[float]], float], leaves: Sequence[PrintedNumber], middle: Sequence[float]
) -> tuple[float, float]:
    """The smallest and largest value found at the middle and at the corners."""
    if len(leaves) <= _CORNERED:
        corners = product(*((leaf.low, leaf.high) for leaf in leaves))
        values = [function(point) for point in (middle, *corners)]
        return min(values), max(values)
    falling, rising = list(middle), list(middle)
    for i, leaf in enumerate(leaves):
        ends = [(function([*middle[:i], end, *middle[i + 1 :]]), end) for end in (leaf.low, leaf.high)]
        falling[i], rising[i] = min(ends)[1], max(ends)[1]
    values = [function(values) for values in (falling, rising, middle)]
    return min(values), max(values)


def _leaves(figure: Any) -> list[PrintedNumber]:
    if isinstance(figure, PrintedNumber):
        return [figure]
    if isinstance(figure, dict):
        figure = list(figure.values())
    if isinstance(figure, list):
        return [leaf for item in figure for leaf in _leaves(item)]
    raise EvidenceError(f"input {figure!r} is no printed number; pass what evidence.printed returns")


def _filled(figure: Any, supply: Any) -> Any:
    """`figure` with its numbers replaced, in order, from `supply`."""
    if isinstance(figure, dict):
        return {key: _filled(item, supply) for key, item in figure.items()}
    if isinstance(figure, list):
        return [_filled(item, supply) for item in figure]
    return next(supply)


def _scalar(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise EvidenceError(f"the function gave {value!r} where one number is printed")
    return number
