"""The scaler against PyTorch's, step for step, over random sequences of finite and overflowing gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.training.grad_scaler import GradScaler

FINITE = st.floats(-(2.0**100), 2.0**100, width=32)
GRADIENT = st.one_of(FINITE, FINITE, FINITE, st.sampled_from([np.inf, -np.inf, np.nan, 0.0]))
unhurried = settings(deadline=None)


def gradients(*values):
    return [np.array([value], dtype=np.float32) for value in values]


def iterate(scaler, grads, *, unscale=False):
    """One iteration; what the optimiser saw, or None where the step was dropped."""
    seen = []
    if unscale:
        scaler.unscale(grads)
    scaler.step(grads, lambda: seen.append([float(g[0]) for g in grads]))
    scaler.update()
    return seen[0] if seen else None


@unhurried
@given(
    steps=st.lists(st.tuples(GRADIENT, GRADIENT, st.booleans()), min_size=1, max_size=30),
    scale=st.sampled_from([1.0, 3.0, 2.0**16, 2.0**-140, 2.0**126, 2.0**-149]),
    growth=st.sampled_from([2.0, 1.5, 1.0001]),
    backoff=st.sampled_from([0.5, 0.3, 0.999]),
    interval=st.integers(1, 5),
)
def test_every_step_is_pytorchs(steps, scale, growth, backoff, interval):
    """Scale, count towards growth, whether the step was taken, and what the optimiser saw."""
    torch = pytest.importorskip("torch")
    options = {"growth_factor": growth, "backoff_factor": backoff, "growth_interval": interval}
    ours, theirs = GradScaler(scale, **options), torch.amp.GradScaler("cpu", init_scale=scale, **options)
    parameters = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    seen_there = []

    class Witness(torch.optim.SGD):
        def step(self, closure=None):
            seen_there.append([float(p.grad[0]) for p in parameters])

    witness = Witness(parameters, lr=1.0)
    theirs.scale(torch.zeros(1))  # creates its state
    for first, second, unscale in steps:
        for parameter, value in zip(parameters, (first, second)):
            parameter.grad = torch.tensor([value], dtype=torch.float32)
        seen_there.clear()
        if unscale:
            theirs.unscale_(witness)
        theirs.step(witness)
        theirs.update()
        seen_here = iterate(ours, gradients(first, second), unscale=unscale)
        np.testing.assert_array_equal(seen_here or [], seen_there[0] if seen_there else [])
        state = theirs.state_dict()
        assert (float(ours.scale), ours.good_steps) == (state["scale"], state["_growth_tracker"])


def test_defaults_are_pytorchs():
    """Scale, factors and interval."""
    torch = pytest.importorskip("torch")
    ours, theirs = GradScaler(), torch.amp.GradScaler("cpu")
    assert (ours.scale, ours.growth_factor, ours.backoff_factor, ours.growth_interval) == (
        theirs.get_scale(),
        theirs.get_growth_factor(),
        theirs.get_backoff_factor(),
        theirs.get_growth_interval(),
    )


def test_a_bad_step_halves_and_is_dropped():
    """One infinite gradient among finite ones is enough."""
    scaler = GradScaler(8.0)
    assert iterate(scaler, gradients(1.0, np.inf)) is None
    assert scaler.scale == 4.0


def test_growth_counts_good_steps_in_a_row():
    """A bad step starts the count anew."""
    scaler = GradScaler(8.0, growth_interval=3)
    for value in (1.0, 1.0, np.nan, 1.0, 1.0):
        iterate(scaler, gradients(value))
    assert (scaler.scale, scaler.good_steps) == (4.0, 2)
    iterate(scaler, gradients(1.0))
    assert (scaler.scale, scaler.good_steps) == (8.0, 0)


def test_gradients_are_divided_once():
    """`step` after `unscale` does not divide again."""
    assert iterate(GradScaler(4.0), gradients(8.0), unscale=True) == [2.0]
    assert iterate(GradScaler(4.0), gradients(8.0)) == [2.0]


def test_unscaling_twice_is_refused():
    """Before `update`, and after `step`."""
    scaler = GradScaler()
    scaler.unscale(gradients(1.0))
    with pytest.raises(RuntimeError, match="unscaled; once, and before step"):
        scaler.unscale(gradients(1.0))
    scaler.step(gradients(1.0), lambda: None)
    with pytest.raises(RuntimeError, match="stepped; once, and before step"):
        scaler.unscale(gradients(1.0))
    with pytest.raises(RuntimeError, match="second step"):
        scaler.step(gradients(1.0), lambda: None)


def test_update_wants_gradients():
    """An update without a step is refused."""
    with pytest.raises(RuntimeError, match="no gradients were seen"):
        GradScaler().update()


@pytest.mark.parametrize(
    "options", [{"growth_factor": 1.0}, {"backoff_factor": 1.0}, {"backoff_factor": 0.0}, {"growth_interval": 0}]
)
def test_factors_lie_on_their_side_of_one(options):
    """Growth that does not grow and backoff that does not back off are refused."""
    with pytest.raises(ValueError, match="growth lies above 1"):
        GradScaler(**options)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, 1e300, 1e-60])
def test_a_scale_that_scales_nothing_is_refused(scale):
    """Not above 0, or beyond float32."""
    with pytest.raises(ValueError, match="a scale of"):
        GradScaler(scale)


@pytest.mark.parametrize("settings", [{"growth_factor": np.inf}, {"growth_interval": np.nan}, {"growth_interval": 1.5}])
def test_growth_that_never_comes_is_refused(settings):
    """Or that comes between two iterations."""
    with pytest.raises(ValueError, match="the interval is a whole number"):
        GradScaler(**settings)


def test_gradients_may_come_one_by_one():
    """A generator is walked once, and all of it is divided."""
    one, scaler = np.full(2, 4.0, np.float32), GradScaler(4.0)
    scaler.unscale(gradient for gradient in [one])
    assert one.tolist() == [1.0, 1.0]
