"""Prompts to measure with."""

import pytest

from implementations.serving.prompts import prompts


def test_they_have_the_length_asked_for_and_differ():
    """A byte is a character, and no two start alike for long."""
    found = prompts(20, 64, seed=1)
    assert {len(text.encode()) for text in found} == {64}
    assert len({text[:32] for text in found}) == 20
    assert found == prompts(20, 64, seed=1)


def test_a_length_below_one_is_refused():
    """An empty prompt is none."""
    with pytest.raises(ValueError, match="at least one byte"):
        prompts(1, 0)


def test_fewer_than_no_prompts_are_refused():
    """None are possible."""
    with pytest.raises(ValueError, match="at least 0 prompts"):
        prompts(-1, 5)
