"""A traced array computes what a plain one does, and tells of every operation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.inference.traced_array import TracedArray, plain, traced


class Witness:
    """Keeps what it is told."""

    def __init__(self):
        self.seen = []

    def saw(self, operation):
        self.seen.append(operation)


@pytest.fixture
def witness():
    """A fresh one."""
    return Witness()


EXPRESSIONS = {
    "sum and product": lambda x: (x + 1) @ x.T,
    "in place": lambda x: np.exp(x, out=x),
    "reduced": lambda x: x.max(axis=1, keepdims=True),
    "reduced to a scalar": lambda x: x.sum(),
    "split": lambda x: np.split(x, 3, axis=1)[1],
    "two results": lambda x: np.divmod(x, 2)[1],
    "nested lists": lambda x: np.concatenate([x, [[1, 2, 3]], x[:1]]),
    "accumulated": lambda x: np.add.accumulate(x),
    "outer": lambda x: np.multiply.outer(x, x),
    "masked": lambda x: np.where(x > 2, x, 0),
}


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_numbers_are_those_of_plain_arrays(expression, witness):
    """Whatever the protocol it goes through; and something was told."""
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(plain(expression(traced(x.copy(), witness))), expression(x.copy()))
    assert witness.seen


def test_an_operation_says_what_went_in_and_came_out(witness):
    """Plain inputs, which of them were traced, the result, and where it was written."""
    x, y = np.ones(3, np.float32), np.full(3, 2.0)
    traced(x, witness) * y
    np.add(y, y, out=traced(y, witness))
    product, total = witness.seen
    assert (product.name, product.method, product.traced, product.into) == ("multiply", "__call__", (True, False), ())
    assert not any(isinstance(one, TracedArray) for one in product.inputs)
    np.testing.assert_array_equal(product.result, 2 * x)
    assert total.into[0] is not None
    assert not product.dtype_chosen


def test_a_chosen_dtype_is_told(witness):
    """As a keyword of a ufunc or of a function."""
    x = traced(np.ones(3, np.float32), witness)
    np.add(x, 1, dtype=np.float64)
    np.zeros_like(x, dtype=np.float64)
    assert [one.dtype_chosen for one in witness.seen] == [True, True]


def test_views_and_results_keep_the_observer(witness):
    """And an array made from nothing has none."""
    x = traced(np.ones((2, 2), np.float32), witness)
    for derived in (x[0], x.T, x + 1, np.stack([x, x]), np.empty_like(x)):
        assert isinstance(derived, TracedArray)
        assert derived.observer is witness
    assert np.zeros(2).view(TracedArray) + 1 is not None


@given(st.integers(0, 4))
def test_indexing_tells_nothing(row):
    """It is no operation of NumPy's protocols."""
    witness = Witness()
    traced(np.ones((5, 2), np.float32), witness)[[row, row]]
    assert witness.seen == []


def test_what_the_observer_raises_reaches_the_caller():
    """At the operation."""

    class Refusing:
        def saw(self, operation):
            raise TypeError(operation.name)

    with pytest.raises(TypeError, match="negative"):
        -traced(np.ones(2, np.float32), Refusing())
