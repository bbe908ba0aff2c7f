"""The pool loses no block and gives none away twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.itl.kv_blocks import BlockPool


@given(size=st.integers(1, 30), moves=st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=40))
def test_free_and_held_blocks_are_always_the_whole_pool(size, moves):
    """Whatever is taken and given back, in whatever order."""
    pool, held = BlockPool(size), []
    for take, amount in moves:
        if take and amount <= pool.n_free:
            held.append(pool.take(amount))
        elif not take and held:
            pool.give_back(held.pop(amount % len(held)))
        pool.check(held)
        assert pool.n_free + sum(map(len, held)) == size


@given(size=st.integers(1, 20), data=st.data())
def test_the_lowest_free_blocks_go_first(size, data):
    """After any returns, the next blocks are the smallest free numbers."""
    pool = BlockPool(size)
    everything = pool.take(size)
    returned = data.draw(st.lists(st.sampled_from(everything), unique=True))
    pool.give_back(returned)
    assert pool.take(len(returned)) == sorted(returned)


def test_taking_too_many_is_refused():
    """And says how many there are."""
    with pytest.raises(ValueError, match="4 blocks wanted, 3 of 3 free"):
        BlockPool(3).take(4)


def test_giving_back_a_free_block_is_refused():
    """It would be given away twice."""
    with pytest.raises(ValueError, match="block 2 is free already"):
        BlockPool(3).give_back([2])


def test_an_empty_pool_is_refused():
    """It could serve nobody."""
    with pytest.raises(ValueError, match="at least one block"):
        BlockPool(0)


@pytest.mark.parametrize(("held", "message"), [([[0, 1], [1]], "held twice"), ([[0]], "do not make up")])
def test_check_finds_lost_and_doubled_blocks(held, message):
    """Blocks 0 and 1 were taken."""
    pool = BlockPool(4)
    pool.take(2)
    with pytest.raises(ValueError, match=message):
        pool.check(held)
