import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.stats import Estimate
from runtwice.verdict import Conclusion, Verdict, decide_effect, decide_equivalence, describe


def an_estimate(low, high, n=12, detectable=0.1):
    """An estimate in the middle of its interval."""
    return Estimate((low + high) / 2, low, high, 0.95, n, detectable, "a method")


@pytest.mark.parametrize(
    ("low", "high", "margin", "verdict"),
    [
        (0.1, 0.3, 0.0, "holds"),
        (0.1, 0.3, 0.2, "holds"),
        (-0.3, -0.1, 0.0, "refuted"),
        (-0.3, -0.1, 0.05, "refuted"),
        (-0.1, 0.3, 0.0, "undecided"),
        (0.0, 0.3, 0.0, "undecided"),
        (-0.3, -0.1, 0.2, "undecided"),
        (-0.1, 0.1, 0.2, "within noise"),
        (0.05, 0.1, 0.2, "within noise"),
        (-0.1, -0.05, 0.2, "within noise"),
        (0.0, 0.0, 0.0, "undecided"),
    ],
)
def test_an_effect_is_decided_by_its_whole_interval(low, high, margin, verdict):
    """Above 0 holds, below minus the margin is refuted, inside the margin is noise, anything else is undecided."""
    assert decide_effect(an_estimate(low, high), margin, None).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.1, 0.1, "holds"),
        (-0.2, 0.2, "holds"),
        (0.3, 0.5, "refuted"),
        (-0.5, -0.3, "refuted"),
        (0.1, 0.3, "undecided"),
        (-0.5, 0.5, "undecided"),
    ],
)
def test_no_effect_is_decided_by_the_margin(low, high, verdict):
    """Inside the margin holds, outside it is refuted, across it is undecided."""
    assert decide_equivalence(an_estimate(low, high), 0.2, None).verdict == verdict


@given(ends=st.tuples(st.floats(-1, 1), st.floats(-1, 1)), margin=st.floats(0, 1), less=st.floats(0, 1))
def test_a_wider_interval_never_decides_what_a_narrower_one_left_open(ends, margin, less):
    """Shrinking an interval may decide it; it never takes a decision back to another one but noise."""
    low, high = sorted(ends)
    wide = decide_effect(an_estimate(low, high), margin, None).verdict
    middle = (low + high) / 2
    narrow = decide_effect(an_estimate(middle - (middle - low) * less, middle + (high - middle) * less), margin, None)
    allowed = {
        "holds": {"holds", "within noise"},
        "refuted": {"refuted"},
        "within noise": {"within noise"},
        "undecided": {"holds", "refuted", "within noise", "undecided"},
    }
    assert narrow.verdict.value in allowed[wide.value]


def test_every_verdict_says_what_it_could_have_seen():
    """Estimate, interval, number of units and the smallest effect that would have shown, in one phrase."""
    said = describe(an_estimate(0.1, 0.3, n=12, detectable=0.05))
    assert said == "0.2 [0.1, 0.3] (95%, n=12, could have seen 0.05)"
    assert decide_effect(an_estimate(0.1, 0.3), 0.0, None).reason.startswith("0.2 [0.1, 0.3] (95%, n=12")


def test_undecided_says_how_many_more_would_decide():
    """A number where more data would help, and that nothing would where they would not."""
    assert "about 7 more samples would decide" in decide_effect(an_estimate(-0.1, 0.3), 0.0, 7).reason
    assert "no number of samples would decide" in decide_equivalence(an_estimate(-0.5, 0.5), 0.2, None).reason


@pytest.mark.parametrize(
    ("verdict", "reason", "noisy"),
    [
        (Verdict.UNDECIDED, "noisy machine: A against A differs by 8%", True),
        (Verdict.UNDECIDED, "0.1 [-1, 1] spans 0", False),
        (Verdict.HOLDS, "noisy machine", False),
    ],
)
def test_a_noisy_machine_is_a_reason_of_its_own(verdict, reason, noisy):
    """Only an undecided claim can blame the machine."""
    assert Conclusion(verdict, reason).noisy is noisy


def test_the_ledger_gets_the_statistic_without_infinities():
    """What JSON cannot hold becomes nothing; an exact conclusion has no statistic."""
    kept = Conclusion(Verdict.HOLDS, "r", estimate=an_estimate(0.1, math.inf)).statistic()
    assert (kept["low"], kept["high"], kept["method"]) == (0.1, None, "a method")
    assert Conclusion(Verdict.HOLDS, "identical").statistic() is None


def test_there_are_seven_verdicts():
    """The words of the table are those of the ledger."""
    words = ["holds", "refuted", "within noise", "undecided", "recorded", "not run", "error"]
    assert [verdict.value for verdict in Verdict] == words
