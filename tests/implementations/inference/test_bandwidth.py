"""Ceilings are the fastest that was seen, by the clock and the bytes."""

import numpy as np
import pytest

from implementations.inference import bandwidth
from implementations.inference.bandwidth import MIB, ProductCeiling, ReadCeiling


def clocked(monkeypatch, seconds):
    """Let the timed calls take these seconds, in turn."""
    given = iter(seconds)

    def timed(work, *operands):
        work(*operands)
        return next(given)

    monkeypatch.setattr(bandwidth, "_seconds", timed)


def test_reading_is_the_bytes_of_the_buffer_over_the_fastest_way(monkeypatch):
    """And the ceiling the best round."""
    ceiling = ReadCeiling(4 * MIB)
    clocked(monkeypatch, [0.5, 0.25, 1.0, 2.0, 2.0, 1.0])
    assert ceiling.round() == 16 * MIB
    assert ceiling.round() == 4 * MIB
    assert ceiling.bytes_per_s == 16 * MIB


def test_each_way_reads_the_whole_buffer():
    """Changing any one number changes what each of them gives."""
    ceiling, seen = ReadCeiling(MIB), []
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(bandwidth, "_seconds", lambda work, *operands: seen.append(float(np.sum(work(*operands)))) or 1.0)
        ceiling.round()
        for place in ((0, 0), (-1, -1)):
            ceiling._buffer[place] = 9
            ceiling.round()
            ceiling._buffer[place] = 1
    before, first, last = np.reshape(seen, (3, 3))
    assert (first != before).all()
    assert (last != before).all()


def test_a_product_is_two_operations_an_entry_and_row(monkeypatch):
    """The fastest of the squares and of the shapes added."""
    ceiling = ProductCeiling((2, 3, 4))
    clocked(monkeypatch, [1.0, 100.0, 1e-9])
    assert ceiling.round() == pytest.approx(2 * 2 * 3 * 4 / 1e-9)
    clocked(monkeypatch, [0.5, 100.0, 1.0])
    assert ceiling.round() == pytest.approx(2 * 1024**3 / 0.5)
    assert ceiling.flops_per_s == pytest.approx(2 * 2 * 3 * 4 / 1e-9)


def test_seconds_are_the_clocks():
    """Of the call and nothing else."""
    assert 0 < bandwidth._seconds(np.dot, np.ones(1000, np.float32), np.ones(1000, np.float32)) < 1


def test_a_buffer_that_any_cache_holds_is_refused():
    """It would measure that."""
    with pytest.raises(ValueError, match="n_bytes must be at least 1048576, got 1000"):
        ReadCeiling(1000)


def test_a_product_of_nothing_is_refused():
    """Its rate would be 0 over nearly 0."""
    with pytest.raises(ValueError, match="at least 1"):
        ProductCeiling((0, 4, 4))
