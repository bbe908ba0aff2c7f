"""The stopwatch of a session: real processes, after a control that is not the point here."""

from functools import partial
from types import SimpleNamespace

import pytest

from runtwice import stopwatch, timing
from runtwice.stopwatch import Stopwatch
from runtwice.timing import Arm

ARMS = [Arm(f"tests.harness.timing_arms:{name}") for name in ("thrice", "work")]


@pytest.fixture
def control(monkeypatch):
    """What every stopwatch's control shows; and no time beyond the first process of a comparison."""
    control = SimpleNamespace(noise=None)
    monkeypatch.setattr(stopwatch, "a_a_control", lambda **_: control)
    monkeypatch.setattr(stopwatch, "compare", partial(timing.compare, max_seconds=0.01))
    return control


def test_a_comparison_is_not_cut_off_before_it_can_be_decided(control, pytestconfig):
    """However little time there is, as many processes are timed as unanimous ones need."""
    result, _ = Stopwatch(pytestconfig.rootpath).compare(*ARMS, promised=1.5, margin=None)
    assert len(result.processes) >= result.rule.fewest
    assert result.ratio > 1.5


def test_what_the_control_says_comes_before_what_the_timing_says(control, pytestconfig):
    """A machine that failed its control is not to be trusted, whatever the load was meanwhile."""
    control.noise = "identical arms differ by +9.0%"
    _, noise = Stopwatch(pytestconfig.rootpath).compare(*ARMS, promised=1.5, margin=None)
    assert noise == "identical arms differ by +9.0%"
