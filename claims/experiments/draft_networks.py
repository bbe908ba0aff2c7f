"""Networks on synthetic drafts, with and without the rank, each match seen once unless an experiment says otherwise.

Effects are twice those of the post's figures and heroes a fifth as many. Moments along a schedule stand for the post's
epochs: it had 21.4 million matches an epoch, so that no match was seen often enough to be learnt by heart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from implementations.drafts.bag_of_heroes import design, fit_bag
from implementations.drafts.gains import gain_table
from implementations.drafts.rank_transformer import (
    RankTransformer,
    Shape,
    Training,
    hidden,
    network_log_odds,
    new_network,
    train_network,
)
from implementations.drafts.scores import expected_accuracy, expected_log_loss
from implementations.drafts.world import Design, Drafts, World, draw_drafts, make_world

FACTOR = 2.0
HEROES = 24
MATCHES = 80_000
TESTED = 20_000
LOOKS = 8
SLOPES = (0.0, 0.022, 0.044)
POST_SLOPE = 0.022
FOLLOWS = (0.0, 10.0, 20.0)
ARCHON = 3
# Chosen by the log loss of the network without rank, which small batches bring down furthest.
BATCH, RATE = 128, 0.01
SHAPE = Shape(HEROES, 7)
PLAIN = Shape(HEROES)
Scores = dict[str, list[float]]


def world_of(seed: int, **options: Any) -> tuple[World, np.random.Generator]:
    """A world, and the generator that draws its matches."""
    rng = np.random.default_rng(seed)
    return make_world(rng, Design(**{"heroes": HEROES, **options}).magnified(FACTOR)), rng


def case(seed: int, n: int = MATCHES, **options: Any) -> tuple[Drafts, Drafts]:
    """Matches to learn from and to test on."""
    world, rng = world_of(seed, **options)
    return draw_drafts(world, n, rng), draw_drafts(world, TESTED, rng)


def scores_along(shape: Shape, seed: int, train: Drafts, test: Drafts, how: Training) -> Scores:
    """Expected accuracy, in per cent, and log loss of one network at every look."""
    odds: list[np.ndarray] = []

    def look(network: RankTransformer) -> float:
        odds.append(network_log_odds(network, test.heroes, test.bracket))
        return 0.0

    train_network(new_network(shape, seed), train, how, seed=seed, look=look)
    return {
        "accuracy": [100 * expected_accuracy(test.log_odds, one) for one in odds],
        "log loss": [expected_log_loss(test.log_odds, one) for one in odds],
    }


def compared(seed: int, train: Drafts, test: Drafts, looks: int = 1) -> dict[str, Any]:
    """Bag, network and network with rank on the same matches, and what the cheap table foretold."""
    bag = fit_bag(train.heroes, train.won, HEROES).log_odds(test.heroes)
    how = Training(batch=BATCH, rate=RATE, looks=looks)
    return {
        "forecast": 100 * gain_table(train, test, HEROES, SHAPE.brackets).forecast,
        "bag": {
            "accuracy": [100 * expected_accuracy(test.log_odds, bag)],
            "log loss": [expected_log_loss(test.log_odds, bag)],
        },
        "plain": scores_along(PLAIN, seed, train, test, how),
        "ranked": scores_along(SHAPE, seed, train, test, how),
    }


def by_slope(seed: int) -> dict[str, dict[str, Any]]:
    """One world, its drift in several strengths."""
    looks = {POST_SLOPE: LOOKS}
    return {str(slope): compared(seed, *case(seed, slope_sd=slope), looks.get(slope, 1)) for slope in SLOPES}


def by_picks(seed: int) -> dict[str, dict[str, float]]:
    """One world whose picks follow the drift more and more: forecast, gain, and how well picks give rank away."""
    found = {}
    for follow in FOLLOWS:
        train, test = case(seed, picks_follow=follow, slope_sd=2 * POST_SLOPE)
        both = compared(seed, train, test)
        told = _rank_told(train, test)
        found[str(follow)] = {"forecast": both["forecast"], "gain": gain(both), "told": told}
    return found


def _rank_told(train: Drafts, test: Drafts) -> float:
    """Correlation of being above Archon with the best linear guess of it from the ten heroes alone."""
    X, Z = (np.abs(design(one.heroes, HEROES)) for one in (train, test))
    high = train.bracket > ARCHON
    line = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), high - high.mean(), rcond=None)[0]
    return float(np.corrcoef(Z @ line[:-1], test.bracket > ARCHON)[0, 1])


def gain(both: dict[str, Any]) -> float:
    """What the rank adds to the accuracy of the finished network, in points."""
    return float(both["ranked"]["accuracy"][-1] - both["plain"]["accuracy"][-1])


def rank_dependent_pairs(seed: int) -> dict[str, float]:
    """Forecast and gain in a world where pairs, too, drift with rank, which no linear table sees."""
    both = compared(seed, *case(seed, pair_slope_sd=POST_SLOPE))
    return {"forecast": both["forecast"], "gain": gain(both)}


def same_world(seed: int) -> dict[str, float]:
    """Accuracy with and without the rank in one and the same world, training seed by training seed."""
    train, test = case(0)
    how = Training(batch=BATCH, rate=RATE)
    return {
        name: scores_along(shape, 100 + seed, train, test, how)["accuracy"][-1]
        for name, shape in (("plain", PLAIN), ("ranked", SHAPE))
    }


def without_pairs(seed: int) -> float:
    """What the network gains over the bag where no pair matters, in points."""
    train, test = case(seed, pair_sd=0.0)
    bag = fit_bag(train.heroes, train.won, HEROES).log_odds(test.heroes)
    network = scores_along(PLAIN, seed, train, test, Training(batch=BATCH, rate=RATE))["accuracy"][-1]
    return network - 100 * expected_accuracy(test.log_odds, bag)


LENGTHS = (2, 4, 8, 24)
SEEN_AGAIN = 20_000
# Gentler than above: these matches come back epoch after epoch.
AGAIN_BATCH, AGAIN_RATE = 256, 0.004


def by_length(seed: int) -> dict[str, list[float]]:
    """Log loss by epoch along schedules of several lengths, on the same few matches."""
    train, test = case(seed, SEEN_AGAIN)
    test = test.only(slice(TESTED // 2))
    found = {}
    for epochs in LENGTHS:
        how = Training(epochs=epochs, batch=AGAIN_BATCH, rate=AGAIN_RATE)
        found[str(epochs)] = scores_along(SHAPE, seed, train, test, how)["log loss"]
    return found


SIMPLE_LENGTHS = (4, 8, 16)


def by_length_without_layers(seed: int) -> dict[str, list[float]]:
    """The same for a network of no layers, a bag of heroes, which has learnt all it can after a few epochs."""
    train, test = case(seed, SEEN_AGAIN)
    bag = Shape(HEROES, layers=0)
    return {
        str(epochs): scores_along(bag, seed, train, test, Training(epochs, AGAIN_BATCH, rate=0.02))["log loss"]
        for epochs in SIMPLE_LENGTHS
    }


def unfinished(seed: int) -> dict[str, list[float]]:
    """Log loss with two to nine known heroes, of a network trained on whole drafts and of one on hidden ones."""
    train, test = case(seed)
    found = {}
    for name, hide in (("whole", False), ("hidden", True)):
        network = new_network(SHAPE, seed)
        train_network(network, train, Training(batch=BATCH, rate=RATE, hide=hide), seed=seed)
        found[name] = [_loss_knowing(network, test, known) for known in range(2, 10)]
    return found


def _loss_knowing(network: RankTransformer, test: Drafts, known: int) -> float:
    heroes = hidden(test.heroes, HEROES, np.random.default_rng(known), known)
    return expected_log_loss(test.log_odds, network_log_odds(network, heroes, test.bracket))


def smallest_run() -> dict[str, float]:
    """One short training with rank: a canary for what a release of PyTorch may move."""
    train, test = case(0, 4096)
    found = scores_along(SHAPE, 0, train, test, Training(epochs=2, batch=512))
    return {"log loss": found["log loss"][-1]}
