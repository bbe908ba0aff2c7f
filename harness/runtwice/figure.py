"""A printed figure, and how a measured value agrees with it.

A figure keeps the text it was printed as, because its last digit says how precisely it was meant: `47.0` is
anything from 46.95 to 47.05, `47` anything from 46.5 to 47.5, `112e3` anything from 111,500 to 112,500. A leading
`=` marks a number that was stated, not rounded: `=100` is 100 and nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from numbers import Real
from statistics import median
from typing import Any

from runtwice.errors import ClaimError, EvidenceError

_NUMBER = re.compile(r"=?[+\-−]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d+)?")
_RANGE_KEYS = ("mid", "low", "high")
# Values behind a range that the ledger keeps one by one.
_KEPT = 200
# Half a unit in the last place, with room for the binary rounding of the unit itself.
_HALF = 0.5 + 1e-9


class PrintedNumber(float):
    """A number as printed: a float that remembers its text and its rounding interval."""

    text: str
    resolution: float

    def __new__(cls, text: str) -> PrintedNumber:
        """Parse `text`, e.g. `1,000`, `+0.0032`, `5.7e-14`; ValueError where it is no number a float can hold."""
        if not _NUMBER.fullmatch(text.strip()):
            raise ValueError(f"{text!r} is not a printed number; write it like '47.0', '1,000' or '5.7e-14'")
        number = _decimal(text)
        self = super().__new__(cls, float(number))
        self.text = text
        unit = float(f"1e{number.as_tuple().exponent}")
        self.resolution = 0.0 if "=" in text else unit
        if not (math.isfinite(self) and 0 < unit < math.inf):
            raise ValueError(f"{text!r} is too large or too small for a number of 64 bits")
        return self

    @property
    def low(self) -> float:
        """The smallest value that prints as this text."""
        return float(self) - self.resolution / 2

    @property
    def high(self) -> float:
        """The largest value that prints as this text."""
        return float(self) + self.resolution / 2

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override] # a copy is parsed again
        return (self.text,)

    def __repr__(self) -> str:
        return self.text


def _decimal(text: str) -> Decimal:
    return Decimal(text.strip(" =").replace(",", "").replace("−", "-"))


class PrintedText(str):
    """A figure that is a word, such as a label or the name of an error."""

    __slots__ = ()


Printed = PrintedNumber | PrintedText | list[Any] | dict[str, Any]


def parse(value: object, where: str) -> Printed:
    """The figure a data file holds: a text, a list of them, or a table of `mid`, `low` and `high`.

    Raises:
        ClaimError: `value` has another shape; the message starts with `where`.
    """
    try:
        if isinstance(value, str):
            return PrintedNumber(value) if _NUMBER.fullmatch(value.strip()) else PrintedText(value)
        if isinstance(value, dict) and {"low", "high"} <= set(value) <= set(_RANGE_KEYS):
            return {key: PrintedNumber(_as_text(value[key])) for key in _RANGE_KEYS if key in value}
    except ValueError as error:
        raise ClaimError(f"{where}: {error}") from None
    if isinstance(value, list) and value:
        return [parse(item, where) for item in value]
    raise ClaimError(
        f"{where}: {value!r} is not a figure; write the text as printed ('47.0'), a list of texts, "
        "or a table {mid, low, high} (mid may be left out)"
    )


def as_printed(figure: Printed) -> Any:
    """A figure as it was printed, text by text."""
    if isinstance(figure, PrintedNumber):
        return figure.text
    if isinstance(figure, dict):
        return {key: as_printed(value) for key, value in figure.items()}
    if isinstance(figure, list):
        return [as_printed(value) for value in figure]
    return str(figure)


def _as_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} must be a text, as printed")
    return value


@dataclass(frozen=True)
class Tolerance:
    """How far a measured value may lie from a printed one and still count as close, and why."""

    because: str
    abs: float = 0.0
    rel: float = 0.0

    def allows(self, measured: float, printed: float) -> bool:
        """True where the two differ by no more than either bound."""
        return abs(measured - printed) <= max(self.abs, self.rel * abs(printed))


class Agreement(StrEnum):
    """How a measured value stands to the printed figure, from best to worst."""

    EXACT = "exact"
    CLOSE = "close"
    MOVED = "moved"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Comparison:
    """One measured value beside its printed figure.

    Attributes:
        moved_by: Largest difference, measured minus printed; None for words and where nothing moved.
        moved_units: The same in units of the last printed place.
    """

    name: str
    printed: Any
    measured: Any
    agreement: Agreement
    moved_by: float | None = None
    moved_units: float | None = None


def compare(name: str, measured: Any, printed: Printed, tolerance: Tolerance | None) -> Comparison:
    """Hold `measured` against `printed`: number by number, the worst of them decides.

    A list is compared item by item; a table of mid, low and high with the median, smallest and largest of the
    measured sequence.

    Raises:
        EvidenceError: the shapes do not match, or a measured number is not finite.
    """
    measured = _plain(measured)
    pairs = _pairs(name, measured, printed)
    agreements = [_agreement(name, one, text, tolerance) for one, text in pairs]
    worst = max(agreements, key=_RANK.__getitem__)
    differences = [
        (float(one) - text, text.resolution)
        for (one, text), agreement in zip(pairs, agreements)
        if agreement is worst and worst is not Agreement.EXACT and isinstance(text, PrintedNumber)
    ]
    moved_by, unit = max(differences, key=lambda pair: abs(pair[0]), default=(None, 0.0))
    moved_units = moved_by / unit if moved_by and unit else None
    return Comparison(name, printed, _kept(measured, printed), worst, moved_by, moved_units)


@dataclass(frozen=True)
class Shift:
    """How far one measured figure lies from another: of its numbers, the one that went furthest.

    Attributes:
        by: The difference, later minus earlier; None where words changed, or the number of values.
        units: The same in units of the last printed place, or of the tolerance of a stated number; None for words, and
            for a stated number without tolerance.
    """

    by: float | None = None
    units: float | None = None

    @property
    def is_visible(self) -> bool:
        """True where it amounts to half a unit or more; what has no unit always does."""
        return self.units is None or abs(self.units) >= _HALF


def shift(name: str, before: Any, after: Any, printed: Printed, abs_: float = 0.0, rel: float = 0.0) -> Shift | None:
    """How a figure measured twice has moved, or None where both are the same to the last bits of a float.

    Args:
        name: The figure.
        before: What was measured first.
        after: What was measured then.
        printed: The figure as printed.
        abs_: Its tolerance, which only a stated number is told in units of: any other has its last place.
        rel: The same as a fraction.
    """
    if before == after:
        return None
    try:
        pairs = list(zip(_kept_pairs(name, before, printed), _kept_pairs(name, after, printed), strict=True))
    except (EvidenceError, ValueError):
        return Shift()
    found = []
    for (earlier, text), (later, _) in pairs:
        if not isinstance(text, PrintedNumber):
            if earlier != later:
                return Shift()
        elif not math.isclose(_number(name, earlier), _number(name, later), rel_tol=1e-12):
            by = float(later) - float(earlier)
            unit = text.resolution or max(abs_, rel * abs(text))
            found.append(Shift(by, by / unit if unit else None))
    return max(found, key=lambda one: abs(one.units or one.by or 0.0), default=None)


def _kept_pairs(name: str, measured: Any, printed: Printed) -> list[tuple[Any, Any]]:
    """Values and texts of a figure as a ledger has it, where a long sequence behind a range is only its range."""
    if isinstance(printed, dict) and isinstance(measured, dict):
        return [(measured.get(key), text) for key, text in printed.items()]
    if isinstance(printed, list) and isinstance(measured, list):
        return [pair for one, text in zip(measured, printed, strict=True) for pair in _kept_pairs(name, one, text)]
    return _pairs(name, measured, printed)


def _kept(measured: Any, printed: Printed) -> Any:
    """`measured` as the ledger keeps it: of a long sequence behind a range, the range."""
    if isinstance(printed, list):
        return [_kept(one, text) for one, text in zip(measured, printed)]
    if isinstance(printed, dict) and len(measured) > _KEPT:
        return {key: value for key, value in _summary(measured).items() if key in printed}
    return measured


def _summary(values: list[float]) -> dict[str, float]:
    return {"mid": median(values), "low": min(values), "high": max(values)}


_RANK = {Agreement.EXACT: 0, Agreement.CLOSE: 1, Agreement.MOVED: 2}


def _agreement(name: str, measured: Any, printed: Any, tolerance: Tolerance | None) -> Agreement:
    if isinstance(printed, PrintedText):
        return Agreement.EXACT if str(measured) == str(printed) else Agreement.MOVED
    number = _number(name, measured)
    if _prints_as(measured, printed):
        return Agreement.EXACT
    return Agreement.CLOSE if tolerance and tolerance.allows(number, printed) else Agreement.MOVED


def _prints_as(measured: float, printed: PrintedNumber) -> bool:
    """Whether a measured number rounds to the printed text; a stated one is met to the last bits of a float."""
    if printed.resolution:
        return abs(measured - printed) <= printed.resolution * _HALF
    if isinstance(measured, int):  # counts beyond 2**53, where floats skip whole numbers
        return Decimal(measured) == _decimal(printed.text)
    return math.isclose(measured, printed, rel_tol=1e-12)


def _pairs(name: str, measured: Any, printed: Printed) -> list[tuple[Any, Any]]:
    if isinstance(printed, dict):
        values = [_number(name, value) for value in _sequence(name, measured, "one value a run")]
        summary = _summary(values)
        return [(summary[key], text) for key, text in printed.items()]
    if isinstance(printed, list):
        values = _sequence(name, measured, f"{len(printed)} values, as printed")
        if len(values) != len(printed):
            raise EvidenceError(f"figure {name!r}: {len(values)} measured values for {len(printed)} printed ones")
        return [pair for one, text in zip(values, printed) for pair in _pairs(name, one, text)]
    return [(measured, printed)]


def _sequence(name: str, measured: Any, wanted: str) -> list[Any]:
    if not isinstance(measured, list):
        raise EvidenceError(f"figure {name!r}: measured {measured!r}; give a sequence of {wanted}")
    if not measured:
        raise EvidenceError(f"figure {name!r}: an empty sequence; give {wanted}")
    return measured


def _number(name: str, measured: Any) -> float:
    if not isinstance(measured, int | float):
        raise EvidenceError(f"figure {name!r}: measured {measured!r} where a number is printed")
    number = float(measured)
    if not math.isfinite(number):
        raise EvidenceError(f"figure {name!r}: measured {number}; a figure must be finite")
    return number


def _plain(value: Any) -> Any:
    """`value` as JSON would hold it: numpy scalars and arrays, fractions and iterators included."""
    if hasattr(value, "tolist"):  # first: a numpy float is a float as well
        return _plain(value.tolist())
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, Real | Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, Set):  # a set has no order to compare by
        return [_plain(item) for item in value]
    return str(value)
