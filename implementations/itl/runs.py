"""Rows on disk in sorted runs: a table larger than memory, read back in the order of one column.

Follows: the first half of an external merge sort. Each block of rows is sorted by itself and written behind the
others; a range of keys is then the merge of one slice a run, each found by bisection.
Leaves out: merging runs into one. A log that was written in order of time has runs that hardly overlap.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.void]

# One key in so many is kept in memory, to tell where a range of about n rows ends.
SAMPLED = 512


class _Run(NamedTuple):
    first: int  # place of its first row in the file
    rows: int
    lowest: float
    highest: float


class Runs:
    """A table on disk, appended in blocks and read by ranges of a key.

    Args:
        path: the file; it is made anew.
        dtype: of the rows.
        key: the column that orders them, float64 without NaN.
    """

    def __init__(self, path: Path, dtype: Any, key: str) -> None:
        self.dtype = np.dtype(dtype)
        self.key = key
        self._file = path.open("w+b", buffering=0)
        fields = self.dtype.fields or {}
        self._key_offset = fields[key][1]
        self._runs: list[_Run] = []
        self._sampled: list[NDArray[np.float64]] = []
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: Rows) -> None:
        """Adds a block of rows, in any order."""
        if not len(rows):
            return
        block = rows[np.argsort(rows[self.key], kind="stable")].astype(self.dtype, copy=False)
        keys = block[self.key]
        self._file.seek(0, os.SEEK_END)
        self._file.write(block.tobytes())
        self._runs.append(_Run(self._rows, len(block), float(keys[0]), float(keys[-1])))
        self._sampled.append(keys[::SAMPLED].copy())
        self._rows += len(block)

    def between(self, low: float, high: float) -> Rows:
        """Rows with low <= key < high, in order of the key; equal keys in the order they were added."""
        found = [self._slice(run, low, high) for run in self._runs if run.lowest < high and run.highest >= low]
        rows = np.concatenate([np.empty(0, self.dtype), *found])
        if len(found) < 2:
            return rows
        return rows[np.argsort(rows[self.key], kind="stable")]

    def buckets(self, rows: int) -> Iterator[Rows]:
        """Reads everything in order of the key, about `rows` rows at a time; equal keys stay together."""
        bounds = [-np.inf, *self.splitters(rows), np.inf]
        return (self.between(low, high) for low, high in pairwise(bounds))

    def splitters(self, rows: int) -> list[float]:
        """Keys between which about `rows` rows lie, ascending."""
        if not self._sampled:
            return []
        every = max(rows // SAMPLED, 1)
        keys: list[float] = np.unique(np.sort(np.concatenate(self._sampled))[every::every]).tolist()
        return keys

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _slice(self, run: _Run, low: float, high: float) -> Rows:
        begin = self._search(run, low) if run.lowest < low else 0
        end = self._search(run, high) if run.highest >= high else run.rows
        size = self.dtype.itemsize
        data = os.pread(self._file.fileno(), max(end - begin, 0) * size, (run.first + begin) * size)
        return np.frombuffer(data, self.dtype)

    def _search(self, run: _Run, key: float) -> int:
        """How many rows of a run lie below a key; reads a logarithmic number of keys and no more."""

        def key_at(place: int) -> float:
            offset = (run.first + place) * self.dtype.itemsize + self._key_offset
            return float(np.frombuffer(os.pread(self._file.fileno(), 8, offset), np.float64)[0])

        return bisect_left(range(run.rows), key, key=key_at)
