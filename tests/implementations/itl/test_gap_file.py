"""Gaps on disk, and percentiles of their lengths without sorting them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.itl.gap_file import GAP, GapFile, order_statistics
from tests.implementations.itl.logs import unhurried

lengths = st.floats(0, 1e9) | st.sampled_from([0.0, 5e-324, 1.0, 1.0 + 2**-52, 13.7])


def gaps(values):
    rows = np.zeros(len(values), GAP)
    rows["gap_ms"] = values
    return rows


@unhurried
@given(st.lists(lengths, min_size=1, max_size=40), st.integers(1, 7), st.data())
def test_a_rank_is_what_sorting_would_put_there(values, block, data):
    """Ties, zeros and neighbouring floats included, whatever the blocks."""
    ranks = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, unique=True))
    cut = [np.array(values[first : first + block]) for first in range(0, len(values), block)]
    assert order_statistics(lambda: cut, ranks) == {rank: sorted(values)[rank] for rank in ranks}


@unhurried
@given(st.lists(lengths, min_size=1, max_size=40), st.lists(st.floats(0, 100), min_size=1, max_size=4))
def test_percentiles_are_numpys(tmp_path_factory, values, q):
    """The linear interpolation of np.percentile."""
    with GapFile(tmp_path_factory.mktemp("gaps")) as found:
        found.append(gaps(values))
        ours = found.percentiles(q)
    assert list(ours.values()) == pytest.approx([np.percentile(values, one) for one in ours], rel=1e-12)


def test_blocks_come_back_as_they_went_in(tmp_path):
    """Rows and lengths are read in the order they were added, over more than one block."""
    rows = gaps(np.arange(100_000.0))
    rows["parts_ms"][:, 2] = np.arange(100_000.0) / 3
    with GapFile(tmp_path) as found:
        for first in range(0, len(rows), 7_000):
            found.append(rows[first : first + 7_000])
        assert np.array_equal(np.concatenate([*found.blocks()]), rows)
        assert np.array_equal(np.concatenate([*found.lengths_ms()]), rows["gap_ms"])
        assert len(found) == len(rows)


@pytest.mark.parametrize(
    ("values", "q", "message"), [([], 50, "no gaps"), ([1.0], 101, "101 is not between 0 and 100")]
)
def test_percentile_that_cannot_be_told(tmp_path, values, q, message):
    """No gaps, or a percentile outside 0 to 100."""
    with GapFile(tmp_path) as found:
        found.append(gaps(values))
        with pytest.raises(ValueError, match=message):
            found.percentiles([q])
