import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.claim import Claim
from runtwice.errors import EvidenceError
from runtwice.evidence import SAMPLE_CAP, Evidence
from runtwice.timing import Arm, ProcessTimes, Rule, run
from tests.harness.builders import a_claim, evidence_for

RNG = np.random.default_rng(0)
WIDE = RNG.normal(0, 1, 20)


def verdict(evidence):
    return evidence.conclude().verdict


# --- what the data say -----------------------------------------------------------------------------------------


def test_conditions_and_figures_come_from_the_data():
    """A test reads what its row says, and another row of its topic by id."""
    other = a_claim("shop.dear", printed={"price": "9.0"})
    evidence = Evidence(a_claim(given={"seeds": 5}, printed={"price": "1.0"}), {"shop.dear": other})
    assert evidence.given("seeds") == 5
    assert evidence.printed("price").text == "1.0"
    assert evidence.printed("price", of="shop.dear").text == "9.0"


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda e: e.given("seed"), "gives no 'seed'; it has seeds"),
        (lambda e: e.printed("cost"), "prints no figure 'cost'; it has price"),
        (lambda e: e.printed("price", of="shop.none"), "no claim 'shop.none'; it has none"),
        (lambda e: e.figure("cost", 1), "has no figure 'cost'; it has price"),
        (lambda e: e.derived("cost", abs), "has no figure 'cost'; it has price"),
    ],
)
def test_a_name_the_data_lack_is_an_error(read, said):
    """The message lists the names there are."""
    with pytest.raises(EvidenceError, match=said):
        read(evidence_for(given={"seeds": 5}, printed={"price": "1.0"}))


# --- figures ---------------------------------------------------------------------------------------------------


def test_figures_alone_conclude_from_their_agreement():
    """Exact and close figures hold, a moved one refutes, and the sentence names it."""
    evidence = evidence_for(printed={"a": "1.0", "b": "2.0"}, tolerance={"b": {"abs": 0.1}})
    evidence.figure("a", 1.01)
    evidence.figure("b", 2.07)
    assert (verdict(evidence), evidence.conclude().reason) == ("holds", "1 exact, 1 close")
    evidence = evidence_for(printed={"a": "1.0"})
    evidence.figure("a", 1.2)
    assert (verdict(evidence), evidence.conclude().reason) == ("refuted", "moved: a 1.2 for 1.0")


def test_a_stand_in_is_not_comparable():
    """Figures measured on other data than the post's agree with nothing and conclude nothing."""
    evidence = evidence_for(printed={"a": "1.0"}, stand_in="public data of the same shape")
    evidence.figure("a", 1.0)
    assert evidence.comparisons[0].agreement == "not comparable"
    assert verdict(evidence) == "not run"
    assert "not comparable: public data" in evidence.conclude().reason


def test_a_stand_in_may_still_show_a_direction():
    """With a verb of its own the claim is judged, and its figures stay without an agreement."""
    evidence = evidence_for(printed={"a": "1.0"}, stand_in="public data")
    evidence.figure("a", 1.0)
    evidence.above(WIDE + 3, 0.0)
    assert verdict(evidence) == "holds"


@pytest.mark.parametrize(
    "measured",
    [
        lambda e: e.printed("a"),
        lambda e: e.given("n"),
        lambda e: e.given("share"),
        lambda e: [e.given("n")],
        lambda e: {"a": e.given("n")},
        lambda e: ("x", e.given("word")),
        lambda e: e.given("list")[0],
        lambda e: e.given("table")["inner"],
    ],
)
def test_the_claims_own_data_is_no_measurement(measured):
    """What came out of the data file does not go back into a figure, however deep it lies."""
    given = {"n": 1, "share": 0.5, "word": "w", "list": [1.0], "table": {"inner": 2}}
    evidence = evidence_for(given=given, printed={"a": "1.0"})
    with pytest.raises(EvidenceError, match="came from the claim's own data"):
        evidence.figure("a", measured(evidence))


def test_what_is_computed_from_conditions_is_a_measurement():
    """A number that went through the experiment has lost its mark."""
    evidence = evidence_for(given={"n": 2}, printed={"a": "4"})
    evidence.figure("a", evidence.given("n") * 2)
    assert verdict(evidence) == "holds"


def test_a_figure_is_compared_once():
    """A second comparison would let the better one count."""
    evidence = evidence_for(printed={"a": "1.0"})
    evidence.figure("a", 1.0)
    with pytest.raises(EvidenceError, match="'a' is compared twice"):
        evidence.figure("a", 1.0)


def test_every_figure_is_compared_or_exempt():
    """A printed figure nobody looked at is an error, unless the data say why."""
    evidence = evidence_for(printed={"a": "1.0"}, required={"b": "2.0"}, exempt_figures={"b": "not ours"})
    evidence.identical(1, 1)
    with pytest.raises(EvidenceError, match="figure 'a' was never compared"):
        evidence.conclude()
    evidence.figure("a", 1.0)
    assert verdict(evidence) == "holds"


# --- identical, every, procedure, derived, recorded ------------------------------------------------------------


def test_identical_uses_the_tolerance_of_its_label():
    """A labelled case has its own bound, the others the claim's."""
    evidence = evidence_for(tolerance={"loose": {"abs": 1.0}})
    evidence.identical(1.5, 1.0, label="loose")
    assert verdict(evidence) == "holds"
    evidence.identical(1.5, 1.0)
    assert evidence.conclude().reason == "1.5 is not 1.0 (1 of 2 such)"


def test_a_tolerance_that_nothing_used_is_an_error():
    """A misspelt name would leave the real comparison without its bound."""
    evidence = evidence_for(tolerance={"losse": {"abs": 1.0}})
    evidence.identical(1.0, 1.0, label="loose")
    with pytest.raises(EvidenceError, match="tolerance 'losse' belongs to no figure and to no label"):
        evidence.conclude()


def test_a_result_is_not_compared_with_itself():
    """One object on both sides, or the claim's own data, was not measured."""
    result = [1, 2]
    with pytest.raises(EvidenceError, match="compared with itself"):
        evidence_for().identical(result, result)
    evidence = evidence_for(printed={"a": ["1", "2"]})
    with pytest.raises(EvidenceError, match="came from the claim's own data"):
        evidence.identical(evidence.printed("a"), [1, 2])


def test_a_result_that_contains_a_condition_is_a_result():
    """An experiment may hand a label or a number on among what it found."""
    evidence = evidence_for(given={"label": "gc"})
    evidence.identical([evidence.given("label"), 5.0], ["gc", 5.0])
    assert verdict(evidence) == "holds"


@pytest.mark.parametrize("values", [(math.nan, 1.0), (1.0, math.nan), ([], [])])
def test_identical_needs_something_to_compare(values):
    """NaN and emptiness never hold."""
    with pytest.raises(EvidenceError):
        evidence_for().identical(*values)


def test_every_counts_its_examples_over_all_properties():
    """The record has the number of examples and how the search was set."""

    @given(st.booleans())
    def check(flag):
        assert flag in (True, False)

    evidence = evidence_for()
    evidence.every(check, label="first")
    evidence.every(check, label="second")
    assert verdict(evidence) == "holds"
    assert evidence.examples >= 4
    assert evidence.measuring["hypothesis"]["max_examples"] == 100


@pytest.mark.parametrize(
    ("wrong", "right", "correct", "expected"),
    [
        (40, 30, 30, "holds"),
        (math.nan, 30, 30, "holds"),
        ([40, math.nan], [30, 1], [30, 1], "holds"),
        (30, 30, 30, "refuted"),
        (40, 40, 30, "refuted"),
        (30, 40, 30, "refuted"),
        (40, 30, lambda answer: answer < 35, "holds"),
        (34, 30, lambda answer: answer < 35, "refuted"),
    ],
)
def test_a_procedure_shows_both_sides(wrong, right, correct, expected):
    """The wrong one must go wrong and the right one right."""
    evidence = evidence_for()
    evidence.procedure(wrong=wrong, right=right, correct=correct)
    assert verdict(evidence) == expected


def test_a_nan_of_the_right_procedure_is_an_error():
    """Only the wrong procedure may give no number."""
    with pytest.raises(EvidenceError, match="NaN"):
        evidence_for().procedure(wrong=1, right=math.nan, correct=2)


def test_a_derived_figure_counts_as_compared():
    """Its inputs and itself need no further comparison."""
    evidence = evidence_for(printed={"a": "1.5", "twice": "3.0"})
    evidence.derived("twice", lambda a: 2 * a, evidence.printed("a"))
    assert verdict(evidence) == "holds"


def test_a_figure_does_not_follow_from_itself():
    """What goes in may not be what is to come out."""
    evidence = evidence_for(printed={"a": "1.5"})
    with pytest.raises(EvidenceError, match="'a' was derived from itself"):
        evidence.derived("a", lambda a: a, evidence.printed("a"))


def test_durations_become_benchmark_entries_in_seconds():
    """A duration is kept in seconds; other units are only samples."""
    evidence = evidence_for()
    evidence.recorded("step", [1.0, 2.0, 3.0], unit="ms", group="steps")
    evidence.recorded("size", 7.0, unit="blocks")
    (timing,) = evidence.timings
    assert (timing.name, timing.group) == ("step", "steps")
    assert timing.seconds == pytest.approx([0.001, 0.002, 0.003])
    assert evidence.samples == {"step": [1.0, 2.0, 3.0], "size": [7.0]}
    assert (verdict(evidence), evidence.conclude().reason) == ("recorded", "step: median 2 ms of 3 (2 of 2 such)")


@pytest.mark.parametrize("values", [[], [math.nan], [1.0, math.inf], [-1.0], [[1.0]], "fast", None])
def test_what_is_no_duration_is_an_error(values):
    """Empty, not finite, negative or no numbers: the message names the sample."""
    with pytest.raises(EvidenceError, match="sample 'step'"):
        evidence_for().recorded("step", values, unit="ms")


# --- effects ---------------------------------------------------------------------------------------------------


def test_above_needs_neither_pairs_nor_a_second_sample():
    """Pairs, two samples, or a sample against a bound."""
    for arguments in ((WIDE + 3, WIDE * 0.9, True), (WIDE + 3, WIDE, False), (WIDE + 3, 0.0, False)):
        evidence = evidence_for()
        evidence.above(arguments[0], arguments[1], paired=arguments[2])
        assert verdict(evidence) == "holds"


def test_a_reversed_effect_is_refuted_and_a_small_one_noise():
    """The margin of the claim separates none from some."""
    evidence = evidence_for()
    evidence.above(WIDE - 3, 0.0)
    assert verdict(evidence) == "refuted"
    evidence = evidence_for(margin=2.0)
    evidence.above(WIDE, 0.0)
    assert verdict(evidence) == "within noise"


def test_too_few_units_are_undecided_and_say_how_many_are_needed():
    """Five pairs cannot reach 95%."""
    evidence = evidence_for()
    evidence.above([1.0, 2.0, 3.0, 4.0, 5.0], 0.0)
    assert (verdict(evidence), evidence.conclude().reason) == ("undecided", "5 pairs, need at least 6")


@pytest.mark.parametrize(
    ("a", "b", "paired"),
    [
        ([], [], True),
        ([1.0, math.nan], [0.0, 0.0], True),
        ([1.0] * 6, [0.0] * 5, True),
        ([1.0] * 8, [0.0] * 8, True),
        ([1.0] * 8, [0.5] * 9, False),
        ([1.0] * 8, 0.5, False),
        ([1.0, 2.0], math.nan, False),
        ([[1.0, 2.0]], [[0.0, 1.0]], True),
        ([[1.0], [1.0, 2.0]], [0.0, 0.0], True),
        (["fast"], ["slow"], True),
    ],
)
def test_samples_without_evidence_are_errors(a, b, paired):
    """Empty, NaN, unequal, constant or shapeless samples never hold."""
    with pytest.raises(EvidenceError):
        evidence_for().above(a, b, paired=paired)


def test_curves_that_are_all_the_same_are_one_curve():
    """A seed that never reached the experiment does not make a trend."""
    with pytest.raises(EvidenceError, match="every unit gave the same"):
        evidence_for().trend([[1.0, 2.0, 3.0]] * 8, "rises")


def test_curves_that_rise_each_in_its_own_way_make_a_trend():
    """Kendall's tau of one for every seed is agreement, not a frozen seed."""
    evidence = evidence_for()
    evidence.trend([[1.0, 2.0 + seed, 3.0 + 2 * seed] for seed in range(8)], "rises")
    assert verdict(evidence) == "holds"


# --- the conclusion --------------------------------------------------------------------------------------------


def test_a_test_without_a_conclusion_is_an_error():
    """Ending without a verb or a figure is not holding."""
    with pytest.raises(EvidenceError, match="drew no conclusion"):
        evidence_for().conclude()


def test_a_second_verb_is_an_error():
    """One claim, one conclusion."""
    evidence = evidence_for()
    evidence.identical(1, 1)
    with pytest.raises(EvidenceError, match="'procedure' after 'identical'"):
        evidence.procedure(wrong=1, right=2, correct=2)


def test_the_worst_of_several_cases_is_the_conclusion():
    """A refutation outweighs what could not be decided, and that what holds."""
    evidence = evidence_for()
    evidence.above(WIDE + 3, 0.0, label="one")
    evidence.above([1.0, 2.0], 0.0, label="two")
    assert (verdict(evidence), evidence.conclude().reason[:4]) == ("undecided", "two:")
    evidence.above(WIDE - 3, 0.0, label="three")
    assert (verdict(evidence), evidence.conclude().reason[:6]) == ("refuted", "three:")


def test_a_moved_figure_beside_a_verb_is_shown_and_does_not_decide():
    """The figure's agreement stands beside the verdict on the ordering."""
    evidence = evidence_for(printed={"a": "1.0"})
    evidence.figure("a", 2.0)
    evidence.above(WIDE + 3, 0.0)
    assert verdict(evidence) == "holds"
    assert evidence.comparisons[0].agreement == "moved"


# --- what is kept ----------------------------------------------------------------------------------------------


def test_a_long_sample_is_thinned_and_says_so():
    """Every k-th value is kept, and how many there were."""
    evidence = evidence_for()
    evidence.recorded("step", range(1000), unit="ms")
    assert evidence.samples["step"] == list(range(0, 1000, 5))
    assert evidence.capped == {"step": 1000}
    evidence.recorded("short", range(SAMPLE_CAP), unit="ms")
    assert len(evidence.samples["short"]) == SAMPLE_CAP
    assert "short" not in evidence.capped


def test_samples_of_the_same_name_are_all_kept():
    """A second comparison without a label does not replace the first."""
    evidence = evidence_for()
    for shift in (1, 2, 3):
        evidence.above(WIDE + shift, 0.0)
    assert list(evidence.samples) == ["a", "a #2", "a #3"]


def test_settings_are_kept_for_the_fingerprint():
    """Threads, rates and sizes of a measurement."""
    evidence = evidence_for()
    evidence.settings(threads=1)
    evidence.settings(rounds=5)
    assert evidence.measuring == {"threads": 1, "rounds": 5}


def test_evidence_is_one_claims():
    """Two tests share nothing but the data."""
    assert isinstance(evidence_for().claim, Claim)
    assert evidence_for().samples is not evidence_for().samples


def test_a_noisy_machine_is_told_before_the_label_of_what_was_timed():
    """Whoever looks for it finds it in front, whichever comparison it was."""
    slow, fast = Arm("arms:slow"), Arm("arms:fast")
    timed = run(lambda plan: ProcessTimes((1.1,) * 3, (1.0,) * 3, plan=plan), slow, fast, Rule())
    evidence = evidence_for(kind="ratio")
    evidence.stopwatch = SimpleNamespace(compare=lambda *arms, **rules: (timed, "load 3 on 2 cores"))
    evidence.ratio(slow=slow, fast=fast, label="serving")
    conclusion = evidence.conclude()
    assert conclusion.noisy
    assert conclusion.reason.startswith("noisy machine: serving: load 3 on 2 cores")
