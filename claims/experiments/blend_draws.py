"""Blends fitted to holdouts drawn from the pool of one data set, and what they deliver on its test rows.

A value of this module is a mean over draws: the draws share their pool, members and test rows, so one data set is one
unit and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from claims.experiments.vote_members import Said, loss, said
from claims.experiments.vote_outcomes import recalibrated
from implementations.ensembles.blending import likelihoods, nelder_mead_weights
from implementations.ensembles.simplex import log_loss, minimise_log_loss

Floats = NDArray[np.float64]
SIZES = (40, 80, 150, 300, 600, 1200, 1800)


@dataclass(frozen=True)
class Blended:
    """Mean log losses of a blend over draws of its holdout.

    Attributes:
        holdout: on the rows it was fitted to, what it claims.
        test: on the test rows, what it delivers.
        average: of the plain average on the test rows.
        average_holdout: of the plain average on the rows the blend was fitted to.
        fresh: of the blend on as many other rows of the pool, where there are as many.
    """

    holdout: float
    test: float
    average: float
    average_holdout: float
    fresh: float

    @property
    def optimism(self) -> float:
        """How much it promises beyond what it delivers."""
        return self.test - self.holdout

    @property
    def beyond_average(self) -> float:
        """The same, counted from the plain average's, which is 0 but for the luck of the draw: less noisy."""
        return self.optimism - (self.average - self.average_holdout)


def holdout(n_pool: int, n_rows: int, seed: int) -> NDArray[np.intp]:
    """Rows of the pool, drawn as the post draws them."""
    return np.random.RandomState(seed).choice(n_pool, n_rows, replace=False)


def blended(found: Said, n_rows: int, draws: int, n_members: int | None = None) -> Blended:
    """Optimal weights over so many draws; of `n_members` members drawn anew each time, where that is given."""
    pool, test = likelihoods(found.pool, found.y_pool), likelihoods(found.test, found.y_test)
    rows = []
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(pool))
        drawn = holdout(len(pool), n_rows, seed)
        others = order[~np.isin(order, drawn)][:n_rows]
        some = _members(pool.shape[1], n_members, seed)
        best = minimise_log_loss(pool[np.ix_(drawn, some)])
        even = np.full(len(some), 1 / len(some))
        rows.append(
            [
                best.loss,
                log_loss(best.weights, test[:, some]),
                log_loss(even, test[:, some]),
                log_loss(even, pool[np.ix_(drawn, some)]),
                log_loss(best.weights, pool[np.ix_(others, some)]),
            ]
        )
    return Blended(*np.mean(rows, axis=0).tolist())


def _members(n_all: int, n_members: int | None, seed: int) -> NDArray[np.intp]:
    if n_members is None:
        return np.arange(n_all)
    return np.random.default_rng(seed).choice(n_all, n_members, replace=False)


@dataclass(frozen=True)
class Row:
    """A row of the post's table: means over its five draws, and the optimum of the same draws."""

    holdout: float
    test: float
    optimum: float


@cache
def post_row(n_members: int, n_rows: int) -> Row:
    """The post's data, draws and optimiser."""
    found = said().only(n_members)
    pool, test = likelihoods(found.pool, found.y_pool), likelihoods(found.test, found.y_test)
    rows = []
    for seed in range(5):
        drawn = pool[holdout(len(pool), n_rows, seed)]
        weights = nelder_mead_weights(drawn)
        rows.append([log_loss(weights, drawn), log_loss(weights, test), minimise_log_loss(drawn).loss])
    return Row(*np.mean(rows, axis=0).tolist())


@dataclass(frozen=True)
class Losses:
    """Test log loss of the plain average, and of the blend of each draw of the holdout."""

    average: float
    blends: list[float]


def losses_by_draw(found: Said, n_rows: int, draws: int) -> Losses:
    """Optimal weights, draw by draw."""
    pool, test = likelihoods(found.pool, found.y_pool), likelihoods(found.test, found.y_test)
    fits = (minimise_log_loss(pool[holdout(len(pool), n_rows, seed)]) for seed in range(draws))
    even = np.full(test.shape[1], 1 / test.shape[1])
    return Losses(log_loss(even, test), [log_loss(fit.weights, test) for fit in fits])


def free_weights(found: Said, n_rows: int, draws: int) -> tuple[float, float]:
    """Mean log loss on holdout and test of weights without any bound: a logistic regression, all but unpenalised."""
    rows = []
    for seed in range(draws):
        drawn = holdout(len(found.pool), n_rows, seed)
        model = LogisticRegression(C=1e6, max_iter=5000).fit(found.pool[drawn], found.y_pool[drawn])
        claimed = loss(model.predict_proba(found.pool[drawn])[:, 1], found.y_pool[drawn])
        rows.append([claimed, loss(model.predict_proba(found.test)[:, 1], found.y_test)])
    claimed, delivered = np.mean(rows, axis=0).tolist()
    return claimed, delivered


def constant_weights(found: Said, n_rows: int, draws: int) -> Sequence[float]:
    """The weight that a member which always says one half gets, beside the others, a draw each."""
    pool = likelihoods(np.column_stack([found.pool, np.full(len(found.pool), 0.5)]), found.y_pool)
    fits = (minimise_log_loss(pool[holdout(len(pool), n_rows, seed)]) for seed in range(draws))
    return [float(fit.weights[-1]) for fit in fits]


def sum_of_slopes(found: Said, members: Sequence[int], sizes: Sequence[int], draws: int) -> float:
    """Slope of log optimism in log rows plus its slope in log weights: 0 where only their ratio matters."""
    cases = [(k, n, blended(found, n, draws, k).beyond_average) for k in members for n in sizes]
    weights, rows, optimism = np.log(np.array(cases, dtype=float)).T
    design = np.column_stack([np.ones(len(cases)), rows, weights])
    slopes = np.linalg.lstsq(design, optimism, rcond=None)[0][1:]
    return float(slopes.sum())


def before_and_after_refit(found: Said, n_rows: int, draws: int) -> tuple[float, float]:
    """Mean test loss of weights from a holdout, over the members as fitted and as refitted with the pool."""
    pool = likelihoods(found.pool, found.y_pool)
    tables = [likelihoods(said, found.y_test) for said in (found.test, found.refitted)]
    weights = [minimise_log_loss(pool[holdout(len(pool), n_rows, seed)]).weights for seed in range(draws)]
    before, after = (float(np.mean([log_loss(own, table) for own in weights])) for table in tables)
    return before, after


def raw_and_recalibrated(found: Said, n_rows: int, draws: int, aside: int) -> tuple[float, float]:
    """Mean test loss of blends of raw members and of members recalibrated on the first `aside` rows of the pool.

    Both take their holdouts from the rest of the pool.
    """
    arms = []
    for one in (found, recalibrated(found, slice(aside))):
        pool, test = likelihoods(one.pool[aside:], one.y_pool[aside:]), likelihoods(one.test, one.y_test)
        fits = [minimise_log_loss(pool[holdout(len(pool), n_rows, seed)]) for seed in range(draws)]
        arms.append(float(np.mean([log_loss(fit.weights, test) for fit in fits])))
    return arms[0], arms[1]
