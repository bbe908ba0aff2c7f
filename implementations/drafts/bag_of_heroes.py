"""The signed bag of heroes: one weight a hero, added for one side and subtracted for the other.

Follows: logistic regression with a ridge on the weights and none on the intercept; Böhning and Lindsay 1988 for the
fit: the curvature never exceeds a quarter of the design's Gram matrix, so that matrix, factorised once, gives steps
that never overshoot.
Leaves out: pairs of heroes, standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from implementations.drafts.world import SIDES, Drafts, Flags, Floats, Whole, chance

TOLERANCE = 1e-10
MAX_STEPS = 500


@dataclass(frozen=True)
class Bag:
    """A fitted bag.

    Attributes:
        weights: Log odds a hero adds to its side, shape (heroes,).
        intercept: Log odds of the first side before any pick.
    """

    weights: Floats
    intercept: float

    def log_odds(self, heroes: Whole) -> Floats:
        """What it says of matches, heroes (n, 10) -> (n,)."""
        return np.asarray(self.weights[heroes] @ SIDES + self.intercept)


def fit_bag(heroes: Whole, won: Flags, n_heroes: int, *, ridge: float = 1.0) -> Bag:
    """Fit one bag.

    Args:
        heroes: Shape (n, 10).
        won: Whether the first side won, shape (n,).
        n_heroes: Number of heroes.
        ridge: Weight of half the sum of squared weights beside the summed log loss.

    Raises:
        ValueError: no match, no finite ridge above 0 (each match has as many heroes on either side, so that a constant
            can be added to all weights), heroes that there are not, results that are none, or no convergence.
    """
    if len(heroes) == 0 or not 0 < ridge < np.inf:
        raise ValueError(f"{len(heroes)} matches and a ridge of {ridge}; give at least one match and a ridge above 0")
    check_heroes(heroes, n_heroes)
    if won.shape != heroes.shape[:1] or not ((won == 0) | (won == 1)).all():
        raise ValueError(
            f"results of shape {won.shape} and {won.dtype} for {len(heroes)} matches; give a truth value each"
        )
    penalty = np.append(np.full(n_heroes, ridge), 0.0)
    bound = cho_factor(0.25 * gram(heroes, n_heroes) + np.diag(penalty))
    found = np.zeros(n_heroes + 1)
    for _ in range(MAX_STEPS):
        bag = Bag(found[:-1], float(found[-1]))
        step = cho_solve(bound, _slope(bag, heroes, won) - penalty * found)
        found = found + step
        if np.abs(step).max() < TOLERANCE:
            return Bag(found[:-1], float(found[-1]))
    raise ValueError(f"steps are still {np.abs(step).max():.1e} after {MAX_STEPS}; the odds are too far from even")


def gram(heroes: Whole, n_heroes: int) -> Floats:
    """Signed counts of how often two columns of the design meet, intercept last, shape (heroes + 1, heroes + 1)."""
    n = n_heroes
    pairs = np.zeros(n * n)
    for i, j in combinations(range(heroes.shape[1]), 2):
        pairs += SIDES[i] * SIDES[j] * np.bincount(heroes[:, i] * n + heroes[:, j], minlength=n * n)
    table = np.zeros((n + 1, n + 1))
    table[:n, :n] = pairs.reshape(n, n) + pairs.reshape(n, n).T
    table[np.arange(n), np.arange(n)] += np.bincount(heroes.ravel(), minlength=n)
    table[n, :n] = table[:n, n] = _signed_counts(heroes, np.ones(len(heroes)), n)
    table[n, n] = len(heroes)
    return table


def _slope(bag: Bag, heroes: Whole, won: Flags) -> Floats:
    """Gradient of the log likelihood, intercept last, (heroes + 1,)."""
    surprise = won - chance(bag.log_odds(heroes))  # (n,)
    return np.append(_signed_counts(heroes, surprise, len(bag.weights)), surprise.sum())


def _signed_counts(heroes: Whole, amounts: Floats, n_heroes: int) -> Floats:
    """Sum of each match's amount over its heroes, with the side's sign, (heroes,)."""
    total = np.zeros(n_heroes)
    for column, sign in zip(heroes.T, SIDES):
        total += sign * np.bincount(column, weights=amounts, minlength=n_heroes)
    return total


def design(heroes: Whole, n_heroes: int) -> Floats:
    """The signed indicators as a dense matrix, (n, 10) -> (n, heroes); for small n.

    Raises:
        ValueError: heroes that there are not.
    """
    check_heroes(heroes, n_heroes)
    matrix = np.zeros((len(heroes), n_heroes))
    np.put_along_axis(matrix, heroes, np.broadcast_to(SIDES, heroes.shape), axis=1)
    return matrix


def fit_by_bracket(drafts: Drafts, n_heroes: int, n_brackets: int, *, ridge: float = 1.0) -> list[Bag]:
    """One bag a bracket, each fitted to its own matches.

    Raises:
        ValueError: a match of another bracket, or what `fit_bag` refuses, such as a bracket without a match.
    """
    check_brackets(drafts, n_brackets)
    parts = [drafts.only(drafts.bracket == b) for b in range(n_brackets)]
    return [fit_bag(part.heroes, part.won, n_heroes, ridge=ridge) for part in parts]


def log_odds_by_bracket(bags: Sequence[Bag], drafts: Drafts) -> Floats:
    """What each match's own bracket's bag says, (n,).

    Raises:
        ValueError: a match of a bracket without a bag.
    """
    check_brackets(drafts, len(bags))
    weights = np.array([bag.weights for bag in bags])  # (brackets, heroes)
    intercepts = np.array([bag.intercept for bag in bags])
    return np.asarray(weights[drafts.bracket[:, None], drafts.heroes] @ SIDES + intercepts[drafts.bracket])


def low_rank(bags: Sequence[Bag], shares: Floats, rank: int) -> list[Bag]:
    """Bags whose weights differ along `rank` directions only: the nearest to the given ones, weighted by population.

    Args:
        bags: One a bracket.
        shares: Population of the brackets, shape (brackets,).
        rank: Number of directions, from 0 (all the same) to the number of brackets.

    Raises:
        ValueError: another rank, or shares that are not one for each bag and above 0.
    """
    if shares.shape != (len(bags),) or not (shares > 0).all():
        raise ValueError(f"shares {shares} for {len(bags)} bags; give one above 0 for each")
    if not 0 <= rank <= len(bags):
        raise ValueError(f"rank {rank}; it must be from 0 to {len(bags)}, the number of brackets")
    weights = np.array([bag.weights for bag in bags])
    mean = shares @ weights
    root = np.sqrt(shares)[:, None]
    left, sizes, right = np.linalg.svd(root * (weights - mean), full_matrices=False)
    nearest = mean + (left[:, :rank] * sizes[:rank]) @ right[:rank] / root  # (brackets, heroes)
    return [Bag(row, bag.intercept) for row, bag in zip(nearest, bags)]


def check_heroes(heroes: Whole, n_heroes: int) -> None:
    """Refuse drafts of heroes that there are not.

    Raises:
        ValueError: another shape than (n, 10), or a number outside 0 to `n_heroes` - 1.
    """
    if heroes.ndim != 2 or heroes.shape[1] != len(SIDES) or heroes.dtype.kind not in "iu":
        raise ValueError(f"heroes of shape {heroes.shape} and {heroes.dtype}; give (n, {len(SIDES)}) whole numbers")
    if heroes.size and not 0 <= heroes.min() <= heroes.max() < n_heroes:
        raise ValueError(f"heroes from {heroes.min()} to {heroes.max()}; they must be from 0 to {n_heroes - 1}")


def check_brackets(drafts: Drafts, n_brackets: int) -> None:
    """Refuse matches of brackets that there are not.

    Raises:
        ValueError: a number outside 0 to `n_brackets` - 1.
    """
    if len(drafts) and not 0 <= drafts.bracket.min() <= drafts.bracket.max() < n_brackets:
        low, high = drafts.bracket.min(), drafts.bracket.max()
        raise ValueError(f"matches of brackets {low} to {high}; they must be from 0 to {n_brackets - 1}")
