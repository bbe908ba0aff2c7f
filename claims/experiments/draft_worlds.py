"""Linear models on synthetic drafts: pooled, by bracket, and filtered to the low brackets.

Effects are twice those of the post's figures and heroes a third as many, so that 140,000 matches tell as much of a
weight as several million would at the post's scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from implementations.drafts.bag_of_heroes import Bag, design, fit_bag, fit_by_bracket, log_odds_by_bracket, low_rank
from implementations.drafts.gains import by_bracket, table_of
from implementations.drafts.scores import called_right
from implementations.drafts.world import Design, Drafts, World, chance, draw_drafts, log_odds, make_world

FACTOR = 2.0
HEROES = 40
MATCHES = 140_000
TESTED = 70_000
# The last bracket the post's earlier models were trained on.
ARCHON, DIVINE, ANCIENT = 3, 6, 5
# The game mode mixed into the early experiment, as a share of a bracket's matches.
OTHER_MODE_LOW, OTHER_MODE_TOP = 0.3, 0.05
LOW_MATCHES, TOP_MATCHES = 89_322, 38_850
Study = dict[str, Any]


def world_of(seed: int, **options: Any) -> tuple[World, np.random.Generator]:
    """A world, and the generator that draws its matches."""
    rng = np.random.default_rng(seed)
    return make_world(rng, Design(**{"heroes": HEROES, **options}).magnified(FACTOR)), rng


def _study(seed: int, **options: Any) -> Study:
    """Expected accuracies by bracket of every model, in per cent; how near pooled weights are to each bracket's."""
    world, rng = world_of(seed, **options)
    train, test = draw_drafts(world, MATCHES, rng), draw_drafts(world, TESTED, rng)
    pooled = fit_bag(train.heroes, train.won, world.n_heroes)
    low = train.only(train.bracket <= ARCHON)
    filtered = fit_bag(low.heroes, low.won, world.n_heroes)
    own = fit_by_bracket(train, world.n_heroes, world.n_brackets)
    table = table_of(pooled, own, test)
    return {
        "own": (100 * table.own).tolist(),
        "pooled": (100 * table.pooled).tolist(),
        "filtered": _accuracies(filtered, test, world).tolist(),
        "shares": table.shares.tolist(),
        "forecast": 100 * table.forecast,
        "low rank": [_low_rank_gain(own, pooled, test, world, rank) for rank in range(1, world.n_brackets)],
        "likeness": [float(np.corrcoef(pooled.weights, row)[0, 1]) for row in world.strength],
    }


def _accuracies(bag: Bag, test: Drafts, world: World) -> np.ndarray:
    return 100 * by_bracket(called_right(test.log_odds, bag.log_odds(test.heroes)), test, world.n_brackets)


def _low_rank_gain(own: list[Bag], pooled: Bag, test: Drafts, world: World, rank: int) -> float:
    """What weights along so many directions of rank gain over the pooled ones, in points."""
    odds = log_odds_by_bracket(low_rank(own, world.shares, rank), test)
    gained = called_right(test.log_odds, odds) - called_right(test.log_odds, pooled.log_odds(test.heroes))
    return float(100 * gained.mean())


def linear_drift(seed: int) -> Study:
    """Strengths that change evenly with rank."""
    return _study(seed)


def no_drift(seed: int) -> Study:
    """Strengths that do not change with rank."""
    return _study(seed, slope_sd=0.0)


def noisy_top(seed: int) -> Study:
    """No drift, and strengths that count half in the highest bracket."""
    return _study(seed, slope_sd=0.0, top_shrinks_to=0.5)


def old_gaps(seed: int) -> dict[str, float]:
    """Accuracy of the low brackets less that of the highest, in points, as the early experiment may have found it.

    `clean`: one mode, a split without duplicates, a fit for either group. Each other entry changes one of these.
    """
    world, rng = world_of(seed)
    other = world_of(seed + 10_000)[0]
    groups = {"low": (range(ARCHON + 1), LOW_MATCHES, OTHER_MODE_LOW), "top": ([DIVINE], TOP_MATCHES, OTHER_MODE_TOP)}
    found: dict[str, dict[str, float]] = {}
    pool = draw_drafts(world, MATCHES, rng)
    pooled = fit_bag(pool.heroes, pool.won, world.n_heroes)
    for name, (brackets, n, share) in groups.items():
        ranks = _drawn_brackets(world, brackets, n, rng)
        plain = draw_drafts(world, n, rng, ranks)
        mixed = _mixed(plain, draw_drafts(other, n, rng, ranks), rng.random(n) < share)
        train, test = plain.only(slice(n // 5, None)), plain.only(slice(n // 5))
        half = test.only(slice(len(test) // 2))  # half of the tested matches are among the training rows, too
        leaked = _joined(train, half)
        found[name] = {
            "clean": _group_accuracy(_fit(train), test),
            "mixed modes": _group_accuracy(_fit(mixed.only(slice(n // 5, None))), mixed.only(slice(n // 5))),
            "leaky split": _group_accuracy(_fit(train), test) + _leak(train, leaked, test),
            "pooled fit": _group_accuracy(pooled, test),
        }
    return {way: found["low"][way] - found["top"][way] for way in found["low"]}


def _drawn_brackets(world: World, brackets: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    shares = world.shares[list(brackets)]
    return rng.choice(list(brackets), size=n, p=shares / shares.sum())


def _fit(drafts: Drafts) -> Bag:
    return fit_bag(drafts.heroes, drafts.won, HEROES)


def _group_accuracy(bag: Bag, test: Drafts) -> float:
    return float(100 * called_right(test.log_odds, bag.log_odds(test.heroes)).mean())


def _leak(train: Drafts, leaked: Drafts, test: Drafts) -> float:
    """What the duplicates add to the share of results called, in points."""
    hits = [(_fit(rows).log_odds(test.heroes) > 0) == test.won for rows in (leaked, train)]
    return float(100 * (hits[0].mean() - hits[1].mean()))


def _mixed(a: Drafts, b: Drafts, take_b: np.ndarray) -> Drafts:
    wide = take_b[:, None]
    return Drafts(
        np.where(wide, b.heroes, a.heroes),
        a.bracket,
        np.where(take_b, b.log_odds, a.log_odds),
        np.where(take_b, b.won, a.won),
    )


def _joined(a: Drafts, b: Drafts) -> Drafts:
    return Drafts(
        *(np.concatenate([getattr(one, name) for one in (a, b)]) for name in ("heroes", "bracket", "log_odds", "won"))
    )


def interaction_gap(seed: int, ridge: float) -> float:
    """Largest difference of weights and intercepts between seven fits and one with every hero times every bracket.

    The joint model is fitted by Newton's method on a dense matrix with a block of columns a bracket.
    """
    world, rng = world_of(seed, heroes=15)
    train = draw_drafts(world, 8000, rng)
    own = fit_by_bracket(train, world.n_heroes, world.n_brackets, ridge=ridge)
    member = (train.bracket[:, None] == np.arange(world.n_brackets)).astype(float)  # (n, brackets)
    signed = design(train.heroes, world.n_heroes)  # (n, heroes)
    blocks = (member[:, :, None] * signed[:, None, :]).reshape(len(train), -1)
    penalty = np.repeat([ridge, 0.0], [blocks.shape[1], world.n_brackets])
    joint = _newton(np.hstack([blocks, member]), train.won, penalty)
    separate = np.concatenate([*(bag.weights for bag in own), [bag.intercept for bag in own]])
    return float(np.abs(joint - separate).max())


def _newton(X: np.ndarray, won: np.ndarray, penalty: np.ndarray, steps: int = 12) -> np.ndarray:
    """Weights of a logistic regression with a ridge of its own on each column."""
    weights = np.zeros(X.shape[1])
    for _ in range(steps):
        p = chance(X @ weights)
        curvature = (X * (p * (1 - p))[:, None]).T @ X + np.diag(penalty)
        weights += np.linalg.solve(curvature, X.T @ (won - p) - penalty * weights)
    return weights


def herald_mixtures(seed: int) -> dict[str, dict[str, float]]:
    """What three kinds of strange accounts do to the lowest bracket: drop of its own fit, and of a fit from above.

    `drop`: points its own fit loses against a bracket of ordinary matches; `transfer`: points the fit of the fifth
    bracket above gains, against the same, relative to the bracket's own fit.
    """
    world, rng = world_of(seed)
    n = 120_000
    plain = draw_drafts(world, n, rng, np.zeros(n, dtype=np.int64))
    above = _fit(draw_drafts(world, n, rng, np.full(n, ANCIENT)))
    strange = {
        "new accounts": _with_odds(plain, np.where(rng.random(n) < 0.2, 0.0, plain.log_odds), rng),
        "smurfs": _with_odds(plain, _as_if_in(world, plain, ANCIENT, rng.random(n) < 0.5), rng),
        "rare players": _with_odds(plain, 0.8 * plain.log_odds, rng),
    }

    def scores(drafts: Drafts) -> tuple[float, float]:
        train, test = drafts.only(slice(n // 3, None)), drafts.only(slice(n // 3))
        own = _group_accuracy(_fit(train), test)
        return own, _group_accuracy(above, test) - own

    ordinary = scores(plain)
    found = {name: scores(drafts) for name, drafts in strange.items()}
    return {
        name: {"drop": ordinary[0] - own, "transfer": transfer - ordinary[1]} for name, (own, transfer) in found.items()
    }


def _with_odds(drafts: Drafts, odds: np.ndarray, rng: np.random.Generator) -> Drafts:
    return Drafts(drafts.heroes, drafts.bracket, odds, rng.random(len(odds)) < chance(odds))


def _as_if_in(world: World, drafts: Drafts, bracket: int, which: np.ndarray) -> np.ndarray:
    return np.where(which, log_odds(world, drafts.heroes, np.full(len(drafts), bracket)), drafts.log_odds)


def peak_margins(seed: int, noise_sd: float, matches: int) -> dict[str, float]:
    """Accuracy of the lowest bracket less the best of the others, in points, with noise that rises or falls with rank.

    Models are perfect here: they know the heroes' strengths and not the noise.
    """
    world, rng = world_of(seed, slope_sd=0.0)
    odds = draw_drafts(world, matches, rng).log_odds
    noise = rng.normal(size=matches)  # the same matches and luck in every bracket
    found = {}
    for name, ranks in (("rising", range(world.n_brackets)), ("falling", reversed(range(world.n_brackets)))):
        called = [100 * chance((odds + noise_sd * rank * noise) * np.sign(odds)).mean() for rank in ranks]
        found[name] = float(called[0] - max(called[1:]))
    return found
