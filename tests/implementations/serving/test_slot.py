"""Tokens wait for their reader, merged."""

import asyncio

import pytest

from implementations.serving.engine import Outcome
from implementations.serving.slot import Slot, StepFailed


def with_slot(script):
    async def run():
        return await script(Slot())

    return asyncio.run(run())


def test_what_was_not_read_is_one_piece():
    """A reader who comes late finds everything at once, in order."""

    async def late(slot):
        for token in (5, 6, 7):
            slot.put(Outcome(0, token, last=token == 7))
        return await slot.take()

    assert with_slot(late) == ([5, 6, 7], True)


def test_a_reader_waits_for_news():
    """And gets each piece once."""

    async def in_turns(slot):
        taking = asyncio.ensure_future(slot.take())
        await asyncio.sleep(0)
        assert not taking.done()
        slot.put(Outcome(0, 1, last=False))
        first = await taking
        slot.put(Outcome(0, 2, last=True))
        return first, await slot.take(), slot.unread

    assert with_slot(in_turns) == (([1], False), ([2], True), 0)


def test_tokens_from_before_a_fault_come_first():
    """They were computed, and the client may have them."""

    async def failing(slot):
        slot.put(Outcome(0, 1, last=False))
        slot.put(Outcome(0, None, last=True, fault="gone"))
        first = await slot.take()
        with pytest.raises(StepFailed, match="gone"):
            await slot.take()
        return first, slot.ended

    assert with_slot(failing) == (([1], False), True)
