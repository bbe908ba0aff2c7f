import json

import numpy as np
import pytest

from runtwice.claim import Declaration
from runtwice.evidence import Evidence
from runtwice.row import as_declared, build, is_noisy, redeclared, was_judged
from runtwice.verdict import Conclusion, Verdict
from tests.harness.builders import a_claim, a_row


def test_a_row_has_everything_one_run_says_of_one_claim():
    """Figures with their agreement, samples, statistic, settings, durations and cost, as plain values."""
    evidence = Evidence(a_claim(printed={"a": "1.0", "b": ["1", "x"]}))
    evidence.figure("a", np.float64(1.2))
    evidence.figure("b", [1, "x"])
    evidence.settings(threads=np.int64(1))
    evidence.recorded("step", np.array([1.0, 2.0]), unit="ms")
    row = build(
        evidence.claim,
        Declaration("shop.cheap", "refuted", "why"),
        Verdict.REFUTED,
        evidence.conclude(),
        evidence=evidence,
        nodeid="claims/shop/test_shop.py::test_cheap",
        seconds=0.5,
        fingerprint={"hash": "h"},
    )
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert [(one["printed"], one["measured"], one["agreement"]) for one in row["figures"]] == [
        ("1.0", 1.2, "moved"),
        (["1", "x"], [1, "x"], "exact"),
    ]
    assert (row["verdict"], row["declared"], row["because"], row["as_declared"]) == (
        "recorded",
        "refuted",
        "why",
        False,
    )
    assert (row["settings"], row["seconds"], row["fingerprint"]) == ({"threads": 1}, 0.5, {"hash": "h"})
    assert row["timings"] == [{"name": "step", "seconds": [0.001, 0.002], "group": None}]


def test_a_claim_that_did_not_run_has_a_row_too():
    """Without evidence there are no figures, and the reason says why."""
    row = a_row(verdict="not run", reason="needs torch")
    assert (row["figures"], row["samples"], row["statistic"], row["examples"]) == ([], {}, None, None)


@pytest.mark.parametrize(
    ("verdict", "reason", "declared", "met"),
    [
        ("holds", "", "holds", True),
        ("refuted", "", "holds", False),
        ("refuted", "", "refuted", True),
        ("holds", "", "refuted", False),
        ("undecided", "0.1 spans 0", "holds", False),
        ("undecided", "noisy machine: 8%", "holds", True),
        ("not run", "needs torch", "refuted", True),
        ("error", "it crashed", "holds", False),
        ("recorded", "", "recorded", True),
    ],
)
def test_a_verdict_is_as_declared_or_not(verdict, reason, declared, met):
    """What was not run, or not decidable on a noisy machine, contradicts nothing."""
    assert as_declared(Conclusion(Verdict(verdict), reason), Verdict(declared)) is met


@pytest.mark.parametrize(
    ("verdict", "reason", "judged"),
    [
        ("holds", "", True),
        ("undecided", "5 pairs", True),
        ("undecided", "noisy machine: 8%", False),
        ("not run", "needs torch", False),
        ("error", "it crashed", False),
    ],
)
def test_a_resumed_run_seeks_again_what_had_no_answer(verdict, reason, judged):
    """An error, a missing need and a noisy machine may be gone by now."""
    assert was_judged(a_row(verdict=verdict, reason=reason)) is judged
    assert is_noisy(a_row(verdict=verdict, reason=reason)) is reason.startswith("noisy")


def test_the_figures_of_a_stand_in_are_an_answer():
    """They are not compared with the print, and need not be measured twice."""
    assert was_judged({**a_row(verdict="not run", reason="not comparable: toys"), "figures": [{"name": "mean"}]})


def test_a_carried_row_is_held_against_what_is_declared_now():
    """The verdict stays, the declaration is that of today."""
    row = redeclared(a_row(verdict="refuted"), Declaration("shop.cheap", "refuted", "measured 5"), Verdict.REFUTED)
    assert (row["verdict"], row["declared"], row["because"], row["as_declared"]) == (
        *("refuted", "refuted", "measured 5"),
        True,
    )
