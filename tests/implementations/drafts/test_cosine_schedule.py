"""The schedule against PyTorch's, and the choice of an epoch."""

import pytest

from implementations.drafts.cosine_schedule import best_epoch, cosine_rate


def test_the_rate_is_pytorchs():
    """Along a whole schedule, with a lowest rate."""
    torch = pytest.importorskip("torch")
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=10, eta_min=0.01)
    for step in range(10):
        assert cosine_rate(step, 10, 0.3, 0.01) == pytest.approx(optimiser.param_groups[0]["lr"], rel=1e-9)
        optimiser.step()
        schedule.step()


def test_the_rate_stays_low_beyond_the_end():
    """It does not rise again."""
    assert cosine_rate(10, 10, 0.3) == cosine_rate(15, 10, 0.3) == pytest.approx(0)
    assert cosine_rate(0, 10, 0.3) == 0.3


def test_the_best_epoch_is_the_first_of_the_lowest():
    """Counted from one."""
    assert best_epoch([0.7, 0.5, 0.5, 0.6]) == 2


def test_nonsense_is_refused():
    """Steps before the first, schedules without a step, runs without an epoch."""
    for step, total in ((-1, 10), (0, 0)):
        with pytest.raises(ValueError, match="steps count from 0"):
            cosine_rate(step, total, 0.1)
    with pytest.raises(ValueError, match="at least one epoch"):
        best_epoch([])


@pytest.mark.parametrize("rates", [(float("nan"), 0.0), (0.1, float("inf"))])
def test_rates_that_are_not_finite_are_refused(rates):
    """Instead of training with them."""
    with pytest.raises(ValueError, match="both must be finite"):
        cosine_rate(1, 3, *rates)


@pytest.mark.parametrize("losses", [[float("nan"), 0.5], [0.5, float("nan")]])
def test_a_run_that_diverged_has_no_best_epoch(losses):
    """NaN is neither above nor below another loss, and would win where it stands first."""
    with pytest.raises(ValueError, match="diverged"):
        best_epoch(losses)
