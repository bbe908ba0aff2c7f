"""Stand-in objectives for the statistics over many seeds: the posts' problems, interpolated from scored configurations.

The boosted regressor: a Gaussian process over the six parameters of each data set's table, plus the fit's own noise,
drawn once a configuration with the standard deviation that the process found beside its smooth part. Without the
noise the best of many trials would not owe anything to luck, and luck is what the claims are about.

The boosted classifier: the same for its loss curves, with one draw of noise for the whole curve.

Scores have the six decimals of the tables. The last bits of a product of matrices are the processor's own, and a
search that fits a forest to its scores goes another way for the last of them.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from claims.experiments import friedman, pruned_classifier

DECIMALS = 6

Config = Mapping[str, Any]


def fit_noise(config: Config, seed: int) -> float:
    """A standard normal number that belongs to a configuration and a data set, the same in every run.

    It belongs to the first nine digits of each parameter: the last bits of an exponential are the processor's own.
    """
    from scipy.special import ndtri

    numbers = [float(seed), *(float(f"{config[name]:.9g}") for name in sorted(config))]
    digest = hashlib.blake2b(struct.pack(f"<{len(numbers)}d", *numbers), digest_size=8).digest()
    return float(ndtri((int.from_bytes(digest, "little") + 0.5) / 2**64))


class Regressor:
    """The regressor's mean R² on one data set, as `friedman.score` gives it, without a fit.

    Args:
        seed: The data set.
    """

    def __init__(self, seed: int = friedman.POST_SEED) -> None:
        from implementations.search import gaussian_process

        configs, scores = friedman.table(seed)
        self.seed = seed
        self._smooth = gaussian_process.fit(_coordinates(configs), scores)
        self.noise_sd = float(np.sqrt(self._smooth.kernel.noise))

    def __call__(self, config: Config) -> float:
        """The score of a configuration; parameters left out stand at the regressor's defaults."""
        return float(self.many([config])[0])

    def many(self, configs: list[Config]) -> np.ndarray:
        """The scores of configurations, shape (n,)."""
        noise = [fit_noise({**friedman.DEFAULTS, **config}, self.seed) for config in configs]
        return np.round(self.smooth(configs) + self.noise_sd * np.array(noise), DECIMALS)

    def smooth(self, configs: list[Config]) -> np.ndarray:
        """The scores without the fit's own noise, shape (n,)."""
        full = [{**friedman.DEFAULTS, **config} for config in configs]
        points = np.array([[float(one[name]) for name in friedman.COLUMNS] for one in full])
        return self._smooth.expect(_coordinates(points))


class Classifier:
    """The classifier's validation log loss as it grows, as `pruned_classifier.grown` gives it, without a fit.

    Args:
        seed: The data set.
    """

    def __init__(self, seed: int = pruned_classifier.POST_SEED) -> None:
        from implementations.search import gaussian_process

        configs, curves = pruned_classifier.table(seed)
        points = _coordinates(configs)
        self.seed = seed
        self._smooth = [gaussian_process.fit(points, np.log(losses)) for losses in curves.T]
        self._noise_sd = [float(np.sqrt(one.kernel.noise)) for one in self._smooth]

    def __call__(self, config: Config) -> Iterator[tuple[int, float]]:
        """Loss after each of the five steps."""
        point = _coordinates(np.array([[float(config[name]) for name in pruned_classifier.COLUMNS]]))
        noise = fit_noise(config, self.seed)
        for step, smooth, sd in zip(pruned_classifier.STEPS, self._smooth, self._noise_sd):
            yield step, round(float(np.exp(smooth.expect(point)[0] + sd * noise)), DECIMALS)


def _coordinates(configs: np.ndarray) -> np.ndarray:
    """The learning rate, in the first column, by its logarithm; (n, d) -> (n, d)."""
    return np.column_stack([np.log(configs[:, 0]), configs[:, 1:]])


@cache
def regressor(seed: int = friedman.POST_SEED) -> Regressor:
    """One a data set and session."""
    return Regressor(seed)


@cache
def classifier(seed: int = pruned_classifier.POST_SEED) -> Classifier:
    """One a data set and session."""
    return Classifier(seed)
