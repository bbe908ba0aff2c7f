"""Synthetic drafts: heroes whose strength drifts with rank, and matches whose true odds are known.

Follows: the figures of the draft post. Seven brackets as populated as its test matches; slopes large enough that the
extreme ones of 120 heroes lose or gain about eight points of win rate from the lowest bracket to the highest; pair
terms that lift a network above a linear model.
Leaves out: the order of picks, bans, players. Each match is drawn by itself.

The true log odds of a match are known, so a model can be scored by the chance that the side it calls wins, without the
noise of who won.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
Drift = Literal["linear", "saturating", "independent"]

BRACKETS = ("Herald", "Guardian", "Crusader", "Archon", "Legend", "Ancient", "Divine")
TEST_MATCHES = (107_264, 332_028, 481_825, 554_941, 473_457, 300_890, 241_705)
SHARES = np.array(TEST_MATCHES) / sum(TEST_MATCHES)
TEAM = 5
# Radiant's five first, then Dire's.
SIDES = np.repeat([1.0, -1.0], TEAM)
# Spread of strengths that are drawn anew in each bracket.
INDEPENDENT_SD = 0.06
# Matches whose picks are drawn at a time; each needs a number a hero.
CHUNK = 20_000


@dataclass(frozen=True)
class Design:
    """What a world is drawn from; log odds throughout.

    Args:
        heroes: How many there are.
        base_sd: Spread of the heroes' mean strengths.
        slope_sd: Spread of their change from one bracket to the next.
        drift: `linear`; `saturating`, where nothing changes below the middle bracket; `independent`, where each bracket
            draws anew and `slope_sd` is scaled to the spread it has under the post's figures.
        pair_sd: Spread of a pair's synergy, and of a counter.
        pair_slope_sd: Spread of the change of both from one bracket to the next.
        popularity_sd: Spread of the logarithm of how often a hero is picked.
        picks_follow: How strongly picks follow the drift of strength.
        top_shrinks_to: What strengths of the highest bracket are multiplied by.

    Raises:
        ValueError: fewer heroes than a match needs, an unknown drift, a negative spread, or what is not finite.
    """

    heroes: int = 120
    base_sd: float = 0.10
    slope_sd: float = 0.022
    drift: Drift = "linear"
    pair_sd: float = 0.05
    pair_slope_sd: float = 0.0
    popularity_sd: float = 0.7
    picks_follow: float = 0.0
    top_shrinks_to: float = 1.0

    def __post_init__(self) -> None:
        if self.heroes < 2 * TEAM:
            raise ValueError(f"{self.heroes} heroes; a match needs {2 * TEAM}")
        if self.drift not in get_args(Drift):
            raise ValueError(f"drift {self.drift!r}; it is linear, saturating or independent")
        for name in ("base_sd", "slope_sd", "pair_sd", "pair_slope_sd", "popularity_sd"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} {getattr(self, name)}; it must be a finite number of at least 0")
        for name in ("picks_follow", "top_shrinks_to"):
            if not np.isfinite(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)}; it must be finite")

    def magnified(self, factor: float) -> Design:
        """The same with every effect larger, which needs fewer matches to see.

        Raises:
            ValueError: a factor that is no finite number above 0.
        """
        if not 0 < factor < np.inf:
            raise ValueError(f"a factor of {factor}; it must be a finite number above 0")
        names = ("base_sd", "slope_sd", "pair_sd", "pair_slope_sd")
        larger = {name: factor * getattr(self, name) for name in names}
        return replace(self, **larger, picks_follow=self.picks_follow / factor)


@dataclass(frozen=True)
class World:
    """Strengths, pairs and habits of one world.

    Attributes:
        strength: Log odds a hero adds to its side, shape (brackets, heroes).
        popularity: Weight of a hero among the picks, shape (brackets, heroes).
        synergy: What a pair adds on one side, symmetric, shape (brackets, heroes, heroes).
        counter: What the first has over the second across sides, antisymmetric, same shape.
        shares: Population of the brackets, shape (brackets,).
        advantage: Log odds of the first side before any pick.
    """

    strength: Floats
    popularity: Floats
    synergy: Floats
    counter: Floats
    shares: Floats
    advantage: float = 0.02

    @property
    def n_heroes(self) -> int:
        """Number of heroes."""
        return len(self.strength[0])

    @property
    def n_brackets(self) -> int:
        """Number of brackets."""
        return len(self.shares)


@dataclass(frozen=True)
class Drafts:
    """Matches.

    Attributes:
        heroes: The first side's five, then the other's, shape (n, 10).
        bracket: Shape (n,).
        log_odds: Of the first side, as the world has them, shape (n,).
        won: Whether the first side won, shape (n,).
    """

    heroes: Whole
    bracket: Whole
    log_odds: Floats
    won: Flags

    def __len__(self) -> int:
        """Number of matches."""
        return len(self.bracket)

    def only(self, which: Flags | Whole | slice) -> Drafts:
        """Some of the matches."""
        return Drafts(self.heroes[which], self.bracket[which], self.log_odds[which], self.won[which])


def distance_from_mean(shares: Floats = SHARES) -> Floats:
    """Brackets counted from the population's mean rank, shape (brackets,)."""
    ranks = np.arange(len(shares))
    return np.asarray(ranks - float(ranks @ shares), dtype=np.float64)


def make_world(rng: np.random.Generator, design: Design = Design(), shares: Floats = SHARES) -> World:
    """Draw a world.

    Args:
        rng: Where it is drawn from; the same draws come first whatever the sizes of the effects are.
        design: What it is drawn from.
        shares: Population of the brackets, shape (brackets,).

    Raises:
        ValueError: shares that are not at least 0 and add up to 1.
    """
    shares = np.asarray(shares, dtype=np.float64)
    if shares.ndim != 1 or not (shares >= 0).all() or not abs(shares.sum() - 1) < 1e-6:
        raise ValueError(f"shares {shares}; give one of at least 0 for each bracket, adding up to 1")
    n = design.heroes
    base, slope, habit = rng.normal(size=(3, n))
    pairs = rng.normal(size=(4, n, n))
    away = distance_from_mean(shares)[:, None]  # (brackets, 1)
    drift = _drift(rng, slope, away, design)
    strength = design.base_sd * base + drift
    strength[-1] *= design.top_shrinks_to
    means, slopes = pairs[:2, None], pairs[2:, None] * away[None, :, :, None]  # (2, 1 or brackets, n, n)
    terms = design.pair_sd * means + design.pair_slope_sd * slopes
    popularity = np.exp(design.popularity_sd * habit + design.picks_follow * drift)
    return World(strength, popularity, _mirrored(terms[0], 1), _mirrored(terms[1], -1), shares)


def _drift(rng: np.random.Generator, slope: Floats, away: Floats, design: Design) -> Floats:
    """What rank adds to each hero's strength, (brackets, heroes)."""
    if design.drift == "linear":
        return np.asarray(design.slope_sd * away * slope)
    if design.drift == "saturating":
        middle = away[len(away) // 2]
        return np.asarray(design.slope_sd * np.maximum(away, middle) * slope)
    scale = INDEPENDENT_SD * design.slope_sd / Design().slope_sd
    return scale * rng.normal(size=(len(away), len(slope)))


def _mirrored(terms: Floats, sign: int) -> Floats:
    """Pair terms with the upper triangle mirrored below the diagonal, shape kept."""
    upper = np.triu(terms, 1)
    return upper + sign * np.swapaxes(upper, -1, -2)


def draw_drafts(world: World, n: int, rng: np.random.Generator, bracket: Whole | None = None) -> Drafts:
    """Draw matches.

    Args:
        world: Where they are played.
        n: How many.
        rng: Draws brackets, picks and results.
        bracket: The bracket of each match, shape (n,); drawn by population where None.

    Raises:
        ValueError: a negative number of matches, or brackets that are not one for each match, of those that there are.
    """
    if n < 0:
        raise ValueError(f"{n} matches; there must be at least 0")
    if bracket is not None:
        _check_bracket(bracket, n, world.n_brackets)
    if bracket is None:
        bracket = rng.choice(world.n_brackets, size=n, p=world.shares)
    heroes = np.empty((n, 2 * TEAM), dtype=np.int64)
    for first in range(0, n, CHUNK):
        part = slice(first, first + CHUNK)
        heroes[part] = _picks(world.popularity[bracket[part]], rng)
    odds = log_odds(world, heroes, bracket)
    return Drafts(heroes, bracket, odds, rng.random(n) < chance(odds))


def _check_bracket(bracket: Whole, n: int, n_brackets: int) -> None:
    whole = bracket.shape == (n,) and bracket.dtype.kind in "iu"
    if not whole or (n and not 0 <= bracket.min() <= bracket.max() < n_brackets):
        raise ValueError(f"brackets {bracket} of {n} matches; give one from 0 to {n_brackets - 1} for each")


def _picks(weights: Floats, rng: np.random.Generator) -> Whole:
    """Ten distinct heroes a row, (n, heroes) -> (n, 10): the first to arrive of exponential waits."""
    waits = rng.standard_exponential(weights.shape) / weights
    ten = np.argpartition(waits, 2 * TEAM, axis=1)[:, : 2 * TEAM] if weights.shape[1] > 2 * TEAM else waits.argsort(1)
    return rng.permuted(ten, axis=1)  # the partition leaves an order of its own


def log_odds(world: World, heroes: Whole, bracket: Whole) -> Floats:
    """True log odds of the first side.

    Args:
        world: Its strengths and pairs.
        heroes: Shape (n, 10).
        bracket: Shape (n,).
    """
    total = world.advantage + world.strength[bracket[:, None], heroes] @ SIDES
    synergy, counter = (_table(one) for one in (world.synergy, world.counter))
    where = bracket if len(world.synergy) > 1 else np.zeros_like(bracket)
    for i, j in combinations(range(2 * TEAM), 2):
        cell = (where * world.n_heroes + heroes[:, i]) * world.n_heroes + heroes[:, j]
        if i < TEAM <= j:
            total += counter[cell]
        else:
            total += SIDES[i] * synergy[cell]
    return np.asarray(total, dtype=np.float64)


def _table(terms: Floats) -> Floats:
    return np.ascontiguousarray(terms).ravel()


def chance(odds: Floats) -> Floats:
    """The probability that log odds stand for."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * odds)), dtype=np.float64)
