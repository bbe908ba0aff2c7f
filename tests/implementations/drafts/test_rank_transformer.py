"""The network: its symmetries, its attention against a loop, what rank changes, and what it learns."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from implementations.drafts.bag_of_heroes import fit_bag  # noqa: E402 - after the check
from implementations.drafts.rank_transformer import (  # noqa: E402
    Attention,
    Shape,
    Training,
    hidden,
    network_log_odds,
    new_network,
    train_network,
)
from implementations.drafts.scores import expected_log_loss  # noqa: E402
from implementations.drafts.world import Design, draw_drafts, make_world  # noqa: E402

HEROES = 12


def drafts(n=6000, seed=0, factor=6.0, **design):
    rng = np.random.default_rng(seed)
    world = make_world(rng, Design(heroes=HEROES, **design).magnified(factor))
    return draw_drafts(world, n, rng), draw_drafts(world, 4000, rng)


def network(brackets=0, seed=0, layers=1):
    return new_network(Shape(HEROES, brackets, width=8, layers=layers), seed)


def loss_after(train, test, brackets, seed=0, **how):
    one = network(brackets, seed)
    train_network(one, train, Training(**{"epochs": 6, "batch": 256, "rate": 0.02, **how}), seed=seed)
    return expected_log_loss(test.log_odds, network_log_odds(one, test.heroes, test.bracket))


def test_attention_is_a_loop_over_heroes():
    """Head by head and hero by hero, the first half looking at the own side and the second at the other."""
    torch.manual_seed(0)
    attention = Attention(8, 4)
    tokens = torch.randn(3, 2, 5, 8)
    found = attention(tokens).detach().numpy()
    projected = attention.project(tokens).detach().numpy().reshape(3, 2, 5, 3, 4, 2)
    slow = np.zeros((3, 2, 5, 8))
    for n, side, hero, head in np.ndindex(3, 2, 5, 4):
        other = side if head < 2 else 1 - side
        query = projected[n, side, hero, 0, head]
        keys, values = projected[n, other, :, 1, head], projected[n, other, :, 2, head]
        weights = np.exp(keys @ query / np.sqrt(2))
        slow[n, side, hero, 2 * head : 2 * head + 2] = weights @ values / weights.sum()
    np.testing.assert_allclose(found, slow @ attention.combine.weight.detach().numpy().T, atol=1e-5)


@pytest.mark.parametrize("brackets", [0, 7])
def test_swapping_the_sides_flips_the_log_odds(brackets):
    """But for the bias, with rank and without."""
    _, test = drafts(300)
    one = network(brackets)
    with torch.no_grad():
        one.bias.fill_(0.2)
        for parameter in [one.rank] if brackets else []:
            parameter.normal_()
    there = network_log_odds(one, test.heroes, test.bracket)
    back = network_log_odds(one, np.roll(test.heroes, 5, axis=1), test.bracket)
    np.testing.assert_allclose(there - 0.2, -(back - 0.2), atol=1e-5)


def test_the_order_within_a_side_does_not_matter():
    """Picks of a side in any order give the same log odds."""
    _, test = drafts(300)
    shuffled = np.concatenate([test.heroes[:, [3, 0, 4, 1, 2]], test.heroes[:, [6, 5, 9, 7, 8]]], axis=1)
    one = network()
    np.testing.assert_allclose(
        network_log_odds(one, test.heroes, test.bracket), network_log_odds(one, shuffled, test.bracket), atol=1e-5
    )


def test_rank_starts_at_no_effect_and_moves_nothing_else():
    """With rank and without, the same seed gives the same weights and the same log odds."""
    _, test = drafts(300)
    plain, ranked = network(0), network(7)
    for name, parameter in plain.named_parameters():
        assert torch.equal(parameter, dict(ranked.named_parameters())[name])
    np.testing.assert_array_equal(
        network_log_odds(plain, test.heroes, test.bracket), network_log_odds(ranked, test.heroes, test.bracket)
    )


def test_without_layers_it_is_a_bag_of_heroes():
    """The fitted log loss is that of the logistic regression."""
    train, test = drafts(10_000, pair_sd=0.0)
    one = network(layers=0)
    train_network(one, train, Training(epochs=6, batch=256, rate=0.02), seed=0)
    linear = fit_bag(train.heroes, train.won, HEROES)
    theirs = expected_log_loss(test.log_odds, linear.log_odds(test.heroes))
    found = expected_log_loss(test.log_odds, network_log_odds(one, test.heroes, test.bracket))
    assert found == pytest.approx(theirs, abs=0.003)


def test_it_learns_pairs_a_bag_cannot():
    """Where pairs decide, its log loss is below the logistic regression's."""
    train, test = drafts(8000, factor=10.0, base_sd=0.02, slope_sd=0.0)
    linear = fit_bag(train.heroes, train.won, HEROES)
    assert loss_after(train, test, 0) < expected_log_loss(test.log_odds, linear.log_odds(test.heroes)) - 0.01


def test_it_learns_drift_when_told_the_rank():
    """Where strengths turn around with rank, the network that knows it is far ahead."""
    train, test = drafts(5000, base_sd=0.0, slope_sd=0.08, pair_sd=0.0)
    assert loss_after(train, test, 7) < loss_after(train, test, 0) - 0.03


def test_the_same_seed_gives_the_same_network():
    """Training repeats itself to the last bit, and another seed does not."""
    train, test = drafts(2000)
    losses = [loss_after(train, test, 7, seed=s, epochs=1) for s in (0, 0, 1)]
    assert losses[0] == losses[1] != losses[2]


def test_looks_are_evenly_spaced_and_end_with_the_training():
    """Four looks at two epochs; the last sees the finished network."""
    train, test = drafts(2048)
    one = network()
    steps = []

    def look(now):
        steps.append(network_log_odds(now, test.heroes[:5], test.bracket[:5]))
        return float(len(steps))

    assert train_network(one, train, Training(epochs=2, batch=256, looks=4), seed=0, look=look) == [1, 2, 3, 4]
    np.testing.assert_array_equal(steps[-1], network_log_odds(one, test.heroes[:5], test.bracket[:5]))


def test_hidden_drafts_keep_so_many():
    """A fixed number of known heroes, or one from 1 to 10 match by match, each place as often."""
    train, _ = drafts(6000)
    rng = np.random.default_rng(0)
    assert ((hidden(train.heroes, HEROES, rng, known=3) != HEROES).sum(axis=1) == 3).all()
    some = hidden(train.heroes, HEROES, rng)
    known = some != HEROES
    assert set(known.sum(axis=1)) == set(range(1, 11))
    assert (some[known] == train.heroes[known]).all()
    np.testing.assert_allclose(known.mean(axis=0), 0.55, atol=0.03)


def test_shapes_and_batches_that_do_not_fit_are_refused():
    """Odd heads, a width they do not divide, a batch larger than the data."""
    for heads, width in ((3, 12), (4, 10), (0, 8)):
        with pytest.raises(ValueError, match="an even number that divides it"):
            Shape(HEROES, width=width, heads=heads)
    train, _ = drafts(100)
    with pytest.raises(ValueError, match="at least one batch"):
        train_network(network(), train, Training(batch=512), seed=0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Shape(0), "heroes 0"),
        (lambda: Shape(12, brackets=-1), "brackets -1"),
        (lambda: Shape(12, width=0), "width 0"),
        (lambda: Shape(12, layers=-1), "layers -1"),
        (lambda: Training(epochs=0), "epochs 0"),
        (lambda: Training(batch=0), "batch 0"),
        (lambda: Training(looks=0), "looks 0"),
        (lambda: Training(rate=float("nan")), "rate nan"),
        (lambda: Training(decay=-1.0), "decay -1.0"),
    ],
)
def test_sizes_and_rates_that_are_none_are_refused(build, message):
    """Each names itself."""
    with pytest.raises(ValueError, match=message):
        build()


def test_matches_that_a_network_does_not_know_are_refused():
    """Heroes, brackets and shapes; a bracket of -1 would be the highest."""
    _, test = drafts(200)
    one = network(brackets=7)
    for heroes, bracket in (
        (test.heroes + HEROES, test.bracket),
        (test.heroes, test.bracket - 7),
        (test.heroes[:, :8], test.bracket),
        (test.heroes, test.bracket[:3]),
    ):
        with pytest.raises(ValueError, match=r"heroes|brackets"):
            network_log_odds(one, heroes, bracket)
    with pytest.raises(ValueError, match="at least 1 match"):
        network_log_odds(one, test.heroes, test.bracket, batch=0)


def test_any_layout_of_matches_is_read():
    """None at all, reversed ones, and ones that may not be written to."""
    _, test = drafts(200)
    one = network(brackets=7)
    said = network_log_odds(one, test.heroes, test.bracket)
    back = network_log_odds(one, test.heroes[::-1], test.bracket[::-1])
    np.testing.assert_allclose(back[::-1], said, atol=1e-6)
    frozen = test.heroes.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(network_log_odds(one, frozen, test.bracket), said)
    assert network_log_odds(one, test.heroes[:0], test.bracket[:0]).shape == (0,)


def test_a_step_needs_its_optimiser():
    """Otherwise the rate of another one would be set."""
    train, _ = drafts(100)
    with pytest.raises(ValueError, match="pass both"):
        train_network(network(), train, Training(batch=16), seed=0, step=lambda inputs, won: None)


@pytest.mark.parametrize("known", [-1, 11])
def test_more_heroes_than_there_are_cannot_be_known(known):
    """Nor fewer than none."""
    with pytest.raises(ValueError, match="from 0 to 10"):
        hidden(np.zeros((2, 10), np.int64), 12, np.random.default_rng(0), known)
