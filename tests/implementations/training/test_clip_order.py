"""Training with the clip before and after the division."""

from dataclasses import replace

import numpy as np
import pytest

from implementations.training.clip_order import train_clipped
from implementations.training.grad_scaler import GradScaler
from implementations.training.optimisers import AdamW, Sgd
from implementations.training.two_layer import two_layer


def case(seed=0, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).astype(np.float32)
    return two_layer(rng, 6, 8), (X, (X[:, 0] * X[:, 1] > 0).astype(np.float32))


def run(optimiser, *, max_norm=1.0, outer=1.0, **options):
    start, data = case()
    start = replace(start, outer=start.outer * np.float32(outer))
    return train_clipped(start, optimiser, data, steps=40, max_norm=max_norm, **options)


@pytest.mark.parametrize("make", [lambda: Sgd(0.5), lambda: AdamW(0.01)])
def test_the_right_order_is_training_without_a_scaler(make):
    """Bit for bit, with a clip that bites."""
    scaled, plain = run(make(), max_norm=0.05), run(make(), max_norm=0.05, scaler=None)
    assert scaled.losses.tolist() == plain.losses.tolist()
    assert scaled.distance == plain.distance > 0


def test_the_wrong_order_is_a_limit_divided_by_the_scale():
    """The same as clipping true gradients at max_norm / scale."""
    wrong = run(Sgd(0.5), unscale_first=False)
    small = run(Sgd(0.5), max_norm=1.0 / 2.0**16, scaler=None)
    # The limit lies near the 1e-6 beside the norm, which the one run adds to a large norm and the other to a small.
    assert wrong.distance == pytest.approx(small.distance, rel=0.03)


def test_the_start_is_left_alone():
    """Training works on a copy."""
    start, data = case()
    before = [p.copy() for p in start.parameters]
    train_clipped(start, Sgd(0.5), data, steps=3, max_norm=1.0)
    assert all((a == b).all() for a, b in zip(before, start.parameters))


def test_a_scale_that_overflows_backs_off_and_trains():
    """Where scaled gradients exceed float32 the first steps are dropped, then training goes on."""
    found = run(Sgd(0.01), outer=100.0, scaler=lambda: GradScaler(2.0**127))
    assert found.losses[1] == found.losses[0]
    assert found.losses[-1] < found.losses[0]
    assert np.isfinite(found.losses).all()
