import numpy as np
import pytest

from runtwice.compare import changes_between
from runtwice.confirm import FEWEST_SEEDS, confirm
from runtwice.oracle import Observation
from tests.harness.ledger_builders import a_figure_row, a_judged_row, a_ratio_row, a_sampled_row, sampled


class Reruns:
    """Runs claims again: `old` and `new` give a row from the first seed and the attempt."""

    def __init__(self, old, new):
        self.sides = {"old": old, "new": new}
        self.asked = []

    def __call__(self, side, id_, attempt, first_seed):
        self.asked.append((side, first_seed))
        row = self.sides[side](first_seed)
        return Observation(row, "" if row else "does not run: boom")


def confirmed(before, after, old, new):
    """What looking again at one claim showed."""
    rerun = Reruns(old, new)
    (one,) = confirm(
        {before["id"]: changes_between(before, after)}, {before["id"]: before}, {after["id"]: after}, rerun
    )
    return one, rerun


def test_what_repeats_itself_in_both_environments_is_confirmed():
    """A single figure, run again as it was."""
    before, after = a_figure_row(1.0), a_figure_row(2.0)
    one, rerun = confirmed(before, after, lambda _: before, lambda _: after)
    assert (one.confirmed, one.how) == (True, "the same again in both environments")
    assert rerun.asked == [("old", 0), ("new", 0)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (a_figure_row(2.0), a_figure_row(2.0), "the old environment does not repeat itself: price was 1.0, is 2.0"),
        (a_figure_row(1.0), a_figure_row(1.0), "the new environment does not repeat itself"),
        (None, a_figure_row(2.0), "could not be run again in the old environment: it does not run: boom"),
    ],
)
def test_what_does_not_repeat_itself_is_not(old, new, said):
    """It says in which environment, and what it was."""
    one, _ = confirmed(a_figure_row(1.0), a_figure_row(2.0), lambda _: old, lambda _: new)
    assert not one.confirmed
    assert said in one.how


def over_seeds(shift, verdict, fixed=False):
    """A claim over six seeds a run, whose effect lies at `shift`."""

    def row(first_seed):
        rng = np.random.default_rng(0 if fixed else first_seed)
        return a_sampled_row(rng.normal(0.2, 0.1, 6) + shift, verdict=verdict)

    return row


def test_an_effect_that_is_gone_on_new_seeds_too_is_confirmed():
    """Two runs of six make a dozen, the same seeds in both environments."""
    old, new = over_seeds(0.0, "holds"), over_seeds(-0.5, "refuted")
    one, rerun = confirmed(old(0), new(0), old, new)
    assert one.confirmed
    assert f"{FEWEST_SEEDS} new seeds in both environments, p = 0.0" in one.how
    assert rerun.asked == [("old", 1000), ("new", 1000), ("old", 2000), ("new", 2000)]


def test_an_effect_that_only_the_ledgers_seeds_lost_is_not():
    """On new seeds both environments are alike."""
    old = over_seeds(0.0, "holds")
    one, _ = confirmed(old(0), over_seeds(-0.5, "undecided")(0), old, over_seeds(1e-4, "holds"))
    assert not one.confirmed
    assert "on them it is holds as it was" in one.how


def test_an_experiment_with_seeds_of_its_own_is_repeated_exactly():
    """No new seed reaches it."""
    old, new = over_seeds(0.0, "holds", fixed=True), over_seeds(-0.5, "refuted", fixed=True)
    one, _ = confirmed(old(0), new(0), old, new)
    assert (one.confirmed, one.how) == (True, "the same again in both environments, its seeds are fixed")


def test_what_is_timed_is_timed_again():
    """In new processes, where it must differ again."""
    before, after = a_ratio_row(sampled(1.0)), a_ratio_row(sampled(-1.0), verdict="refuted")
    again = [
        a_ratio_row(sampled(mean, seed=9), verdict=verdict) for mean, verdict in ((1.0, "holds"), (-1.0, "refuted"))
    ]
    one, _ = confirmed(before, after, lambda _: again[0], lambda _: again[1])
    assert (one.confirmed, "timed again in new processes: verdict holds → refuted" in one.how) == (True, True)
    one, _ = confirmed(before, after, lambda _: again[0], lambda _: a_ratio_row(sampled(1.0, seed=8)))
    assert (one.confirmed, "it is the same in both environments" in one.how) == (False, True)
    noisy = a_judged_row("shop.fast", "undecided", kind="ratio", reason="noisy machine: load 9")
    one, _ = confirmed(before, after, lambda _: again[0], lambda _: noisy)
    assert (one.confirmed, "too noisy" in one.how) == (False, True)


def test_confirmations_are_corrected_for_their_number():
    """A dozen seeds that confirm one suspect at p = 0.02 confirm none of ten."""
    rng = np.random.default_rng(0)
    old_values, noise = rng.normal(0.2, 0.1, 12), rng.normal(0.0, 0.1, 12)
    noise += 0.075 - noise.mean()

    def row(id_, seed, side):
        base = old_values + seed / 1e6
        return a_sampled_row(base - noise * (side == "new"), id_, "holds" if side == "old" else "undecided")

    def rerun(side, id_, attempt, first_seed):
        return Observation(row(id_, first_seed, side))

    for number, expected in ((1, True), (10, False)):
        ids = [f"shop.{i}" for i in range(number)]
        before, after = ({id_: row(id_, 0, side) for id_ in ids} for side in ("old", "new"))
        suspects = {id_: changes_between(before[id_], after[id_]) for id_ in ids}
        found = confirm(suspects, before, after, rerun)
        assert [one.confirmed for one in found] == [expected] * number
        assert 0.05 / 10 < found[0].p_value < 0.05
