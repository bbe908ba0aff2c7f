"""Operations are counted as they run, and none is missed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.inference.tally import Tally


def count(work, *sizes):
    """Operations of `work` on arrays of ones, the first of them traced."""
    tally = Tally()
    first, *others = (np.ones(size, np.float32) for size in sizes)
    work(tally.array(first), *others)
    return tally.total


@given(batch=st.integers(1, 4), rows=st.integers(1, 7), inner=st.integers(1, 7), columns=st.integers(1, 7))
def test_a_product_is_two_operations_an_entry_and_row(batch, rows, inner, columns):
    """One or many vectors, with the batch on either side, against a loop."""
    looped = sum(2 for _ in np.ndindex(batch, rows, inner, columns))
    assert count(np.matmul, (batch, rows, inner), (inner, columns)) == looped
    assert count(np.matmul, (rows, inner), (batch, inner, columns)) == looped
    assert count(np.matmul, (inner,), (batch, inner, columns)) == looped // rows
    assert count(np.matmul, (inner,), (inner,)) == 2 * inner


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda x: x + 1, 12),
        (lambda x: x * x - x, 24),
        (lambda x: np.exp(x, out=x), 12),
        (lambda x: x * np.ones((5, 1, 1)), 60),
        (lambda x: x.sum(), 11),
        (lambda x: x.sum(axis=1, keepdims=True), 9),
        (lambda x: x.max(axis=0), 0),
        (lambda x: x > 1, 0),
        (lambda x: np.concatenate([x, x]), 0),
        (lambda x: x[[0, 2]].reshape(2, 4).T, 0),
        (lambda x: x.argmax(), 0),
    ],
)
def test_small_operations_are_one_an_element(work, expected):
    """A sum takes one fewer than it has elements; comparisons and moves are free."""
    assert count(work, (3, 4)) == expected


@pytest.mark.parametrize("work", [np.linalg.norm, np.cumsum, np.sin, lambda x: np.einsum("ij->", x), np.std])
def test_what_is_not_on_the_list_is_refused(work):
    """Rather than counted as nothing."""
    with pytest.raises(TypeError, match="not on the list"):
        count(work, (3, 4))


def test_operations_are_charged_to_the_part_marked_last():
    """And kept by operation as well."""
    tally = Tally()
    x = tally.array(np.ones(4, np.float32))
    x + 1
    tally.mark("products")
    (x * x) @ np.ones((4, 2), np.float32)
    assert tally.parts(["other", "empty"]) == {"other": 4, "empty": 0, "products": 20}
    assert tally.by_operation["products", "matmul"] == 16
    assert tally.of("products", "other") == tally.total == 24
