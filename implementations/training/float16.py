"""Sixteen-bit floats by hand: which numbers there are, how one is rounded to them, and what is lost on the way.

Follows: IEEE 754-2019, binary16, and Google's bfloat16 with the same rules: round half to even, gradual underflow,
overflow to infinity at half a step beyond the largest number.
Leaves out: other roundings, signalling NaNs (every NaN becomes the quiet one) and hardware that flushes subnormals.

Between two powers of two the numbers of a format are evenly spaced. Below the smallest normal number the spacing stays
that of the last interval: such subnormal numbers lose digits one by one, and are not zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bits = NDArray[np.uint16]


@dataclass(frozen=True)
class Format:
    """A sign, some bits of exponent and some of fraction: sixteen together.

    Args:
        name: As NumPy or PyTorch call it.
        exponent_bits: Bits of the exponent.
        fraction_bits: Bits behind the leading one, which is not stored.

    Raises:
        ValueError: the widths do not make sixteen bits, whole ones.
    """

    name: str
    exponent_bits: int
    fraction_bits: int

    def __post_init__(self) -> None:
        whole = isinstance(self.exponent_bits, int) and isinstance(self.fraction_bits, int)
        sound = whole and 1 + self.exponent_bits + self.fraction_bits == 16
        if not sound or min(self.exponent_bits, self.fraction_bits) < 2:
            widths = f"{self.exponent_bits} + {self.fraction_bits}"
            raise ValueError(f"{self.name}: {widths} bits; exponent and fraction share 15, with at least 2 each")

    @property
    def smallest_exponent(self) -> int:
        """Exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent_bits - 1))

    @property
    def infinity_bits(self) -> int:
        """The pattern of plus infinity: all exponent bits, no fraction."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return (2 - 2.0**-self.fraction_bits) * 2.0 ** (1 - self.smallest_exponent)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number with all its digits."""
        return 2.0**self.smallest_exponent

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive number, of a single digit."""
        return 2.0 ** (self.smallest_exponent - self.fraction_bits)

    @property
    def flush_limit(self) -> float:
        """The largest number that rounds to zero: half the smallest one, a tie that goes to the even side."""
        return self.smallest_subnormal / 2

    @property
    def epsilon(self) -> float:
        """From 1 to the next number."""
        return 2.0**-self.fraction_bits

    @property
    def decimal_digits(self) -> int:
        """Decimal digits that always survive."""
        return int(np.floor(self.fraction_bits * np.log10(2)))


HALF = Format("float16", exponent_bits=5, fraction_bits=10)
BFLOAT16 = Format("bfloat16", exponent_bits=8, fraction_bits=7)


def encode(values: ArrayLike, to: Format = HALF) -> Bits:
    """The bit patterns of the nearest numbers of a format.

    Args:
        values: Any shape.
        to: The format.

    Returns:
        Patterns of the same shape.
    """
    given = np.asarray(values, dtype=np.float64)
    sign = np.signbit(given).astype(np.int64) << 15
    size = np.minimum(np.abs(given), 4 * to.largest)  # infinity, too, is now a number too large
    # Of the lower end of the interval; NumPy gives zero an exponent in the middle of the range.
    exponent = np.where(size > 0, np.frexp(size)[1] - 1, to.smallest_exponent)
    exponent = np.maximum(exponent, to.smallest_exponent)
    steps = np.rint(np.ldexp(size, to.fraction_bits - exponent))  # half to even; the scaling is exact
    # Patterns are consecutive: a step beyond an interval's last number is the first of the next, up to infinity.
    steps = np.where(np.isnan(given), 0, steps).astype(np.int64)
    pattern = ((exponent.astype(np.int64) - to.smallest_exponent) << to.fraction_bits) + steps
    pattern = np.minimum(pattern, to.infinity_bits)
    quiet_nan = to.infinity_bits | 1 << (to.fraction_bits - 1)
    signed = np.where(np.isnan(given), quiet_nan, pattern) | sign
    return np.asarray(signed, dtype=np.uint16)


def decode(bits: ArrayLike, of: Format = HALF) -> Floats:
    """The numbers that bit patterns stand for.

    Args:
        bits: Patterns, any shape.
        of: The format.

    Raises:
        ValueError: a pattern that is no whole number of sixteen bits.
    """
    given = np.asarray(bits)
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() > 0xFFFF):
        raise ValueError(f"patterns {given.ravel()[:3]} of {given.dtype}; give whole numbers from 0 to {0xFFFF}")
    pattern = given.astype(np.int64)
    biased = pattern >> of.fraction_bits & 2**of.exponent_bits - 1
    fraction = pattern & 2**of.fraction_bits - 1
    leading = np.where(biased > 0, 2**of.fraction_bits, 0)  # subnormals have none
    exponent = np.maximum(biased, 1) - 1 + of.smallest_exponent - of.fraction_bits
    size = np.ldexp((leading + fraction).astype(np.float64), exponent)
    special = np.where(fraction > 0, np.nan, np.inf)
    size = np.where(biased == 2**of.exponent_bits - 1, special, size)
    return np.where(pattern >> 15 & 1, -size, size)


def rounded(values: ArrayLike, to: Format = HALF) -> Floats:
    """The nearest numbers of a format, as ordinary floats."""
    return decode(encode(values, to), to)


@dataclass(frozen=True)
class Losses:
    """What a cast does to a set of numbers, as shares of those that are not zero.

    Attributes:
        subnormal: Smaller than the smallest normal number, so that digits are lost or all of it.
        vanished: Rounded to zero.
        overflowed: Rounded to infinity.
    """

    subnormal: float
    vanished: float
    overflowed: float


def losses(values: ArrayLike, to: Format = HALF) -> Losses:
    """What of `values` a format cannot hold.

    Args:
        values: Finite numbers, any shape.
        to: The format.

    Raises:
        ValueError: a number is not finite, or all are zero.
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64)).ravel()
    sizes = sizes[sizes != 0]  # NaN stays, to be refused
    if sizes.size == 0 or not np.isfinite(sizes).all():
        raise ValueError(f"{sizes.size} numbers other than zero, not all finite; give at least one, and finite ones")
    after = rounded(sizes, to)
    return Losses(*(float(flags.mean()) for flags in (sizes < to.smallest_normal, after == 0, np.isinf(after))))
