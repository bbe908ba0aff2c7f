"""The cache gives back what was written, and says what does not fit."""

import numpy as np
import pytest

from implementations.inference.cache import Cache
from tests.implementations.inference.models import GROUPED, SMALL


def test_what_is_written_comes_back_behind_what_was_there():
    """Layer by layer; it counts once `advance` says so."""
    cache, rng = Cache(SMALL, 10), np.random.default_rng(0)
    first, second = (rng.standard_normal((4, n, 8), dtype=np.float32) for n in (3, 2))
    cache.write(1, first, -first)
    cache.advance(3)
    keys, values = cache.write(1, second, -second)
    np.testing.assert_array_equal(keys, np.concatenate([first, second], axis=1))
    np.testing.assert_array_equal(values, -keys)
    assert cache.length_tokens == 3
    assert not cache.keys[0].any()


@pytest.mark.parametrize("shape", [SMALL, GROUPED])
def test_bytes_grow_by_the_shapes_own_figure(shape):
    """Two times layers, key/value width and four bytes a token."""
    cache = Cache(shape, 7)
    cache.fill(5, np.random.default_rng(0))
    assert cache.used_bytes == 5 * shape.cache_bytes_per_token
    assert cache.keys.nbytes + cache.values.nbytes == 7 * shape.cache_bytes_per_token


def test_more_than_there_is_room_for_is_refused():
    """With both numbers."""
    cache = Cache(SMALL, 4)
    cache.fill(3, np.random.default_rng(0))
    new = np.zeros((4, 2, 8), np.float32)
    with pytest.raises(ValueError, match="5 tokens do not fit a cache with room for 4"):
        cache.write(0, new, new)
    with pytest.raises(ValueError, match="5 tokens do not fit a cache with room for 4"):
        cache.fill(5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="cannot keep 4 tokens of 3"):
        cache.truncate(4)


@pytest.mark.parametrize("room", [0, 401])
def test_room_is_within_the_positions(room):
    """At least one token, at most all positions."""
    with pytest.raises(ValueError, match=f"room_tokens must be 1 to 400.*got {room}"):
        Cache(SMALL, room)


@pytest.mark.parametrize(("keys", "values"), [((1, 2, 8), (1, 2, 8)), ((4, 2, 8), (4, 1, 8)), ((4, 2, 4), (4, 2, 4))])
def test_tokens_of_another_shape_are_refused(keys, values):
    """They would be broadcast."""
    with pytest.raises(ValueError, match="for a cache of"):
        Cache(SMALL).write(0, np.ones(keys, np.float32), np.ones(values, np.float32))


@pytest.mark.parametrize("tokens", [-1, 401])
def test_only_what_was_written_can_be_held(tokens):
    """Not fewer than none, nor more than there is room for."""
    with pytest.raises(ValueError, match="more tokens; 400 are free"):
        Cache(SMALL).advance(tokens)
