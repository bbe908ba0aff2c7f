"""When to stop adding trees: the best round of a validation curve, and the round at which waiting for a better ends.

Follows: Prechelt 1998, "Early stopping - but when?", with the rule of the libraries: stop once no round has improved
on the best for a number of rounds.
Leaves out: stopping on several metrics at once. The best value of a noisy curve is optimistic; only data that chose
nothing says how good the model is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from implementations.boosting.tree import is_count


def best_round(losses: ArrayLike) -> int:
    """Number of trees at which a curve of losses is lowest, the first of equals; round 1 is `losses[0]`.

    Raises:
        ValueError: no rounds, or a NaN among the losses.
    """
    curve = np.asarray(losses, dtype=np.float64)
    if curve.ndim != 1 or curve.size == 0 or np.isnan(curve).any():
        raise ValueError(f"a curve of shape {curve.shape} with {np.isnan(curve).sum()} NaN; give one loss a round")
    return int(curve.argmin()) + 1


class Patience:
    """Watches a validation loss, a round at a time.

    Args:
        rounds: Rounds without improvement after which to stop, at least 1.
        min_fall: How far below the best so far a loss must lie to count as better.

    Raises:
        ValueError: `rounds` no whole number of at least 1, or `min_fall` negative or not finite.
    """

    def __init__(self, rounds: int, min_fall: float = 0.0) -> None:
        if not is_count(rounds, 1):
            raise ValueError(f"patience of {rounds} rounds; it must be a whole number of at least 1")
        if not (math.isfinite(min_fall) and min_fall >= 0):
            raise ValueError(f"min_fall is {min_fall}; it must be a finite number of at least 0")
        self.rounds = rounds
        self.min_fall = min_fall
        self.seen = 0
        self.best_round = 0
        self.best_loss = math.inf

    def stops(self, loss: float) -> bool:
        """Take in the next round's loss; True where it was the last that is waited for.

        Raises:
            ValueError: the loss is NaN.
        """
        if math.isnan(loss):
            raise ValueError(f"the validation loss of round {self.seen + 1} is NaN")
        self.seen += 1
        if loss < self.best_loss - self.min_fall:
            self.best_loss, self.best_round = loss, self.seen
        return self.seen - self.best_round >= self.rounds
