"""What repairing damaged data gains, beside what a search of the knobs gains on the damaged data."""

from __future__ import annotations

from typing import Any

import numpy as np

from claims.experiments.encoded_columns import with_encoding
from claims.experiments.generated_sets import Part, log_loss, two_classes, with_flips
from claims.experiments.learning_rates import rounds_to_wait
from claims.experiments.library_searches import draw

TRIALS = 24


def repair_and_search(seed: int) -> dict[str, dict[str, float]]:
    """Test loss gained over the recipe on damaged data, by repairing the data and by a search of six knobs.

    The validation rows that stop and choose are damaged like the training rows, the test rows are not.
    """
    train, valid, test = two_classes(seed, (1000, 500, 3000), flipped=0.0)
    turned = with_flips(train, 0.2, seed), with_flips(valid, 0.2, seed + 1)
    leaking, leaking_test = with_encoding("naive", seed)
    clean, clean_test = with_encoding("drop", seed)
    return {
        "flipped labels": _gains(turned, test, (train, valid), test, seed),
        "leaking encoding": _gains(_halved(leaking), leaking_test, _halved(clean), clean_test, seed),
    }


def _halved(part: Part) -> tuple[Part, Part]:
    cut = 2 * len(part) // 3
    return Part(part.X[:cut], part.y[:cut]), Part(part.X[cut:], part.y[cut:])


def _gains(
    damaged: tuple[Part, Part], damaged_test: Part, repaired: tuple[Part, Part], repaired_test: Part, seed: int
) -> dict[str, float]:
    before = recipe(*damaged, damaged_test)[1]
    return {
        "repair": before - recipe(*repaired, repaired_test)[1],
        "search": before - search(*damaged, damaged_test, seed, TRIALS),
    }


def recipe(train: Part, valid: Part, test: Part, **changes: Any) -> tuple[float, float]:
    """Validation and test loss of a rate of 0.1, depth 4 and early stopping, or with some settings changed."""
    import lightgbm

    settings = {
        "objective": "binary",
        "learning_rate": 0.1,
        "max_depth": 4,
        "num_leaves": 16,
        "num_threads": 1,
        "verbosity": -1,
        "force_col_wise": True,
        **changes,
    }
    data = lightgbm.Dataset(train.X, train.y)
    booster = lightgbm.train(
        settings,
        data,
        1000,
        valid_sets=[lightgbm.Dataset(valid.X, valid.y, reference=data)],
        callbacks=[lightgbm.early_stopping(rounds_to_wait(float(settings["learning_rate"])), verbose=False)],
    )
    valid_loss, test_loss = (log_loss(part.y, booster.predict(part.X)) for part in (valid, test))
    return valid_loss, test_loss


def search(train: Part, valid: Part, test: Part, seed: int, trials: int) -> float:
    """Test loss of the best of some random settings of six knobs, by validation loss; the recipe is the first."""
    rng = np.random.default_rng(seed)
    found = [recipe(train, valid, test)]
    for _ in range(trials):
        knobs = draw(rng)
        found.append(
            recipe(
                train,
                valid,
                test,
                learning_rate=knobs["rate"],
                max_depth=int(knobs["depth"]),
                num_leaves=2 ** int(knobs["depth"]),
                bagging_fraction=knobs["rows"],
                bagging_freq=1,
                feature_fraction=knobs["columns"],
                min_sum_hessian_in_leaf=knobs["least"],
                lambda_l2=knobs["ridge"],
            )
        )
    return min(found)[1]
