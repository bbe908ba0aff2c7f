"""First-order boosting (leaves are mean residuals) beside second-order boosting (Newton leaves and splits)."""

from __future__ import annotations

from claims.experiments.generated_sets import Part, two_classes
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import LogLoss
from implementations.boosting.newton import NewtonBooster
from implementations.boosting.tree import Growth

SIZES = (1000, 2000)
RATE = 0.1


def order_losses(seed: int) -> dict[str, list[float]]:
    """Test loss by round: 50 rounds of second order and 200 of first, at one rate."""
    train, test = two_classes(seed, SIZES)
    second = NewtonBooster(LogLoss(), learning_rate=RATE, growth=Growth(max_depth=3, ridge=1.0, min_curvature=1.0))
    second.fit(train.X, train.y, 50)
    return {"second": list(second.staged_loss(test.X, test.y)), "first": first_order(train, test, RATE, 200)}


def longer_losses(seed: int) -> dict[str, list[float]]:
    """Test loss by round of first-order boosting alone: at four times the rate, and at the same for long."""
    train, test = two_classes(seed, SIZES)
    return {"quick": first_order(train, test, 4 * RATE, 300), "long": first_order(train, test, RATE, 1000)}


def first_order(train: Part, test: Part, rate: float, rounds: int) -> list[float]:
    """Test loss by round."""
    booster = GradientBooster(LogLoss(), learning_rate=rate, leaf="mean", growth=Growth(max_depth=3))
    booster.fit(train.X, train.y, rounds, valid=(test.X, test.y))
    return booster.validation.losses  # type: ignore[union-attr]
