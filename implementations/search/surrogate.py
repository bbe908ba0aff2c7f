"""Search with a surrogate: fit a model to the trials so far, evaluate the most promising of many random candidates.

Follows: sequential model-based optimisation (Hutter, Hoos & Leyton-Brown 2011) in its plainest form: `n_startup`
random trials, then the argmax of an acquisition over `n_candidates` fresh points of the prior, drawn uniformly over
the coordinates of the box. Inside, large values are good.

Leaves out: spaces with conditions, an optimiser for the acquisition, batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from implementations.search.acquisition import check_kappa, expected_improvement, upper_confidence_bound
from implementations.search.space import Config, Floats
from implementations.search.study import History, State

# A fitted surrogate: mean and standard deviation at points, (n, d) -> (n,), (n,)
Prediction = Callable[[Floats], tuple[Floats, Floats]]
Fit = Callable[[Floats, Floats], Prediction]
# (mean, sd, best so far) -> worth of each candidate
Acquisition = Callable[[Floats, Floats, float], Floats]


def ucb(kappa: float) -> Acquisition:
    """The upper confidence bound as an acquisition.

    Raises:
        ValueError: kappa is negative or not finite.
    """
    check_kappa(kappa)
    return lambda mean, sd, _best: upper_confidence_bound(mean, sd, kappa)


@dataclass(frozen=True)
class SurrogateSearch:
    """The loop, for any surrogate and any acquisition.

    Args:
        fit: Fits the surrogate to points, shape (n, d), and their values, shape (n,).
        acquire: Worth of candidates; expected improvement unless another is given.
        n_startup: Finished trials before the surrogate chooses.
        n_candidates: Points to choose among.

    Raises:
        ValueError: fewer than one start-up trial or candidate.
    """

    fit: Fit
    acquire: Acquisition = expected_improvement
    n_startup: int = 8
    n_candidates: int = 400

    def __post_init__(self) -> None:
        if self.n_startup < 1 or self.n_candidates < 1:
            raise ValueError(f"{self.n_startup} start-up trials, {self.n_candidates} candidates; both at least 1")

    def propose(self, history: History, rng: np.random.Generator) -> Config:
        """A random configuration at first, then the candidate of the greatest worth.

        Raises:
            ValueError: the space has conditions, or the surrogate's predictions are NaN.
        """
        complete = history.having(State.COMPLETE)
        low, high = history.space.box
        if len(complete) < self.n_startup:
            return history.space.config(rng.uniform(low, high))
        points = np.array([history.space.point(trial.config) for trial in complete])  # (n, d)
        values = np.array([-history.loss(trial) for trial in complete])
        predict = self.fit(points, values)
        candidates = rng.uniform(low, high, size=(self.n_candidates, len(low)))  # (m, d)
        worth = self.acquire(*predict(candidates), float(values.max()))
        if np.isnan(worth).any():
            raise ValueError(
                f"{np.isnan(worth).sum()} of {len(worth)} candidates have a worth of NaN; check the surrogate"
            )
        return history.space.config(candidates[int(np.argmax(worth))])
