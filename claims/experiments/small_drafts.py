"""The slow draft experiments in little: figures in which a new NumPy, SciPy or PyTorch shows without the slow tier."""

from __future__ import annotations

import numpy as np

from implementations.drafts.gains import gain_table
from implementations.drafts.world import Design, draw_drafts, make_world


def forecast_points() -> float:
    """What a table of own fits foretells in one small world, in points."""
    rng = np.random.default_rng(0)
    world = make_world(rng, Design(heroes=16).magnified(4.0))
    train, test = draw_drafts(world, 8000, rng), draw_drafts(world, 4000, rng)
    return 100 * gain_table(train, test, world.n_heroes, world.n_brackets).forecast
