"""Random search: every trial an independent draw from the prior of its space.

Follows: Bergstra & Bengio, "Random Search for Hyper-Parameter Optimization" (2012). A continuous parameter takes as
many values as there are trials, whatever the number of parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from implementations.search.space import Config
from implementations.search.study import History


@dataclass(frozen=True)
class RandomSearch:
    """A sampler that looks at no result."""

    def propose(self, history: History, rng: np.random.Generator) -> Config:
        """One draw from the prior."""
        return history.space.draw(rng)
