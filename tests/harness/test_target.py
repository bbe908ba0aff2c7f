import pytest

from runtwice import target
from runtwice.compare import Kind
from runtwice.culprits import Outcome
from runtwice.errors import BisectError
from runtwice.oracle import Observation
from tests.harness.ledger_builders import a_figure, a_figure_row, a_judged_row, a_ratio_row, sampled


def outcome(good, bad, row, **kwargs):
    """What a try is, between two ends."""
    return target.between(good, bad, **kwargs).outcome(Observation(row))


@pytest.mark.parametrize(
    ("row", "is_"),
    [
        (a_judged_row(), Outcome.GOOD),
        (a_judged_row(verdict="refuted"), Outcome.BAD),
        (a_judged_row(verdict="within noise"), Outcome.BAD),
        (a_judged_row(verdict="undecided"), Outcome.UNDECIDED),
        (a_judged_row(verdict="undecided", reason="noisy machine: load 9"), Outcome.UNDECIDED),
        (a_judged_row(verdict="error", reason="ImportError: numpy.core"), Outcome.SKIPPED),
        (a_judged_row(verdict="error", reason="TypeError: x"), Outcome.SKIPPED),
        (a_judged_row(verdict="not run", reason="needs optuna>=5"), Outcome.SKIPPED),
        (None, Outcome.SKIPPED),
    ],
)
def test_between_two_verdicts_only_the_good_one_is_good(row, is_):
    """What was not judged is skipped, what is undecided is tried again."""
    assert outcome(a_judged_row(), a_judged_row(verdict="refuted"), row) is is_


def test_a_crash_or_an_undecided_end_is_bad_where_that_is_the_bad_end():
    """Then it is what is looked for; an import that fails is still another thing than a crash."""
    crash = a_judged_row(verdict="error", reason="TypeError: x")
    assert outcome(a_judged_row(), crash, crash) is Outcome.BAD
    assert outcome(a_judged_row(), crash, a_judged_row(verdict="error", reason="ImportError: x")) is Outcome.SKIPPED
    undecided = a_judged_row(verdict="undecided")
    assert outcome(a_judged_row(), undecided, undecided) is Outcome.BAD


def test_where_only_a_figure_differs_it_is_followed():
    """A third value is no longer the good one."""
    good, bad = a_figure_row(1.0), a_figure_row(2.0)
    followed = target.between(good, bad)
    assert (followed.kind, followed.figures, followed.of(bad)) == (Kind.FIGURE, ("price",), "price 2")
    found = [followed.outcome(Observation(a_figure_row(value))) for value in (1.001, 2.0, 3.0)]
    assert found == [Outcome.GOOD, Outcome.BAD, Outcome.BAD]


def test_one_figure_of_several_can_be_chosen():
    """The others may move as they like."""
    good, bad = (a_judged_row(figures=[a_figure(1.0, name="a"), a_figure(b, name="b")]) for b in (1.0, 2.0))
    assert target.between(good, bad, "b").figures == ("b",)
    with pytest.raises(BisectError, match="figure 'a' is the same at both ends"):
        target.between(good, bad, "a")


def test_a_ratio_is_like_the_end_whose_interval_it_meets():
    """Meeting both is undecided, and neither is not the good one."""
    good, bad = a_ratio_row(sampled(1.0)), a_ratio_row(sampled(0.0))
    rows = [
        a_ratio_row(sampled(mean, spread=spread, seed=1))
        for mean, spread in ((1.0, 0.01), (0.0, 0.01), (0.5, 0.01), (0.5, 1.0))
    ]
    found = [outcome(good, bad, row) for row in rows]
    assert found == [Outcome.GOOD, Outcome.BAD, Outcome.BAD, Outcome.UNDECIDED]


def test_two_equal_ends_have_nothing_between_them():
    """It says what they both are."""
    with pytest.raises(BisectError, match=r"shop\.cheap is holds at both ends, with the same figures"):
        target.between(a_judged_row(), a_judged_row())
