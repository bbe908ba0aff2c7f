"""The guard speaks where float32 widens, names the line and the operand, and is silent where nothing widens."""

import numpy as np
import pytest

from implementations.inference.float32 import DetourWarning, PromotionError, float32_only, watched

X = np.arange(1, 4, dtype=np.float32)
MASK = np.array([True, False, True])
NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0b1"

# Scalars of NumPy: they widen an array since NumPy 2 (NEP 50); before, a scalar's dtype did not count.
BY_SCALAR = {
    "np.sqrt of an int": lambda x: x / np.sqrt(64),
    "np.exp of a float": lambda x: x * np.exp(1.0),
    "a power of float64": lambda x: x ** np.float64(2),
    "the mean of a list": lambda x: x - np.mean([1.0, 2.0]),
    "an integer of 64 bits": lambda x: x / np.int64(3),
    "an array without dimensions": lambda x: x * np.array(0.5),
}
# Arrays: they widen it in every NumPy.
BY_ARRAY = {
    "np.arange": lambda x: x * np.arange(3),
    "np.linspace": lambda x: x + np.linspace(0, 1, 3),
    "concatenate with np.zeros": lambda x: np.concatenate([x, np.zeros(2)]),
    "a mask of np.ones": lambda x: x @ np.triu(np.ones((3, 3))),
    "einsum with np.ones": lambda x: np.einsum("i,i->i", x, np.ones(3)),
    "rotary angles": lambda x: x * np.cos(np.outer(np.arange(2), 1 / 10_000 ** (np.arange(3) / 3))),
    "where with an array": lambda x: np.where(MASK, np.zeros(3), x),
}
NARROW = {
    "a root by **": lambda x: x / 64**0.5,
    "np.pi": lambda x: x * np.pi,
    "where with a float": lambda x: np.where(MASK, -1e9, x),
    "a scalar of float32": lambda x: x * np.float32(2),
    "a Python int": lambda x: x // 2,
    "its own mean": lambda x: x - x.mean(),
    "its own deviation": lambda x: x.std(keepdims=True) * x,
    "a norm": lambda x: (x - x.mean()) / np.sqrt(x.var() + 1e-5),
    "a comparison": lambda x: x > np.float64(1),
    "argmax": lambda x: x.argmax(),
    "a dtype asked for": lambda x: x.astype(np.float64),
    "a sum in a dtype asked for": lambda x: x.sum(dtype=np.float64),
    "what is float64 on purpose": lambda x: x.astype(np.float64) * np.ones(3),
}


@pytest.mark.parametrize("expression", BY_ARRAY.values(), ids=BY_ARRAY)
def test_an_array_of_float64_is_named(expression):
    """In every NumPy, with this file and the text of the line."""
    with pytest.raises(PromotionError, match=r"float32 gives float64 because of .*test_float32\.py:\d+: \""):
        expression(watched(X))


@pytest.mark.parametrize("expression", BY_SCALAR.values(), ids=BY_SCALAR)
@pytest.mark.skipif(not NUMPY_2, reason="before NumPy 2 a scalar widens nothing")
def test_a_scalar_is_named_since_numpy_2(expression):
    """The same."""
    with pytest.raises(PromotionError, match=r"because of .*64.*test_float32\.py:\d+: \""):
        expression(watched(X))


@pytest.mark.parametrize("expression", BY_SCALAR.values(), ids=BY_SCALAR)
@pytest.mark.skipif(NUMPY_2, reason="since NumPy 2 a scalar widens")
def test_a_scalar_is_let_through_before_numpy_2(expression):
    """Nothing widens, so nothing is said."""
    assert expression(watched(X)).dtype == np.float32


@pytest.mark.parametrize("expression", [*BY_SCALAR.values(), *BY_ARRAY.values(), *NARROW.values()])
def test_the_guard_agrees_with_numpy_and_changes_no_number(expression):
    """It speaks exactly where NumPy's own result is wider and nobody asked for that."""
    expected = expression(X)
    asked_for = expression in NARROW.values()
    if not asked_for and expected.dtype == np.float64:
        with pytest.raises(PromotionError):
            expression(watched(X))
    else:
        np.testing.assert_array_equal(expression(watched(X)), expected)


def test_the_message_names_the_line_of_many():
    """The third of four."""
    x = watched(X)
    x = x + 1
    x = x * 2.5
    with pytest.raises(PromotionError) as caught:
        x = x + np.ones(3)  # the culprit
    assert str(caught.value).endswith("x = x + np.ones(3)  # the culprit")
    assert "add of float32 gives float64 because of an array of float64, shape (3,)" in str(caught.value)


def test_what_is_computed_is_watched_too():
    """Slices, views, products and functions of a watched array."""
    x = watched(np.ones((4, 4), np.float32))
    for derived in (x[1:], x.T, x @ x, np.split(x, 2)[1], np.exp(x), x.reshape(2, 8)):
        with pytest.raises(PromotionError):
            derived * np.ones(derived.shape)


def test_writing_in_place_from_float64_is_a_detour():
    """The dtype stays, the time does not: a warning, at the line."""
    x = watched(X.copy())
    with pytest.warns(
        DetourWarning, match=r"multiply of float32 computes in float64 because of an array .*\*= np\.ones"
    ) as told:
        x *= np.ones(3)
    assert x.dtype == np.float32
    assert told[0].filename == __file__


@pytest.mark.skipif(not NUMPY_2, reason="before NumPy 2 a scalar widens nothing")
def test_a_scalar_in_place_is_a_detour_since_numpy_2():
    """Subtracting a float64 zero is enough."""
    x = watched(X.copy())
    with pytest.warns(DetourWarning, match="the NumPy scalar 0.0 of float64"):
        x -= np.float64(0)


def test_only_float32_can_be_watched():
    """Anything else is the fault already."""
    with pytest.raises(PromotionError, match="the array to watch is float64"):
        watched(np.ones(3))


def test_the_cheap_guard_names_what_it_was_told():
    """One comparison; the same array comes back."""
    assert float32_only("x", X) is X
    with pytest.raises(PromotionError, match=r"scores is float64 .*test_float32\.py:\d+"):
        float32_only("scores", X @ np.eye(3))
