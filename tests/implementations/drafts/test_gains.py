"""The table of gains against the same scores computed bracket by bracket."""

import numpy as np
import pytest

from implementations.drafts.bag_of_heroes import fit_bag
from implementations.drafts.gains import by_bracket, gain_table
from implementations.drafts.scores import expected_accuracy
from implementations.drafts.world import Design, draw_drafts, make_world


def case(n=6000, seed=0, **options):
    rng = np.random.default_rng(seed)
    world = make_world(rng, Design(heroes=12, **options).magnified(4.0))
    return world, draw_drafts(world, n, rng), draw_drafts(world, n, rng)


def test_the_table_is_what_each_bracket_gives():
    """Accuracies of own and pooled fits, bracket by bracket."""
    _, train, test = case()
    table = gain_table(train, test, 12, 7)
    pooled = fit_bag(train.heroes, train.won, 12)
    for b in range(7):
        fitted, tested = train.only(train.bracket == b), test.only(test.bracket == b)
        own = fit_bag(fitted.heroes, fitted.won, 12)
        assert table.own[b] == pytest.approx(expected_accuracy(tested.log_odds, own.log_odds(tested.heroes)))
        assert table.pooled[b] == pytest.approx(expected_accuracy(tested.log_odds, pooled.log_odds(tested.heroes)))
    assert table.shares.sum() == pytest.approx(1)


def test_the_forecast_is_the_difference_over_all_matches():
    """Weighted by population, gains by bracket are the gain over everything tested."""
    _, train, test = case()
    table = gain_table(train, test, 12, 7)
    assert table.forecast == pytest.approx(table.shares @ table.own - table.shares @ table.pooled)
    assert (table.gains == table.own - table.pooled).all()


def test_drift_gains_and_its_absence_costs():
    """With drift the forecast is positive; without it own fits pay for their smaller samples."""
    drifting = [gain_table(*case(seed=s, slope_sd=0.05)[1:], 12, 7).forecast for s in range(3)]
    steady = [gain_table(*case(seed=s, slope_sd=0.0)[1:], 12, 7).forecast for s in range(3)]
    assert np.mean(drifting) > 0.005 > 0 > np.mean(steady)


def test_an_empty_bracket_is_refused():
    """It is named."""
    _, train, _ = case()
    with pytest.raises(ValueError, match="no match in bracket 7"):
        by_bracket(np.ones(len(train)), train, 8)


def test_values_and_brackets_must_be_those_of_the_matches():
    """One value a match, and no match of a bracket that there is not."""
    _, test = case(600)[-2:]
    with pytest.raises(ValueError, match="give one for each"):
        by_bracket(test.log_odds[:3], test, 7)
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        by_bracket(test.log_odds, test, 2)
