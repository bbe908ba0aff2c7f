"""Sixteen-bit floats against NumPy's for every pattern, and against PyTorch's for bfloat16."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.training.float16 import BFLOAT16, HALF, Format, decode, encode, losses, rounded

EVERY_PATTERN = np.arange(2**16, dtype=np.uint16)


def bits_of(values):
    """NumPy's own patterns, every NaN made the quiet one."""
    with np.errstate(over="ignore"):
        half = np.asarray(values, dtype=np.float64).astype(np.float16)
    return np.where(np.isnan(half), half.view(np.uint16) & 0x8000 | 0x7E00, half.view(np.uint16))


def test_every_pattern_decodes_as_numpys():
    """All 65,536 patterns, infinities and NaNs among them."""
    np.testing.assert_array_equal(decode(EVERY_PATTERN), EVERY_PATTERN.view(np.float16).astype(np.float64))


def test_every_pattern_survives_the_way_there_and_back():
    """Encoding a decoded pattern gives it again, NaNs as the quiet one."""
    np.testing.assert_array_equal(encode(decode(EVERY_PATTERN)), bits_of(EVERY_PATTERN.view(np.float16)))


def test_every_tie_and_its_neighbours_round_as_numpys():
    """Between any two neighbouring halves: the middle, and the next float64 on either side of it."""
    halves = decode(np.arange(HALF.infinity_bits, dtype=np.uint16))
    middles = np.append((halves[1:] + halves[:-1]) / 2, HALF.largest + 2.0**4)
    values = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf)])
    np.testing.assert_array_equal(encode(values), bits_of(values))
    np.testing.assert_array_equal(encode(-values), bits_of(-values))


@given(st.floats(width=64, allow_nan=True, allow_infinity=True))
def test_any_number_rounds_as_numpys(value):
    """Float64 of any size, from the smallest subnormal to infinity."""
    assert encode(value) == bits_of(value)


@pytest.mark.parametrize("to", [HALF, BFLOAT16], ids=lambda one: one.name)
def test_a_format_says_of_itself_what_pytorch_says(to):
    """Largest, smallest normal and subnormal number, and step at 1."""
    torch = pytest.importorskip("torch")
    theirs = torch.finfo(getattr(torch, to.name))
    ours = (to.largest, to.smallest_normal, to.smallest_subnormal, to.epsilon)
    assert ours == (theirs.max, theirs.tiny, theirs.smallest_normal * theirs.eps, theirs.eps)


def test_decimal_digits_are_numpys():
    """Three for a half."""
    assert HALF.decimal_digits == np.finfo(np.float16).precision


def test_bfloat16_rounds_as_pytorchs():
    """Every pattern, and random float32 of all sizes."""
    torch = pytest.importorskip("torch")
    patterns = torch.from_numpy(EVERY_PATTERN.view(np.int16))
    theirs = patterns.view(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(decode(EVERY_PATTERN, BFLOAT16), theirs)
    drawn = np.random.default_rng(0).integers(0, 2**32, 50_000, dtype=np.uint32).view(np.float32)
    drawn = drawn[~np.isnan(drawn)]
    cast = torch.from_numpy(drawn).bfloat16().double().numpy()
    np.testing.assert_array_equal(rounded(drawn, BFLOAT16), cast)


@given(st.floats(-7e4, 7e4), st.floats(-7e4, 7e4))
def test_rounding_keeps_order(a, b):
    """A larger number never rounds below a smaller one."""
    low, high = sorted((a, b))
    assert rounded(low) <= rounded(high)


def test_shapes_are_kept():
    """A table stays a table, a number a scalar array, and nothing stays nothing."""
    assert encode(np.ones((2, 3))).shape == (2, 3)
    assert encode(1.0).shape == ()
    assert rounded([]).shape == (0,)


def test_losses_count_what_a_half_cannot_hold():
    """One number each: kept, subnormal, vanished, overflowed; zeros are left out."""
    found = losses([1.0, 1e-6, 2.0**-25, 7e4, 0.0])
    assert (found.subnormal, found.vanished, found.overflowed) == (0.5, 0.25, 0.25)


@pytest.mark.parametrize("values", [[0.0], [], [1.0, np.inf], [np.nan]])
def test_losses_need_finite_numbers(values):
    """Only zeros, nothing, infinities and NaNs are refused."""
    with pytest.raises(ValueError, match="give at least one, and finite ones"):
        losses(values)


def test_a_format_has_sixteen_bits():
    """Other widths are refused with what would be right."""
    with pytest.raises(ValueError, match="share 15"):
        Format("float17", 6, 10)


@pytest.mark.parametrize("bits", [-1, 0x10000, 1.5, np.nan, [True]])
def test_a_pattern_that_is_none_is_refused(bits):
    """It would be read as that of another number."""
    with pytest.raises(ValueError, match="whole numbers from 0 to 65535"):
        decode(bits)


def test_a_nan_among_numbers_is_refused():
    """It is neither zero nor finite."""
    with pytest.raises(ValueError, match="not all finite"):
        losses([1.0, np.nan])
