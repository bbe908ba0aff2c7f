import time

import numpy as np
import pytest

from runtwice.compare import Kind, Standing, changes_between, compare
from runtwice.errors import LedgerError
from tests.harness.builders import a_row
from tests.harness.ledger_builders import (
    a_figure,
    a_figure_row,
    a_judged_row,
    a_ledger,
    a_ratio_row,
    a_sampled_row,
    sampled,
)


def compared(tmp_path, before, after, old=None, new=None):
    """The comparison of two ledgers with these rows (one, or a list) and these machines."""
    sides = [
        a_ledger(tmp_path / name, *(rows if isinstance(rows, list) else [rows]), **(machine or {}))
        for name, rows, machine in (("old.json", before, old), ("new.json", after, new))
    ]
    return compare(*sides)


def the_change(*args, **kwargs):
    """The only change of a comparison."""
    (change,) = compared(*args, **kwargs).changes
    return change


# --- verdicts --------------------------------------------------------------------------------------------------


def test_equal_rows_are_no_change(tmp_path):
    """The same twice is nothing."""
    row = a_figure_row(1.0)
    assert compared(tmp_path, row, row).changes == ()


def test_a_changed_verdict_counts_and_names_the_package_that_changed(tmp_path):
    """Of all changed packages the one that the experiment imports."""
    change = the_change(
        tmp_path,
        a_judged_row(distributions={"numpy": "1.26.4"}),
        a_judged_row(verdict="refuted", distributions={"numpy": "2.0.0"}),
        {"packages": {"numpy": "1.26.4", "rich": "13"}},
        {"packages": {"numpy": "2.0.0", "rich": "15"}},
    )
    assert (change.kind, change.before, change.after) == (Kind.VERDICT, "holds", "refuted")
    assert (change.standing, change.causes) == (Standing.COUNTED, ("numpy 1.26.4 → 2.0.0",))


def test_without_an_import_that_changed_every_changed_package_may_be_behind_it(tmp_path):
    """What it imports may rest on another that did."""
    old, new = {"packages": {"numpy": "2.4.6", "scipy": "1.16"}}, {"packages": {"numpy": "2.4.6", "scipy": "1.17"}}
    assert the_change(tmp_path, a_judged_row(), a_judged_row(verdict="error"), old, new).causes == (
        "scipy 1.16 → 1.17",
    )


def test_another_experiment_is_named_before_any_package(tmp_path):
    """Its change counts, and is not a library's doing."""
    change = the_change(tmp_path, a_judged_row(), a_judged_row(verdict="refuted", code="other"))
    assert (change.standing, change.experiment_changed, change.causes[0]) == (Standing.COUNTED, True, "the experiment")


def test_another_setting_is_never_a_change(tmp_path):
    """What was measured otherwise is named and does not count."""
    before, after = a_judged_row(settings={"rate": 1}), a_judged_row(verdict="refuted", settings={"rate": 2})
    found = compared(tmp_path, before, after)
    assert ([change.standing for change in found.changes], found.counted) == ([Standing.SETTINGS], ())


def test_a_crash_before_the_settings_were_recorded_is_a_change(tmp_path):
    """Missing settings are not other settings."""
    before, after = a_judged_row(settings={"rate": 1}), a_judged_row(verdict="error")
    assert the_change(tmp_path, before, after).standing is Standing.COUNTED


def test_other_threads_alone_are_no_change_and_beside_a_package_only_for_what_is_timed(tmp_path):
    """A run on two threads measures something else; a library's break on two threads is one all the same."""
    one, two = {"variables": {"OMP_NUM_THREADS": "1"}}, {"variables": {"OMP_NUM_THREADS": "2"}}
    rows = [a_judged_row(), a_ratio_row(sampled(1.0))], [a_judged_row(verdict="error"), a_ratio_row(sampled(2.0))]
    assert compared(tmp_path, *rows, one, two).counted == ()
    found = compared(tmp_path, *rows, one, {**two, "packages": {"numpy": "2.5"}})
    assert [change.id for change in found.counted] == ["shop.cheap"]


def test_seeds_that_were_shifted_are_other_settings(tmp_path):
    """Another draw is another draw."""
    assert compared(tmp_path, a_figure_row(1.0), a_figure_row(2.0), None, {"first_seed": 1000}).counted == ()


def test_a_claim_that_is_no_longer_judged_counts(tmp_path):
    """A missing package must not pass for a quiet night."""
    after = a_judged_row(verdict="not run", reason="needs optuna")
    change = the_change(tmp_path, a_judged_row(), after)
    assert (change.kind, change.standing, change.after) == (Kind.COVERAGE, Standing.COUNTED, "needs optuna")
    assert compared(tmp_path, after, a_judged_row()).regained == ("shop.cheap",)


def test_what_a_noisy_machine_left_undecided_is_no_change(tmp_path):
    """It is listed, and nothing follows from it."""
    noisy = a_judged_row(verdict="undecided", reason="noisy machine: load 5")
    found = compared(tmp_path, a_judged_row(), noisy)
    assert (found.changes, found.noisy) == ((), ("shop.cheap",))


# --- figures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "before", "after", "by", "units"),
    [
        ("1.00", 1.0, 1.02, 0.02, 2.0),
        ("=7", 7, 8, 1.0, None),
        ("=7.5", 7.5, 7.500001, 1e-6, None),
        (["1.0", "2.0"], [1.0, 2.0], [1.1, 2.4], 0.4, 4.0),
        ({"mid": "2", "low": "1", "high": "9"}, [1, 2, 9], [1, 2, 11], 2.0, 2.0),
        ({"low": "1", "high": "9"}, {"low": 1.0, "high": 9.0}, {"low": 1.0, "high": 7.0}, -2.0, -2.0),
        ("word", "word", "other", None, None),
        (["1", "2"], [1, 2], [1, 2, 3], None, None),
    ],
)
def test_a_figure_moves_by_its_number_that_went_furthest(tmp_path, printed, before, after, by, units):
    """In units of its last printed place, where it was rounded; words and other shapes move by no number."""
    change = the_change(tmp_path, a_figure_row(before, printed), a_figure_row(after, printed))
    assert (change.kind, change.name, change.standing) == (Kind.FIGURE, "price", Standing.COUNTED)
    assert change.moved_by == pytest.approx(by)
    assert change.printed_units == pytest.approx(units)


def test_a_figure_that_moved_below_its_print_is_only_noted(tmp_path):
    """Unless it no longer agrees as it did."""
    assert the_change(tmp_path, a_figure_row(1.0), a_figure_row(1.004)).standing is Standing.SLIGHT
    change = the_change(tmp_path, a_figure_row(1.004), a_figure_row(1.006, agreement="moved"))
    assert change.standing is Standing.COUNTED


def test_a_stated_number_met_to_a_tolerance_moves_in_units_of_that(tmp_path):
    """It is no count: half of the tolerance is nothing, as half of a last place is."""
    figures = [{**a_figure(value, "=1"), "tolerance": [0.05, 0.0]} for value in (0.999, 0.998, 0.95)]
    rows = [a_judged_row(figures=[figure]) for figure in figures]
    assert the_change(tmp_path, rows[0], rows[1]).standing is Standing.SLIGHT
    assert the_change(tmp_path, rows[0], rows[2]).standing is Standing.COUNTED


def test_the_last_bits_of_a_float_are_nothing(tmp_path):
    """Another order of summation moves them."""
    assert compared(tmp_path, a_figure_row(1.0, "=1"), a_figure_row(1.0 + 1e-15, "=1")).changes == ()


def test_a_moved_figure_is_told_in_units_of_the_noise(tmp_path):
    """The half width of the wider interval of the claim's own statistic."""
    before, after = (a_sampled_row(sampled(1.0), figures=[a_figure(value)]) for value in (1.0, 2.0))
    width = before["statistic"]["high"] - before["statistic"]["low"]
    assert the_change(tmp_path, before, after).noise_units == pytest.approx(2 / width)


def test_a_stand_ins_figures_are_compared_although_it_is_not_run(tmp_path):
    """They are not comparable with the post's, but with themselves."""
    before, after = (a_figure_row(value, verdict="not run", agreement="not comparable") for value in (1.0, 2.0))
    assert the_change(tmp_path, before, after).kind is Kind.FIGURE


# --- effects and ratios ----------------------------------------------------------------------------------------


def test_a_verdict_over_seeds_stands_but_may_be_said_to_be_within_chance(tmp_path):
    """The same seeds gave other numbers, whose difference chance explains."""
    rng = np.random.default_rng(0)
    before = rng.normal(0.02, 0.02, 12)
    after = before + rng.normal(0, 0.02, 12)
    change = the_change(tmp_path, a_sampled_row(before), a_sampled_row(after, verdict="undecided"))
    assert (change.standing, change.beyond_chance) == (Standing.COUNTED, False)
    found = compared(tmp_path, a_sampled_row(before), a_sampled_row(before - 0.1, verdict="refuted"))
    assert all(change.beyond_chance for change in found.counted)
    assert {change.kind for change in found.counted} == {Kind.VERDICT, Kind.EFFECT}


def test_a_ratio_moved_where_the_intervals_have_no_point_in_common(tmp_path):
    """By so many times; overlapping intervals, or a step within the control's margin, are nothing."""
    before = a_ratio_row(sampled(1.0))
    change = the_change(tmp_path, before, a_ratio_row(sampled(0.5, seed=1)))
    assert (change.kind, change.standing) == (Kind.RATIO, Standing.COUNTED)
    assert change.moved_by == pytest.approx(np.exp(-0.5), rel=0.02)
    assert compared(tmp_path, before, a_ratio_row(sampled(1.005, seed=1))).changes == ()
    near = a_ratio_row(sampled(1.04, spread=0.0001)), a_ratio_row(sampled(1.0, spread=0.0001))
    assert compared(tmp_path, *near).changes == ()


def test_a_control_with_a_wider_margin_lets_more_pass(tmp_path):
    """What the run itself called no difference is none."""
    rows = a_ratio_row(sampled(1.0, spread=0.001)), a_ratio_row(sampled(1.1, spread=0.001, seed=1))
    assert len(compared(tmp_path, *rows).counted) == 1
    assert compared(tmp_path, *rows, {"controls": {"a_a": {"margin": 0.2}}}).counted == ()


def test_a_timed_verdict_counts_only_beyond_chance(tmp_path):
    """Near its bound a timed claim goes to and fro; that is not an upgrade's doing."""
    before = a_ratio_row(sampled(0.2, spread=0.1))
    change = the_change(tmp_path, before, a_ratio_row(sampled(0.2, spread=0.1, seed=3), verdict="undecided"))
    assert change.standing is Standing.CHANCE
    few = {**a_ratio_row(sampled(0.2, spread=0.1, seed=3), verdict="undecided"), "statistic": None}
    assert the_change(tmp_path, before, few).standing is Standing.CHANCE
    found = compared(tmp_path, before, a_ratio_row(sampled(-1.0, spread=0.1, seed=3), verdict="refuted"))
    assert {change.kind for change in found.counted} == {Kind.VERDICT, Kind.RATIO}


def test_suspects_are_corrected_for_their_number(tmp_path):
    """What would count alone does not among forty that are no better than chance."""
    values = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    before = a_sampled_row(values, needs=["quiet-machine"])
    after = a_sampled_row(values + 0.31, verdict="undecided", needs=["quiet-machine"])
    assert [change.kind for change in compared(tmp_path, before, after).counted] == [Kind.VERDICT]
    many = [{**row, "id": f"shop.{i}"} for row in (before,) for i in range(40)]
    others = [{**row, "id": f"shop.{i}"} for row in (after,) for i in range(40)]
    assert compared(tmp_path, many, others).counted == ()


def test_timed_figures_without_a_spread_say_nothing(tmp_path):
    """They differ every time; a range of runs is tested."""
    needs = {"needs": ["quiet-machine"]}
    assert compared(tmp_path, a_figure_row(1.0, **needs), a_figure_row(2.0, **needs)).changes == ()
    printed = {"mid": "1.0", "low": "0.9", "high": "1.1"}
    rows = [a_figure_row(list(sampled(mean, seed=seed)), printed, **needs) for mean, seed in ((1, 0), (1, 1), (2, 2))]
    assert compared(tmp_path, rows[0], rows[1]).changes == ()
    assert len(compared(tmp_path, rows[0], rows[2]).counted) == 1


def test_an_old_row_that_does_not_say_what_it_needs_is_timed_where_it_has_durations(tmp_path):
    """The first releases kept no needs."""
    rows = [
        {**a_figure_row(value), "timings": [{"name": "a", "seconds": [0.1], "group": None}]} for value in (1.0, 2.0)
    ]
    assert compared(tmp_path, *rows).changes == ()


def test_a_machine_that_did_not_change_rarely_raises_an_alarm():
    """Ten timed claims of the same two arms, sixty times over: hardly ever any alarm among the ten."""
    rng, alarms, pairs, claims = np.random.default_rng(0), 0, 60, 10
    for _ in range(pairs):
        found = []
        for _ in range(claims):
            before, after = (a_ratio_row(rng.normal(0.7, 0.05, 10)) for _ in range(2))
            found += changes_between(before, after)
        alarms += any(change.p_value is None or change.p_value < 0.05 / claims for change in found)
    assert alarms <= 6  # 5% of 60 is 3; 6 or fewer with 97%


# --- machines --------------------------------------------------------------------------------------------------


def test_across_machines_verdicts_and_ratios_count_and_figures_are_beside(tmp_path):
    """Seconds are never compared; neither is what is not run on the other machine."""
    before = [a_figure_row(1.0), a_ratio_row(sampled(1.0)), a_judged_row("shop.gpu"), a_judged_row("shop.flips")]
    after = [
        a_figure_row(2.0),
        a_ratio_row(sampled(0.2)),
        a_judged_row("shop.gpu", "not run"),
        a_judged_row("shop.flips", "refuted"),
    ]
    found = compared(tmp_path, before, after, None, {"processor": "another"})
    assert sorted((change.id, change.standing) for change in found.changes) == [
        ("shop.cheap", Standing.MACHINE),
        ("shop.fast", Standing.COUNTED),
        ("shop.flips", Standing.COUNTED),
        ("shop.gpu", Standing.MACHINE),
    ]
    assert all(change.causes == ("the machine",) for change in found.changes)


def test_disabled_features_are_named_and_no_package_is_blamed(tmp_path):
    """On the same machine, figures count: it is the processor they hang on."""
    variables = {"OMP_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": "AVX2"}
    found = compared(
        tmp_path, a_figure_row(1.0), a_figure_row(2.0), None, {"features": ["SSE2"], "variables": variables}
    )
    assert (found.around.same_machine, found.around.features_off) == (True, ("AVX2",))
    assert [change.causes for change in found.counted] == [("processor features",)]


def test_packages_beside_disabled_features_are_blamed_only_where_the_claim_imports_them(tmp_path):
    """An environment that has more in it is not behind what the processor did."""
    variables = {"OMP_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": "AVX2"}
    found = compared(
        tmp_path,
        a_figure_row(1.0),
        a_figure_row(2.0),
        {"packages": {"numpy": "2.4.6"}},
        {"features": ["SSE2"], "variables": variables, "packages": {"numpy": "2.4.6", "rich": "15"}},
    )
    assert [change.causes for change in found.counted] == [("processor features",)]


def test_a_numpy_that_names_features_otherwise_is_no_other_processor(tmp_path):
    """Its names came with the release, not with the machine."""
    found = compared(
        tmp_path, a_judged_row(), a_judged_row(), None, {"features": ["X86_V3"], "packages": {"numpy": "2.5"}}
    )
    assert found.around.same_processor


# --- the whole -------------------------------------------------------------------------------------------------


def test_claims_of_one_ledger_only_are_listed_and_do_not_count(tmp_path):
    """They may not have been selected."""
    found = compared(tmp_path, [a_row("a.b"), a_row("a.c")], [a_row("a.b"), a_row("a.d")])
    assert (found.compared, found.only_old, found.only_new, found.changes) == (1, ("a.c",), ("a.d",), ())


def test_ledgers_of_different_suites_are_refused(tmp_path):
    """There is nothing they could say of each other."""
    with pytest.raises(LedgerError, match=r"old\.json and .*new\.json have no claim in common"):
        compared(tmp_path, a_row("a.b"), a_row("c.d"))


def test_new_warnings_are_news(tmp_path):
    """They do not count."""
    found = compared(tmp_path, a_judged_row(warnings=["A: a"]), a_judged_row(warnings=["A: a", "B: b"]))
    assert (found.counted, found.warnings) == ((), {"shop.cheap": ("B: b",)})


def test_two_ledgers_of_800_claims_are_compared_in_half_a_second(tmp_path):
    """Of every sort, one in ten timed, a quarter of them changed; processor time, since a machine is shared."""
    base = sampled(1.0)

    def rows(shift):
        for i in range(800):
            moved = shift if i % 4 == 0 else 0.0
            verdict = "undecided" if moved else "holds"
            if i % 20 in (0, 1):
                yield a_ratio_row(base + moved, f"a.ratio-{i}", verdict)
            elif i % 3 == 0:
                yield a_sampled_row(base + moved, f"a.effect-{i}", verdict)
            elif i % 3 == 1:
                yield a_judged_row(f"a.identity-{i}", verdict)
            else:
                yield {**a_figure_row(1.0 + moved), "id": f"a.figure-{i}"}

    old, new = a_ledger(tmp_path / "a.json", *rows(0.0)), a_ledger(tmp_path / "b.json", *rows(1.0))
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        found = compare(old, new)
        seconds.append(time.process_time() - begin)
    assert (found.compared, len({change.id for change in found.counted})) == (800, 200)
    assert min(seconds) < 0.5
