"""The autocast step: against a plain loop where nothing is mixed, and what it leaves in thirty-two bits."""

import pytest

torch = pytest.importorskip("torch")

from implementations.training.amp import MixedStep, Precision, output_dtypes  # noqa: E402 - after the check


def case(seed=0):
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
    X = torch.randn(64, 6, generator=generator)
    return network, X, (X[:, :1] * X[:, 1:2] > 0).float()


def loss(outputs, targets):
    return torch.nn.functional.binary_cross_entropy_with_logits(outputs, targets)


def trained(precision, steps=20, max_norm=None):
    network, X, y = case()
    step = MixedStep(network, torch.optim.AdamW(network.parameters(), lr=0.01), loss, precision, max_norm=max_norm)
    losses = [float(step((X,), y)) for _ in range(steps)]
    return network, losses, step


def test_full_precision_is_the_plain_loop():
    """Bit for bit, clip included."""
    network, losses, _ = trained(Precision.FLOAT32, max_norm=0.1)
    plain, X, y = case()
    optimiser = torch.optim.AdamW(plain.parameters(), lr=0.01)
    for _ in range(20):
        optimiser.zero_grad()
        loss(plain(X), y).backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.1)
        optimiser.step()
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), plain.parameters()))
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("precision", [Precision.FLOAT16, Precision.BFLOAT16])
def test_mixed_precision_trains_like_full(precision):
    """Losses stay within the rounding of sixteen bits, and are not the same ones."""
    full, mixed = trained(Precision.FLOAT32)[1], trained(precision)[1]
    assert mixed == pytest.approx(full, rel=0.02)
    assert mixed != full


@pytest.mark.parametrize("precision", list(Precision))
def test_weights_and_optimiser_stay_in_thirty_two_bits(precision):
    """Parameters, gradients and the optimiser's moments."""
    network, _, step = trained(precision, steps=2)
    kept = [*network.parameters(), *(p.grad for p in network.parameters())]
    kept += [value for state in step.optimiser.state.values() for value in state.values()]
    assert {one.dtype for one in kept} == {torch.float32}


def test_only_float16_has_a_scale():
    """bfloat16 and float32 are not scaled."""
    scales = {precision: trained(precision, steps=1)[2].scaler.get_scale() for precision in Precision}
    assert scales == {Precision.FLOAT32: 1.0, Precision.BFLOAT16: 1.0, Precision.FLOAT16: 65536.0}


def test_dtypes_without_autocast_are_float32():
    """And with it the matrix products are not."""
    assert set(output_dtypes("cpu", Precision.FLOAT32).values()) == {"float32"}
    assert output_dtypes("cpu", Precision.BFLOAT16)["matmul"] == "bfloat16"


def test_a_precision_may_be_named_by_its_text():
    """float16 by name has its loss scale too; a name that is none is refused."""
    network = torch.nn.Linear(3, 1)
    optimiser = torch.optim.SGD(network.parameters(), 0.1)
    assert MixedStep(network, optimiser, loss, "float16").scaler.is_enabled()
    with pytest.raises(ValueError, match="float8"):
        MixedStep(network, optimiser, loss, "float8")


@pytest.mark.parametrize("max_norm", [0.0, -1.0, float("nan")])
def test_a_limit_that_is_none_is_refused(max_norm):
    """PyTorch itself would climb, or stand still."""
    network = torch.nn.Linear(3, 1)
    with pytest.raises(ValueError, match="must be above 0"):
        MixedStep(network, torch.optim.SGD(network.parameters(), 0.1), loss, max_norm=max_norm)


def test_a_network_without_parameters_is_refused():
    """By its name."""
    with pytest.raises(ValueError, match="ReLU has no parameters"):
        MixedStep(torch.nn.ReLU(), None, loss)
