"""The cheap table: what each bracket gains by a fit of its own over the pooled one, and the forecast made from it.

Follows: the draft post's procedure: gain by bracket, weighted by the bracket's share of the population.
Leaves out: standard errors of the gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from implementations.drafts.bag_of_heroes import Bag, check_brackets, fit_bag, fit_by_bracket, log_odds_by_bracket
from implementations.drafts.scores import called_right
from implementations.drafts.world import Drafts, Floats


@dataclass(frozen=True)
class GainTable:
    """Expected accuracies by bracket, as shares of matches.

    Attributes:
        own: Fitted and tested within the bracket, shape (brackets,).
        pooled: Fitted to all matches, tested within the bracket, shape (brackets,).
        shares: Share of the tested matches, shape (brackets,).
    """

    own: Floats
    pooled: Floats
    shares: Floats

    @property
    def gains(self) -> Floats:
        """What a fit of its own is worth to each bracket, shape (brackets,)."""
        return self.own - self.pooled

    @property
    def forecast(self) -> float:
        """The gains weighted by population: what a model that knows the rank should gain."""
        return float(self.shares @ self.gains)


def gain_table(train: Drafts, test: Drafts, n_heroes: int, n_brackets: int, *, ridge: float = 1.0) -> GainTable:
    """Fit pooled and by bracket, and score both by bracket.

    Args:
        train: Matches to fit, some in every bracket.
        test: Matches to score, some in every bracket.
        n_heroes: Number of heroes.
        n_brackets: Number of brackets.
        ridge: Of every fit.

    Raises:
        ValueError: what `fit_by_bracket`, `table_of` or `by_bracket` refuse.
    """
    pooled = fit_bag(train.heroes, train.won, n_heroes, ridge=ridge)
    own = fit_by_bracket(train, n_heroes, n_brackets, ridge=ridge)
    return table_of(pooled, own, test)


def table_of(pooled: Bag, own: Sequence[Bag], test: Drafts) -> GainTable:
    """The table of fits that are there already.

    Raises:
        ValueError: a bracket without a match to test, or matches of a bracket without a fit.
    """
    sizes = np.bincount(test.bracket, minlength=len(own))
    return GainTable(
        own=by_bracket(called_right(test.log_odds, log_odds_by_bracket(own, test)), test, len(own)),
        pooled=by_bracket(called_right(test.log_odds, pooled.log_odds(test.heroes)), test, len(own)),
        shares=sizes / len(test),
    )


def by_bracket(values: Floats, drafts: Drafts, n_brackets: int) -> Floats:
    """Mean of a value by bracket, (n,) -> (brackets,).

    Raises:
        ValueError: a bracket without a match, a match of another bracket, or another number of values than of matches.
    """
    if values.shape != drafts.bracket.shape:
        raise ValueError(f"values of shape {values.shape} for {len(drafts)} matches; give one for each")
    check_brackets(drafts, n_brackets)
    sizes = np.bincount(drafts.bracket, minlength=n_brackets)
    if (sizes == 0).any():
        raise ValueError(f"no match in bracket {int(np.argmin(sizes))}; draw more")
    return np.bincount(drafts.bracket, weights=values, minlength=n_brackets) / sizes
