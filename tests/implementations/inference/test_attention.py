"""Attention equals a loop over rows and heads, whatever the tiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.inference import attention
from tests.implementations.inference.models import unhurried


def by_rows(queries, keys, values):
    """Row by row in doubles, each over what it may see."""
    k, g, n, _ = queries.shape
    result, tokens = np.empty(queries.shape), keys.shape[1]
    for head, query, row in np.ndindex(k, g, n):
        seen = tokens - n + row + 1
        scores = keys[head, :seen].astype(float) @ queries[head, query, row]
        shares = np.exp(scores - scores.max())
        result[head, query, row] = shares @ values[head, :seen] / shares.sum()
    return result


def case(k=2, g=1, n=5, tokens=9, c=4, seed=0, spread=1.0):
    """Random queries, keys and values."""
    rng = np.random.default_rng(seed)
    sizes = ((k, g, n, c), (k, tokens, c), (k, tokens, c))
    return [np.float32(spread) * rng.standard_normal(size, dtype=np.float32) for size in sizes]


@unhurried
@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 40), st.integers(0, 40), st.integers(1, 6)),
    tile_bytes=st.sampled_from([1, 400, 4000, 1 << 20]),
    seed=st.integers(0, 99),
)
def test_tiles_of_any_size_give_the_same(sizes, tile_bytes, seed):
    """One head or all, a few rows or all, with and without groups."""
    k, g, n, before, c = sizes
    arrays = case(k, g, n, before + n, c, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "TILE_BYTES", tile_bytes)
        found = attention.attend(*arrays)
    np.testing.assert_allclose(found, by_rows(*arrays), rtol=2e-5, atol=2e-6)


def test_far_scores_do_not_overflow():
    """Scores of some thousands."""
    arrays = case(spread=60.0)
    np.testing.assert_allclose(attention.attend(*arrays), by_rows(*arrays), rtol=1e-3, atol=1e-3)


def test_a_row_sees_nothing_after_itself():
    """Changing later keys and values changes no earlier row."""
    queries, keys, values = case(n=9, tokens=9)
    before = attention.attend(queries, keys, values)
    keys[:, 6:], values[:, 6:] = 100, 1e6
    np.testing.assert_array_equal(attention.attend(queries, keys, values)[:, :, :6], before[:, :, :6])


@pytest.mark.parametrize(("n", "tokens"), [(1, 10), (1, 100_000), (64, 64), (1024, 1024), (300, 9000)])
def test_tiles_stay_within_their_bytes(n, tokens):
    """Unless a tile has as few heads and rows as it may; every row of every head is in one tile."""
    seen = np.zeros((12, n), int)
    for heads, rows in attention._tiles((12, 1, n, 64), tokens):
        seen[heads, rows] += 1
        size = 4 * tokens * seen[heads, rows].size
        assert size <= attention.TILE_BYTES or seen[heads, rows].shape <= (1, attention.FEWEST_ROWS)
    assert (seen == 1).all()


@pytest.mark.parametrize(
    ("queries", "keys", "values"),
    [
        ((2, 1, 5, 4), (2, 3, 4), (2, 3, 4)),
        ((2, 1, 0, 4), (2, 3, 4), (2, 3, 4)),
        ((2, 1, 1, 4), (2, 0, 4), (2, 0, 4)),
        ((2, 1, 3, 4), (1, 3, 4), (1, 3, 4)),
        ((2, 1, 3, 4), (2, 3, 4), (2, 2, 4)),
        ((2, 3, 4), (2, 3, 4), (2, 3, 4)),
    ],
)
def test_shapes_that_do_not_fit_are_refused(queries, keys, values):
    """One head in place of two would be broadcast."""
    with pytest.raises(ValueError, match="n from 1 to t"):
        attention.attend(*(np.ones(shape, np.float32) for shape in (queries, keys, values)))
