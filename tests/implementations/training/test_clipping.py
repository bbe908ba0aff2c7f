"""The clip against PyTorch's."""

import numpy as np
import pytest

from implementations.training.clipping import clip_by_norm, global_norm


def drawn(scale, seed=0):
    rng = np.random.default_rng(seed)
    return [(scale * rng.normal(size=size)).astype(np.float32) for size in ((3, 4), (5,), (1,))]


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("max_norm", [1e-4, 1.0, 30.0])
def test_equals_pytorchs(scale, max_norm):
    """Norm and clipped gradients, above and below the limit, within a float32's rounding."""
    torch = pytest.importorskip("torch")
    ours = drawn(scale)
    parameters = [torch.nn.Parameter(torch.zeros(g.shape)) for g in ours]
    for parameter, gradient in zip(parameters, ours):
        parameter.grad = torch.from_numpy(gradient.copy())
    theirs = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    assert clip_by_norm(ours, max_norm) == pytest.approx(float(theirs), rel=1e-6)
    for gradient, parameter in zip(ours, parameters):
        np.testing.assert_allclose(gradient, parameter.grad.numpy(), rtol=2e-6)


def test_short_gradients_are_left_alone():
    """Below the limit nothing changes, not even the last bit."""
    gradients = drawn(1e-3)
    before = [gradient.copy() for gradient in gradients]
    clip_by_norm(gradients, 1.0)
    assert all((a == b).all() for a, b in zip(gradients, before))


def test_long_gradients_end_at_the_limit():
    """Their direction stays."""
    gradients = drawn(10.0)
    direction = [gradient / global_norm(gradients) for gradient in gradients]
    clip_by_norm(gradients, 2.0)
    assert global_norm(gradients) == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(gradients[1] / 2.0, direction[1], rtol=1e-5)


def test_an_infinite_gradient_shows_in_the_norm():
    """The norm of an overflow is infinite, of a NaN a NaN."""
    assert clip_by_norm([np.array([np.inf, 1.0], dtype=np.float32)], 1.0) == np.inf
    assert np.isnan(clip_by_norm([np.array([np.nan, 1.0], dtype=np.float32)], 1.0))


def test_a_limit_is_positive():
    """Zero and NaN are refused."""
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="must be above 0"):
            clip_by_norm(drawn(1.0), wrong)


def test_gradients_may_come_one_by_one():
    """A generator is walked once, and all of it is shortened."""
    one = np.array([3.0, 4.0], np.float32)
    assert clip_by_norm((gradient for gradient in [one]), 1.0) == 5.0
    assert np.linalg.norm(one) == pytest.approx(1.0, rel=1e-6)


def test_a_limit_beyond_float32_shortens_nothing():
    """And says nothing either."""
    one = np.array([3.0, 4.0], np.float32)
    clip_by_norm([one], 1e300)
    assert one.tolist() == [3.0, 4.0]
