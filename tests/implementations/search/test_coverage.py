"""The coverage formula against simulation and against itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.search.coverage import draws_needed, hit_probability


@pytest.mark.parametrize(("share", "draws"), [(0.1, 30), (0.05, 64), (0.01, 64), (0.01, 200), (0.5, 1)])
def test_it_is_the_share_of_simulated_searches_that_hit(share, draws):
    """20,000 searches, four standard errors wide."""
    hits = (np.random.default_rng(0).random((20_000, draws)).min(axis=1) < share).mean()
    expected = hit_probability(share, draws)
    assert abs(hits - expected) < 4 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-4


@given(st.floats(1e-9, 0.999), st.floats(0.0, 0.999999))
def test_the_draws_needed_are_the_fewest(share, probability):
    """Enough with them, not enough with one fewer."""
    draws = draws_needed(share, probability)
    assert hit_probability(share, draws) >= probability
    assert draws == 0 or hit_probability(share, draws - 1) < probability


def test_small_shares_keep_their_digits():
    """A share of 1e-12 over a thousand draws is a thousand times as likely, to ten digits."""
    assert hit_probability(1e-12, 1000) == pytest.approx(1e-9, rel=1e-9)


def test_the_ends():
    """Nothing, everything and no draws."""
    assert [hit_probability(s, n) for s, n in ((0.0, 9), (1.0, 1), (1.0, 0), (0.3, 0))] == [0.0, 1.0, 0.0, 0.0]
    assert draws_needed(1.0, 0.9) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: hit_probability(1.1, 3),
        lambda: hit_probability(float("nan"), 3),
        lambda: hit_probability(0.5, -1),
        lambda: hit_probability(0.5, float("nan")),
        lambda: draws_needed(0.0, 0.5),
        lambda: draws_needed(0.1, 1.0),
    ],
)
def test_impossible_questions_are_refused(call):
    """Shares and probabilities outside their range, and certainty."""
    with pytest.raises(ValueError, match=r"share|draws"):
        call()
