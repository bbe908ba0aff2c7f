"""The network's gradients against PyTorch's and against differences, and its scaled loss."""

import numpy as np
import pytest

from implementations.training.two_layer import TwoLayer, loss_and_gradients, two_layer


def case(seed=0, n=30, d=4, h=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return two_layer(rng, d, h), X, (rng.random(n) < 0.4).astype(np.float32)


@pytest.mark.seeded
def test_loss_and_gradients_are_autograds(seed):
    """The same network in PyTorch, differentiated by it."""
    torch = pytest.importorskip("torch")
    network, X, y = case(seed)
    parameters = [torch.tensor(p, requires_grad=True) for p in network.parameters]
    hidden = torch.tanh(torch.from_numpy(X) @ parameters[0] + parameters[1])
    score = hidden @ parameters[2] + parameters[3]
    theirs = torch.nn.functional.binary_cross_entropy_with_logits(score, torch.from_numpy(y))
    theirs.backward()
    loss, gradients = loss_and_gradients(network, X, y)
    assert loss == pytest.approx(float(theirs.detach()), rel=1e-6)
    for ours, parameter in zip(gradients, parameters):
        np.testing.assert_allclose(ours, parameter.grad.numpy(), rtol=1e-4, atol=1e-7)


def test_gradients_are_differences():
    """Central differences of the loss in float64, weight by weight."""
    network, X, y = case(n=12, d=2, h=3)
    wide = TwoLayer(*(p.astype(np.float64) for p in network.parameters))
    _, gradients = loss_and_gradients(network, X, y)
    for parameter, gradient in zip(wide.parameters, gradients):
        for place in np.ndindex(parameter.shape):
            slopes = []
            for move in (1e-5, -1e-5):
                parameter[place] += move
                slopes.append(loss_and_gradients(wide, X, y)[0] / (2 * move))
                parameter[place] -= move
            assert gradient[place] == pytest.approx(sum(slopes), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("scale", [2.0**16, 2.0**-7])
def test_a_power_of_two_scales_gradients_bit_for_bit(scale):
    """The loss that is returned stays unscaled."""
    network, X, y = case()
    loss, plain = loss_and_gradients(network, X, y)
    same_loss, scaled = loss_and_gradients(network, X, y, scale=scale)
    assert same_loss == loss
    assert all((a * np.float32(scale) == b).all() for a, b in zip(plain, scaled))


def test_all_is_float32():
    """Weights and gradients."""
    network, X, y = case()
    assert {a.dtype for a in (*network.parameters, *loss_and_gradients(network, X, y)[1])} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((3, 4)), np.ones(2), r"rows \(3, 4\) and classes \(2,\)"),
        (np.ones((3, 4)), np.ones((3, 1)), "classes"),
        (np.ones((3, 4)), np.ones(1), "classes"),
        (np.ones((3, 2)), np.ones(3), r"give \(n, 4\)"),
        (np.ones((0, 4)), np.ones(0), "at least 1"),
        (np.ones((2, 4)), np.array([1.0, 2.0]), "class 2.0"),
        (np.ones((2, 4)), np.array([1.0, np.nan]), "class nan"),
    ],
)
def test_data_that_do_not_fit_are_refused(X, y, message):
    """Other shapes would be broadcast, other classes trained on."""
    network = two_layer(np.random.default_rng(0), 4, 5)
    with pytest.raises(ValueError, match=message):
        loss_and_gradients(network, X.astype(np.float32), y.astype(np.float32))


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (-1, 3)])
def test_a_network_without_units_is_refused(sizes):
    """There is nothing to draw."""
    with pytest.raises(ValueError, match="at least 1 of each"):
        two_layer(np.random.default_rng(0), *sizes)
