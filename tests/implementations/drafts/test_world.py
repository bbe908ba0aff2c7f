"""Worlds against slow sums, and draws against the probabilities they are drawn by."""

from functools import cache

import numpy as np
import pytest

from implementations.drafts.world import (
    BRACKETS,
    SHARES,
    TEST_MATCHES,
    Design,
    _picks,
    chance,
    distance_from_mean,
    draw_drafts,
    log_odds,
    make_world,
)


def world(seed=0, **design):
    return make_world(np.random.default_rng(seed), Design(**{"heroes": 14, **design}))


def drafts(n=200, seed=1, **design):
    one = world(**design)
    return one, draw_drafts(one, n, np.random.default_rng(seed))


def slow_odds(one, heroes, bracket):
    """The log odds of one match, term by term."""
    b = bracket if len(one.synergy) > 1 else 0
    mine, theirs = heroes[:5], heroes[5:]
    total = one.advantage
    total += sum(one.strength[bracket, h] for h in mine) - sum(one.strength[bracket, h] for h in theirs)
    for i in range(5):
        for j in range(i):
            total += one.synergy[b, mine[i], mine[j]] - one.synergy[b, theirs[i], theirs[j]]
        total += sum(one.counter[b, mine[i], other] for other in theirs)
    return total


@pytest.mark.seeded
@pytest.mark.parametrize("pair_slope_sd", [0.0, 0.03])
def test_log_odds_are_the_sum_of_their_terms(pair_slope_sd, seed):
    """Strengths, ten synergies a side and twenty-five counters, with pairs that drift and that do not."""
    one, found = drafts(60, seed, pair_slope_sd=pair_slope_sd)
    slow = [slow_odds(one, *match) for match in zip(found.heroes, found.bracket)]
    np.testing.assert_allclose(found.log_odds, slow, atol=1e-12)


def test_swapping_the_sides_flips_the_odds():
    """But for the first side's advantage."""
    one, found = drafts()
    swapped = log_odds(one, np.roll(found.heroes, 5, axis=1), found.bracket)
    np.testing.assert_allclose(swapped - one.advantage, -(found.log_odds - one.advantage), atol=1e-12)


def test_a_match_has_ten_different_heroes():
    """None twice, all known."""
    one, found = drafts(3000)
    assert all(len(set(row)) == 10 for row in found.heroes.tolist())
    assert found.heroes.min() == 0
    assert found.heroes.max() == one.n_heroes - 1


def test_the_first_pick_follows_popularity():
    """With one pick a hero's share is its weight; the ten together favour the popular, on both sides alike."""
    one, found = drafts(20_000, popularity_sd=1.0)
    picked = np.array([(found.heroes == h).any(axis=1).mean() for h in range(one.n_heroes)])
    assert np.corrcoef(picked, one.popularity[0])[0, 1] > 0.7
    first = np.bincount(found.heroes[:, :5].ravel()) / np.bincount(found.heroes.ravel())
    np.testing.assert_allclose(first, 0.5, atol=0.03)


def chances_to_be_left(weights, among):
    """Probability of each hero to be the last of `among` (bits) when all are drawn one by one without return."""

    @cache
    def left(bits):
        members = [h for h in range(len(weights)) if bits >> h & 1]
        if len(members) == 1:
            return np.eye(len(weights))[members[0]]
        total = sum(weights[h] for h in members)
        return sum(weights[h] / total * left(bits & ~(1 << h)) for h in members)

    return left(among)


def test_picks_are_drawn_one_by_one_without_return():
    """Of eleven heroes the one left out, against the sum over all orders."""
    weights = np.array([4.0, 2.0, *np.ones(9)])
    picks = _picks(np.broadcast_to(weights, (40_000, 11)), np.random.default_rng(3))
    left_out = np.array([(~(picks == h).any(axis=1)).mean() for h in range(11)])
    np.testing.assert_allclose(left_out, chances_to_be_left(weights, 2**11 - 1), atol=0.007)


def test_results_follow_the_odds():
    """Share won in each tenth of the odds, within four standard errors."""
    _, found = drafts(20_000, pair_sd=0.3)
    for part in np.array_split(np.argsort(found.log_odds), 10):
        expected = chance(found.log_odds[part])
        error = np.sqrt((expected * (1 - expected)).sum()) / len(part)
        assert abs(found.won[part].mean() - expected.mean()) < 4 * error


def test_brackets_are_populated_as_in_the_post():
    """Shares sum to one and are met by a large draw; the mean rank lies between the middle brackets."""
    assert SHARES.sum() == pytest.approx(1)
    assert len(BRACKETS) == len(TEST_MATCHES) == 7
    _, found = drafts(20_000)
    np.testing.assert_allclose(np.bincount(found.bracket) / len(found), SHARES, atol=0.015)
    assert distance_from_mean() @ SHARES == pytest.approx(0)


def test_linear_drift_is_linear_and_its_mean_is_the_base():
    """Strength changes by the same from bracket to bracket; the population's mean has no drift."""
    one = world()
    steps = np.diff(one.strength, axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), atol=1e-12)
    np.testing.assert_allclose(SHARES @ one.strength, world(slope_sd=0.0).strength[0], atol=1e-12)


def test_saturating_drift_is_flat_below_the_middle():
    """Herald to Archon are alike, above them strength changes."""
    steps = np.diff(world(drift="saturating").strength, axis=0)
    assert not steps[:3].any()
    assert steps[3:].any()


def test_independent_drift_has_the_same_spread_in_every_bracket():
    """With three hundred heroes, within four standard errors."""
    spread = make_world(np.random.default_rng(0), Design(heroes=300, base_sd=0.0, drift="independent")).strength.std(
        axis=1
    )
    np.testing.assert_allclose(spread, 0.06, rtol=4 / np.sqrt(2 * 300))


def test_a_larger_slope_changes_nothing_but_the_drift():
    """Base strengths, pairs and habits are the same draws."""
    small, large = world(slope_sd=0.01), world(slope_sd=0.02)
    np.testing.assert_array_equal(small.counter, large.counter)
    np.testing.assert_allclose(
        large.strength - small.strength, (small.strength - world(slope_sd=0.0).strength), atol=1e-12
    )


def test_picks_may_follow_the_drift():
    """A hero that gains strength with rank is then picked more often there, else equally often."""
    assert not np.diff(world().popularity, axis=0).any()
    one = world(picks_follow=10.0)
    gained = one.strength[-1] - one.strength[0]
    more = np.log(one.popularity[-1] / one.popularity[0])
    assert np.corrcoef(gained, more)[0, 1] == pytest.approx(1)


def test_magnified_effects_keep_their_proportions():
    """Twice the strengths and pairs, the same picks."""
    plain, double = (
        Design(picks_follow=4.0, pair_slope_sd=0.01),
        Design(picks_follow=4.0, pair_slope_sd=0.01).magnified(2),
    )
    small, large = (make_world(np.random.default_rng(0), one) for one in (plain, double))
    np.testing.assert_allclose(large.strength, 2 * small.strength)
    np.testing.assert_allclose(large.counter, 2 * small.counter)
    np.testing.assert_allclose(large.popularity, small.popularity)


@pytest.mark.parametrize("design", [{"heroes": 9}, {"drift": "sideways"}])
def test_designs_without_a_world_are_refused(design):
    """Too few heroes, an unknown drift."""
    with pytest.raises(ValueError, match=r"a match needs 10|linear, saturating or independent"):
        world(**design)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Design(base_sd=-0.1),
        lambda: Design(slope_sd=np.nan),
        lambda: Design(popularity_sd=np.inf),
        lambda: Design(top_shrinks_to=np.nan),
        lambda: Design().magnified(0.0),
        lambda: Design().magnified(np.nan),
    ],
)
def test_spreads_that_are_none_are_refused(build):
    """Negative, or no finite number."""
    with pytest.raises(ValueError, match="finite"):
        build()


@pytest.mark.parametrize("shares", [[], [0.5, 0.6], [-1.0, 2.0], [np.nan, 1.0], [[0.5, 0.5]]])
def test_shares_that_are_none_are_refused(shares):
    """When the world is made, not when it is drawn from."""
    with pytest.raises(ValueError, match="adding up to 1"):
        make_world(np.random.default_rng(0), Design(heroes=12), np.array(shares))


@pytest.mark.parametrize("bracket", [[9, 9, 9], [-1, -1, -1], [0], [0.0, 0.0, 0.0]])
def test_brackets_that_there_are_not_are_refused(bracket):
    """A negative one would count from the highest, a single one be broadcast."""
    with pytest.raises(ValueError, match="give one from 0 to 6"):
        draw_drafts(world(), 3, np.random.default_rng(0), np.array(bracket))


def test_fewer_than_no_matches_are_refused():
    """None are possible."""
    with pytest.raises(ValueError, match="-1 matches"):
        draw_drafts(world(), -1, np.random.default_rng(0))
