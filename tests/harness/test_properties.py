import pytest
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from runtwice.errors import EvidenceError
from runtwice.properties import PROFILES, run_property, search_settings


def verdict(check):
    """The verdict on one property, and the number of examples behind it."""
    conclusion, examples = run_property(check)
    return conclusion.verdict, examples


def test_a_property_that_no_example_breaks_holds():
    """The number of examples is the number that was asked for."""

    @settings(max_examples=20)
    @given(st.integers())
    def check(number):
        assert number == number

    assert verdict(check) == ("holds", 20)
    assert verdict(check) == ("holds", 20)


def test_a_property_that_breaks_is_refuted_by_its_smallest_example():
    """The shrunk example is told, on one line."""

    @given(st.integers())
    def check(number):
        assert number < 50, "too many"

    conclusion, _ = run_property(check)
    assert conclusion.verdict == "refuted"
    assert "too many" in conclusion.reason
    assert "number=50" in conclusion.reason.replace(" ", "")
    assert "\n" not in conclusion.reason


def test_an_explicit_example_counts():
    """What `@example` lists is tried first, and alone where nothing else is generated."""

    @settings(phases=[Phase.explicit])
    @example(1)
    @example(2)
    @given(st.integers())
    def check(number):
        assert number != 2

    assert verdict(check)[0] == "refuted"

    @settings(phases=[Phase.explicit])
    @example(1)
    @given(st.integers())
    def holds(number):
        assert number == 1

    assert verdict(holds) == ("holds", 1)


def test_two_ways_of_breaking_are_one_refutation():
    """Several distinct failures are told by the first of them."""

    @given(st.integers())
    def check(number):
        assert number < 50, "too many"
        assert number > -50, "too few"

    assert verdict(check)[0] == "refuted"


@pytest.mark.parametrize("generated", [st.integers(), st.integers().filter(lambda n: n % 7 == 99)])
def test_a_property_without_an_executed_example_is_undecided(generated):
    """What its assumptions rule out altogether was never tested."""

    @given(generated)
    def check(number):
        assume(False)

    assert verdict(check) == ("undecided", 0)


def test_no_phase_that_runs_an_example_is_undecided():
    """A search that was switched off found nothing, and that is no support."""

    @settings(phases=[])
    @given(st.integers())
    def check(number):
        assert number != number

    assert verdict(check) == ("undecided", 0)


def test_rejected_examples_do_not_count():
    """Only examples that met the assumptions are behind a verdict."""

    @settings(max_examples=30)
    @given(st.booleans())
    def check(flag):
        assume(flag)

    kind, examples = verdict(check)
    assert (kind, examples) == ("holds", 1)


def test_any_other_exception_is_not_a_refutation():
    """A property that crashes says nothing of the claim."""

    @given(st.integers())
    def check(number):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_property(check)


def test_a_crash_beside_a_refutation_is_a_crash():
    """Where one input breaks the property and another breaks the check, the check is to be mended first."""

    @given(st.integers())
    def check(number):
        assert number < 50
        if number < -50:
            raise ZeroDivisionError

    with pytest.raises(BaseExceptionGroup):
        run_property(check)


def test_a_property_that_does_not_repeat_is_no_refutation():
    """A failure that goes away when it is tried again is an error of the experiment."""
    calls = []

    @given(st.integers())
    def check(number):
        calls.append(number)
        assert len(calls) != 5

    with pytest.raises(Flaky):
        run_property(check)


@pytest.mark.parametrize("check", [lambda: None, print, 5])
def test_what_hypothesis_does_not_run_is_refused(check):
    """A plain function is one example, not every one."""
    with pytest.raises(EvidenceError, match="under @given"):
        run_property(check)


def test_the_profiles_differ_in_what_they_are_for():
    """Claims repeat themselves exactly, exploring goes further and never the same way."""
    claims, explore = PROFILES["claims"], PROFILES["explore"]
    assert claims.derandomize
    assert not explore.derandomize
    assert explore.max_examples > claims.max_examples
    assert claims.database is None


def test_the_record_says_how_the_search_was_set():
    """The settings in force are those of the profile in force."""
    assert search_settings() == {"max_examples": 100, "derandomize": False}
