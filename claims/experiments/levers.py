"""What each knob of LightGBM is worth: one moved at a time, one after the other, and a random search of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from claims.experiments.generated_sets import Part, cut_surface, log_loss, surface, two_classes
from claims.experiments.learning_rates import rounds_to_wait
from claims.experiments.library_searches import draw

# The knobs and their settings; the first is the starting point.
KNOBS: dict[str, tuple[Any, ...]] = {
    "rate": (0.1, 0.3, 0.05, 0.02),
    "depth": (4, 1, 2, 3, 5, 6, 8, -1),
    "rows": (1.0, 0.2, 0.4, 0.6, 0.8),
    "columns": (1.0, 0.2, 0.4, 0.6, 0.8),
    "least rows": (20, 1, 5, 10, 50),
    "ridge": (0.0, 0.1, 1.0, 10.0),
    "least gain": (0.0, 0.01, 0.1, 1.0),
    "bins": (255, 15, 63, 1023),
}
# In the order that the sheet prints; rate and trees are one, the trees being stopped early.
PRINTED_ORDER = ("rate", "depth", "rows", "columns", "least rows", "ridge")
SETS = ("clusters", "clean surface", "noisy surface")


def parts_of(name: str, seed: int) -> list[Part]:
    """Training, validation and test rows."""
    if name == "clusters":
        return two_classes(seed, (1000, 500, 2000))
    noisy = name == "noisy surface"
    return surface(seed, (300 if noisy else 1000, 500, 2000), noise=5.0 if noisy else 1.0)


def losses(parts: Sequence[Part], knobs: Mapping[str, Any], most: int = 1500) -> tuple[float, float]:
    """Validation and test loss (log loss or squared error) of LightGBM, its trees stopped early."""
    import lightgbm

    train, valid, test = parts
    classes = len(np.unique(train.y)) == 2
    depth = int(knobs["depth"])
    settings = {
        "objective": "binary" if classes else "regression",
        "learning_rate": knobs["rate"],
        "max_depth": depth,
        "num_leaves": 31 if depth < 0 else min(2**depth, 128),
        "bagging_fraction": knobs["rows"],
        "bagging_freq": int(knobs["rows"] < 1),
        "feature_fraction": knobs["columns"],
        "min_data_in_leaf": knobs["least rows"],
        "lambda_l2": knobs["ridge"],
        "min_gain_to_split": knobs["least gain"],
        "max_bin": knobs["bins"],
        "num_threads": 1,
        "verbosity": -1,
        "force_col_wise": True,
    }
    data = lightgbm.Dataset(train.X, train.y, params={"max_bin": knobs["bins"], "verbosity": -1})
    stop = lightgbm.early_stopping(rounds_to_wait(float(knobs["rate"])), verbose=False)
    valid_data = lightgbm.Dataset(valid.X, valid.y, reference=data)
    booster = lightgbm.train(settings, data, most, valid_sets=[valid_data], callbacks=[stop])
    answers = (booster.predict(part.X) for part in (valid, test))
    pairs = zip((valid.y, test.y), answers)
    found = [log_loss(y, p) if classes else float(((y - p) ** 2).mean()) for y, p in pairs]
    return found[0], found[1]


def start() -> dict[str, Any]:
    """The starting point of every knob."""
    return {knob: settings[0] for knob, settings in KNOBS.items()}


def curves(seed: int) -> dict[str, dict[str, list[float]]]:
    """Test loss along each knob, the others at the start, by set."""
    found: dict[str, dict[str, list[float]]] = {}
    for name in SETS:
        parts, base = parts_of(name, seed), start()
        first = losses(parts, base)[1]
        found[name] = {
            knob: [first, *(losses(parts, {**base, knob: value})[1] for value in settings[1:])]
            for knob, settings in KNOBS.items()
        }
    return found


def reach(curve: Sequence[float]) -> float:
    """How far a loss moves along a knob, relative to its least."""
    return (max(curve) - min(curve)) / min(curve)


def one_after_the_other(seed: int) -> dict[str, dict[str, float]]:
    """Test loss reached by moving one knob after the other by its validation loss, in the printed order and reversed.

    Every knob is moved once, in as many fits either way; the order decides which knobs are set while others are not.
    """
    found: dict[str, dict[str, float]] = {}
    for name in SETS:
        parts = parts_of(name, seed)
        found[name] = {
            "printed": _descended(parts, PRINTED_ORDER),
            "reversed": _descended(parts, PRINTED_ORDER[::-1]),
        }
    return found


def _descended(parts: Sequence[Part], order: Sequence[str]) -> float:
    knobs, found = start(), losses(parts, start())
    for knob in order:
        # The setting it has already was fitted a knob ago.
        tried = {
            value: found if value == knobs[knob] else losses(parts, {**knobs, knob: value}) for value in KNOBS[knob][:4]
        }
        knobs[knob] = min(tried, key=lambda value: tried[value][0])
        found = tried[knobs[knob]]
    return found[1]


def searched_accuracy(seed: int) -> dict[str, float]:
    """Accuracy gained over the library's defaults by a random search of six knobs, in points, on clean labels."""
    import lightgbm

    sets = {
        "clusters": two_classes(seed, (1000, 500, 3000), flipped=0.0),
        "surface": cut_surface(seed, (1000, 500, 3000)),
    }
    gained = {}
    for name, (train, valid, test) in sets.items():
        both = Part(np.concatenate([train.X, valid.X]), np.concatenate([train.y, valid.y]))
        fixed = {"objective": "binary", "num_threads": 1, "verbosity": -1, "force_col_wise": True}
        default = lightgbm.train(fixed, lightgbm.Dataset(both.X, both.y), 100)
        rng, tried = np.random.default_rng(seed), []
        for _ in range(30):
            knobs = draw(rng)
            settings = {**fixed, **_as_lightgbm(knobs)}
            data = lightgbm.Dataset(train.X, train.y)
            stop = lightgbm.early_stopping(rounds_to_wait(knobs["rate"]), verbose=False)
            watched = lightgbm.Dataset(valid.X, valid.y, reference=data)
            booster = lightgbm.train(settings, data, 1000, valid_sets=[watched], callbacks=[stop])
            tried.append(
                (booster.best_score["valid_0"]["binary_logloss"], booster.best_iteration, len(tried), settings)
            )
        _, rounds, _, settings = min(tried)
        best = lightgbm.train(settings, lightgbm.Dataset(both.X, both.y), rounds)
        right = [float(((model.predict(test.X) > 0.5) == (test.y == 1)).mean()) for model in (best, default)]
        gained[name] = 100 * (right[0] - right[1])
    return gained


def _as_lightgbm(knobs: Mapping[str, float]) -> dict[str, Any]:
    return {
        "learning_rate": knobs["rate"],
        "max_depth": int(knobs["depth"]),
        "num_leaves": 2 ** int(knobs["depth"]),
        "bagging_fraction": knobs["rows"],
        "bagging_freq": 1,
        "feature_fraction": knobs["columns"],
        "min_sum_hessian_in_leaf": knobs["least"],
        "lambda_l2": knobs["ridge"],
    }


def recovered_share(seed: int) -> dict[str, float]:
    """Accuracy lost to turned labels, and the share a search of six knobs wins back, validated on turned labels."""
    import lightgbm

    from claims.experiments.generated_sets import with_flips
    from claims.experiments.library_searches import SIZES

    train, valid, test = two_classes(seed, (1000, 500, SIZES[2]), flipped=0.0)
    turned, turned_valid = with_flips(train, 0.3, seed), with_flips(valid, 0.3, seed + 1)
    fixed = {"objective": "binary", "num_threads": 1, "verbosity": -1, "force_col_wise": True}

    def accuracy(model: Any) -> float:
        return float(((model.predict(test.X) > 0.5) == (test.y == 1)).mean())

    clean, noisy = (accuracy(lightgbm.train(fixed, lightgbm.Dataset(part.X, part.y), 100)) for part in (train, turned))
    rng, tried = np.random.default_rng(seed), []
    for _ in range(30):
        knobs = {**draw(rng), "depth": int(rng.integers(1, 7))}
        data = lightgbm.Dataset(turned.X, turned.y)
        stop = lightgbm.early_stopping(rounds_to_wait(knobs["rate"]), verbose=False)
        watched = lightgbm.Dataset(turned_valid.X, turned_valid.y, reference=data)
        booster = lightgbm.train({**fixed, **_as_lightgbm(knobs)}, data, 1000, valid_sets=[watched], callbacks=[stop])
        tried.append((booster.best_score["valid_0"]["binary_logloss"], len(tried), booster))
    return {"cost": clean - noisy, "share": (accuracy(min(tried)[2]) - noisy) / (clean - noisy)}
