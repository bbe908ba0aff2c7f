"""Rows on disk come back in order of their key, whatever the order and the blocks they were written in."""

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from implementations.itl import runs
from tests.implementations.itl.logs import unhurried

DTYPE = np.dtype([("place", "i8"), ("key", "f8")])
blocks = st.lists(st.lists(st.integers(0, 9).map(float), max_size=8), max_size=6)


def written(path, blocks):
    """The rows, numbered as they were added, and the file they are in."""
    table, found = [], runs.Runs(path, DTYPE, "key")
    for keys in blocks:
        rows = np.array([(len(table) + i, key) for i, key in enumerate(keys)], DTYPE)
        table += rows.tolist()
        found.append(rows)
    return sorted(table, key=lambda row: row[1]), found


@unhurried
@given(blocks, st.integers(-1, 10), st.integers(-1, 10))
def test_a_range_is_a_slice_of_the_sorted_rows(tmp_path_factory, blocks, low, high):
    """low <= key < high, in order of key, equal keys as they were added."""
    table, found = written(tmp_path_factory.mktemp("runs") / "rows", blocks)
    assert found.between(low, high).tolist() == [row for row in table if low <= row[1] < high]
    found.close()


@unhurried
@given(blocks, st.integers(1, 5))
def test_buckets_are_the_sorted_rows(tmp_path_factory, blocks, rows):
    """Buckets one after another are everything once, and no key is torn apart."""
    with mock.patch.object(runs, "SAMPLED", 1):
        table, found = written(tmp_path_factory.mktemp("runs") / "rows", blocks)
        buckets = [bucket.tolist() for bucket in found.buckets(rows)]
    assert [row for bucket in buckets for row in bucket] == table
    keys = [{key for _, key in bucket} for bucket in buckets]
    assert sum(map(len, keys)) == len(set().union(*keys)) == len({key for _, key in table})
    found.close()


def test_buckets_of_many_rows_are_about_as_large_as_asked(tmp_path):
    """A shuffled table of many runs is read in buckets near the size asked for."""
    rng = np.random.default_rng(0)
    found = runs.Runs(tmp_path / "rows", DTYPE, "key")
    for keys in rng.permutation(100_000).reshape(20, -1):
        found.append(np.array(list(zip(keys, keys)), DTYPE))
    sizes = [len(bucket) for bucket in found.buckets(8_000)]
    assert sum(sizes) == len(found) == 100_000
    # Each run adds at most the rows between two of its sampled keys.
    assert max(sizes) <= 8_000 + 20 * runs.SAMPLED
    found.close()
