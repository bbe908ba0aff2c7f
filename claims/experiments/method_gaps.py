"""Gaps between ways to use the same members, and what one way differs by when nothing but a seed is changed.

The members of the stacking post on 600 rows with 50 trees: small enough to repeat many times.
"""

from __future__ import annotations

from claims.experiments.regression_members import average, clean, columns, friedman_split, members

MODEL_SEEDS = 8


def stacking_scores(data_seed: int, model_seed: int) -> dict[str, float]:
    """Test R2 of stack, best member and plain average; the seed of the models is that of the folds as well."""
    found = columns(members(50, model_seed), friedman_split(600, data_seed, model_seed))
    return {"stack": clean(found).score, "best": float(found.scores.max()), "average": average(found)}


def stacking_gaps(data_seed: int) -> dict[str, float]:
    """How far apart they are on one data set."""
    scores = stacking_scores(data_seed, 0)
    return {
        "stack against best member": scores["stack"] - scores["best"],
        "best member against average": scores["best"] - scores["average"],
    }


def stacking_repeats(data_seed: int) -> list[dict[str, float]]:
    """The scores on one data set, over seeds of the models."""
    return [stacking_scores(data_seed, model_seed) for model_seed in range(MODEL_SEEDS)]
