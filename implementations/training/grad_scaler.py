"""Loss scaling that finds its own constant: up while all is finite, down and the step dropped when something is not.

Follows: Micikevicius et al. 2018, and the state machine of PyTorch's `GradScaler`: the scale is a float32, gradients
are multiplied by its reciprocal, a step counts towards growth only if every gradient was finite, and a growth that
would overflow float32 is left undone.
Leaves out: several optimisers under one scaler, several devices, sparse gradients.

The order is `scaled`, backward, `unscale`, whatever needs true gradients (such as a clip), `step`, `update`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

Gradients = Sequence[NDArray[np.float32]]


class _Stage(Enum):
    SCALED = auto()
    UNSCALED = auto()
    STEPPED = auto()


class GradScaler:
    """The scale, and whether the gradients of this iteration were finite.

    Args:
        scale: The first constant.
        growth_factor: What it is multiplied by after `growth_interval` finite iterations in a row.
        backoff_factor: What it is multiplied by after one that was not.
        growth_interval: See `growth_factor`.

    Raises:
        ValueError: a scale that float32 does not hold or that is not above 0, a factor on the wrong side of 1 or
            infinite, or an interval that is no whole number of at least 1.
    """

    def __init__(
        self,
        scale: float = 2.0**16,
        *,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
    ) -> None:
        if not float(np.finfo(np.float32).smallest_subnormal) <= scale <= float(np.finfo(np.float32).max):
            raise ValueError(f"a scale of {scale}; it must be above 0 and no larger than float32 holds")
        counted = isinstance(growth_interval, int | np.integer) and growth_interval >= 1
        if not (1 < growth_factor < np.inf and 0 < backoff_factor < 1 and counted):
            raise ValueError(
                f"growth_factor {growth_factor}, backoff_factor {backoff_factor}, growth_interval {growth_interval}; "
                "growth lies above 1, backoff between 0 and 1, and the interval is a whole number of at least 1"
            )
        self.scale = np.float32(scale)
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = growth_interval
        self.good_steps = 0
        self._stage = _Stage.SCALED
        self._finite: bool | None = None

    def scaled(self, loss: Any) -> Any:
        """The loss to differentiate; all its gradients come out larger by the scale."""
        return loss * self.scale

    def unscale(self, gradients: Gradients) -> None:
        """Divide the gradients, in place, and note whether all of them were finite.

        Raises:
            RuntimeError: they were divided before, or the step has been taken.
        """
        if self._stage is not _Stage.SCALED:
            raise RuntimeError(f"unscale after the gradients were {self._stage.name.lower()}; once, and before step")
        gradients = list(gradients)
        self._finite = all(bool(np.isfinite(gradient).all()) for gradient in gradients)
        with np.errstate(divide="ignore", over="ignore"):  # a scale that has backed off to nearly zero
            inverse = np.float32(1.0 / np.float64(self.scale))
        with np.errstate(over="ignore", invalid="ignore"):
            for gradient in gradients:
                np.multiply(gradient, inverse, out=gradient)
        self._stage = _Stage.UNSCALED

    def step(self, gradients: Gradients, take: Callable[[], None]) -> bool:
        """Let the optimiser step if the gradients were finite; they are divided first if they were not yet.

        Args:
            gradients: What `unscale` was given, or shall be.
            take: Takes the step.

        Returns:
            Whether it was taken.

        Raises:
            RuntimeError: a second step without `update`.
        """
        if self._stage is _Stage.STEPPED:
            raise RuntimeError("a second step of one iteration; call update after each")
        if self._stage is _Stage.SCALED:
            self.unscale(gradients)
        self._stage = _Stage.STEPPED
        if self._finite:
            take()
        return bool(self._finite)

    def update(self) -> None:
        """Adapt the scale to what this iteration's gradients were.

        Raises:
            RuntimeError: nothing was unscaled since the last update.
        """
        if self._finite is None:
            raise RuntimeError("no gradients were seen since the last update; call unscale or step first")
        if self._finite:
            self._count_good_step()
        else:
            self.scale = np.float32(np.float64(self.scale) * self.backoff_factor)
            self.good_steps = 0
        self._stage, self._finite = _Stage.SCALED, None

    def _count_good_step(self) -> None:
        self.good_steps += 1
        if self.good_steps < self.growth_interval:
            return
        self.good_steps = 0
        with np.errstate(over="ignore"):
            grown = np.float32(np.float64(self.scale) * self.growth_factor)
        if np.isfinite(grown):
            self.scale = grown
