from pathlib import Path

import pytest

from runtwice.annotations import annotated
from runtwice.catalogue import Catalogue, TestSource
from tests.harness.builders import a_row, evidence_for

TESTS = {"shop.cheap": [TestSource("shop.cheap", Path("claims/shop/test_shop.py"), "test_cheap", 12, "")]}


def lines(*rows, tests=None):
    return list(annotated(rows, Catalogue({}, TESTS if tests is None else tests)))


def test_a_claim_that_is_not_as_declared_is_an_error_beside_its_test():
    """File and line of the test, and the verdict with its reason."""
    assert lines(a_row(verdict="refuted", reason="1 is not 2")) == [
        "::error file=claims/shop/test_shop.py,line=12,title=shop.cheap%3A refuted%2C declared holds::1 is not 2"
    ]


@pytest.mark.parametrize("verdict", ["holds", "refuted", "recorded", "not run"])
def test_what_is_as_declared_is_silent(verdict):
    """A refutation that was declared is no news."""
    assert lines(a_row(verdict=verdict, declared=verdict)) == []


def test_a_noisy_machine_is_a_warning():
    """It passes, and is not overlooked."""
    (line,) = lines(a_row(verdict="undecided", reason="noisy machine: load 3"))
    assert line.startswith("::warning ")


def test_figures_that_moved_are_told_line_by_line():
    """Line breaks and percent signs are escaped as the runner wants them."""
    evidence = evidence_for(printed={"share": "10"})
    evidence.figure("share", 13)
    (line,) = lines(a_row(verdict="refuted", reason="100% off", evidence=evidence))
    assert line.endswith("::100%25 off%0Ashare 13 (printed 10: moved by +3)")


def test_a_test_that_is_gone_is_named_by_its_file():
    """Or not at all where the row does not know it."""
    known, unknown = (a_row(verdict="error", nodeid=nodeid) for nodeid in ("claims/shop/test_old.py::test_it", ""))
    assert lines(known, tests={})[0].startswith("::error file=claims/shop/test_old.py,title=")
    assert lines(unknown, tests={})[0].startswith("::error title=")
