"""Optimisers against PyTorch's, over steps of gradients of very different sizes."""

import numpy as np
import pytest

from implementations.training.optimisers import AdamW, Sgd


def drawn(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return [(scale * rng.normal(size=size)).astype(np.float32) for size in ((2, 3), (4,))]


def ours_and_theirs(ours, make_theirs, steps=12):
    """Parameters after some steps of both."""
    torch = pytest.importorskip("torch")
    mine = drawn(0)
    theirs = [torch.nn.Parameter(torch.from_numpy(p.copy())) for p in mine]
    optimiser = make_theirs(torch.optim, theirs)
    for step in range(steps):
        gradients = drawn(step + 1, scale=10.0 ** (step % 5 - 4))
        ours.step(mine, gradients)
        for parameter, gradient in zip(theirs, gradients):
            parameter.grad = torch.from_numpy(gradient.copy())
        optimiser.step()
    return mine, [p.detach().numpy() for p in theirs]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_sgd_is_pytorchs(momentum, decay):
    """With and without momentum and weight decay."""
    mine, theirs = ours_and_theirs(
        Sgd(0.1, momentum=momentum, weight_decay=decay),
        lambda optim, p: optim.SGD(p, lr=0.1, momentum=momentum, weight_decay=decay),
    )
    for a, b in zip(mine, theirs):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adamw_is_pytorchs(decay):
    """With and without weight decay."""
    mine, theirs = ours_and_theirs(
        AdamW(0.01, weight_decay=decay), lambda optim, p: optim.AdamW(p, lr=0.01, weight_decay=decay)
    )
    for a, b in zip(mine, theirs):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-7)


def test_the_size_of_gradients_cancels_in_adamw():
    """A thousandth of every gradient gives nearly the same steps; of SGD, a thousandth of them."""
    moved = {}
    for name, make in (("adamw", lambda: AdamW(0.01, weight_decay=0.0)), ("sgd", lambda: Sgd(0.01))):
        for scale in (1.0, 1e-3):
            optimiser, parameters = make(), drawn(0)
            for step in range(5):
                optimiser.step(parameters, drawn(step + 1, scale))
            moved[name, scale] = np.abs(parameters[0] - drawn(0)[0]).max()
    assert moved["adamw", 1e-3] == pytest.approx(moved["adamw", 1.0], rel=1e-3)
    assert moved["sgd", 1e-3] == pytest.approx(1e-3 * moved["sgd", 1.0], rel=1e-2)


@pytest.mark.parametrize(
    "build",
    [
        lambda bad: Sgd(bad),
        lambda bad: Sgd(0.1, momentum=bad),
        lambda bad: Sgd(0.1, weight_decay=bad),
        lambda bad: AdamW(bad),
        lambda bad: AdamW(0.1, epsilon=bad),
        lambda bad: AdamW(0.1, betas=(0.9, bad)),
        lambda bad: AdamW(0.1, weight_decay=bad),
    ],
)
@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf])
def test_settings_out_of_range_are_refused(build, bad):
    """Before a step makes NaN of the weights."""
    with pytest.raises(ValueError, match="at least 0"):
        build(bad)


@pytest.mark.parametrize("make", [lambda: Sgd(0.1), lambda: AdamW(0.1)])
def test_gradients_of_other_parameters_are_refused(make):
    """Too few, of another shape, or after a step on others."""
    two, three = np.ones(2, np.float32), np.ones(3, np.float32)
    for parameters, gradients in (([two, two], [two]), ([two], [three])):
        with pytest.raises(ValueError, match="gradients of shapes"):
            make().step(parameters, gradients)
    optimiser = make()
    optimiser.step([two], [two.copy()])
    with pytest.raises(ValueError, match="make a new optimiser"):
        optimiser.step([three], [three.copy()])
