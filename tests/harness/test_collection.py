from unittest import TestCase, skip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice.claim import claim
from runtwice.collection import bind, chosen_tiers, matches, selected, topic_claims
from runtwice.errors import ClaimError
from tests.harness.builders import a_claim

ROW = '[{name}]\npost = "p"\nsays = "s"\nkind = "identity"\ntier = "fast"\n'


@pytest.fixture
def module(tmp_path):
    """A module in a topic with two claims, one of them exempt."""
    data = ROW.format(name="cheap") + ROW.format(name="joke") + 'exempt = "a joke"\n'
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "claims.toml").write_text(data)
    return tmp_path / "shop" / "test_shop.py"


def a_test(evidence):
    pass


def declared(test=a_test, claim_id="shop.cheap", **arguments):
    """A copy of `test` with its declaration."""

    def copy(*args):
        return test(*args)

    copy.__wrapped__ = test
    copy.__name__ = test.__name__
    return claim(claim_id, **arguments)(copy)


# --- binding ---------------------------------------------------------------------------------------------------


def test_a_test_is_bound_to_its_row(module):
    """The row stands in the data file beside the module."""
    bound = bind(declared(), module, [])
    assert bound.claim.id == "shop.cheap"
    assert set(bound.topic_claims) == {"shop.cheap", "shop.joke"}


def test_a_test_elsewhere_is_left_alone(tmp_path):
    """Outside a topic an ordinary test is an ordinary test."""
    assert bind(a_test, tmp_path / "test_other.py", ["parametrize"]) is None


def test_what_is_no_test_is_left_alone(module):
    """Constants, helpers and classes of a topic's module are nobody's claim."""
    for thing in (5, "text", len, dict, TestCase, a_test):
        assert bind(thing, module, [], items=0) is None


class Cases(TestCase):
    pass


def without_evidence():
    pass


def a_property():
    """A test that is one hypothesis property."""
    return given(st.integers())(lambda evidence: None)


@pytest.mark.parametrize(
    ("test", "arguments", "said"),
    [
        (a_test, {}, "belong to a claim; declare it with @claim"),
        (Cases, {"items": 0}, "belong to a claim; declare it with @claim"),
        (declared(claim_id="shop.none"), {}, r"shop/claims\.toml has no such claim"),
        (declared(claim_id="bank.cheap"), {}, r"shop/claims\.toml has no such claim"),
        (declared(claim_id="shop.joke"), {}, r"the claim is exempt \(a joke\)"),
        (declared(), {"marks": ["parametrize"]}, r"mark\.parametrize is not allowed .*; join the cases in the body"),
        (declared(), {"marks": ["skip"]}, r"mark\.skip is not allowed .*; name what is missing in `needs`"),
        (declared(), {"marks": ["skipif"]}, r"mark\.skipif is not allowed"),
        (declared(), {"marks": ["xfail"]}, r"mark\.xfail is not allowed .*; declare the verdict"),
        (claim("shop.cheap")(skip("later")(lambda evidence: None)), {}, r"mark\.skip is not allowed"),
        (claim("shop.cheap")(a_property()), {}, r"put @given on a check inside the test"),
        (declared(without_evidence), {}, "does not ask for the fixture `evidence`"),
        (declared(), {"items": 0}, "pytest does not take it for a test"),
        (declared(), {"items": 2}, r"makes 2 tests of it; join the cases"),
        (declared(expect={"numpy is new": "holds"}), {}, "condition 'numpy is new' is not like"),
        (declared(expect={"cuda": "holds", "<2": "holds"}), {}, "condition '<2' is not like"),
    ],
)
def test_a_test_that_breaks_a_rule_is_refused(module, test, arguments, said):
    """The message says what to do instead."""
    with pytest.raises(ClaimError, match=said):
        bind(test, module, arguments.get("marks", []), arguments.get("items", 1))


def test_a_claim_needs_its_data_beside_it(tmp_path):
    """A declared test without a data file is refused."""
    with pytest.raises(ClaimError, match=r"no claims\.toml stands beside test_x\.py"):
        bind(declared(), tmp_path / "test_x.py", [])


def test_data_that_changed_are_read_again(module):
    """A file that was rewritten is never taken for what it was."""
    assert "shop.dear" not in topic_claims(module.parent)
    (module.parent / "claims.toml").write_text(ROW.format(name="dear"))
    assert list(topic_claims(module.parent)) == ["shop.dear"]


# --- selection -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "chosen"),
    [
        ("fast", ("fast",)),
        ("standard", ("fast", "standard")),
        ("slow", ("fast", "standard", "slow")),
        ("gpu", ("gpu",)),
    ],
)
def test_a_tier_runs_those_before_it(tier, chosen):
    """But for `gpu`, which stands alone."""
    assert chosen_tiers(tier) == chosen


@pytest.mark.parametrize(
    ("topics", "globs", "wanted"),
    [
        ([], [], True),
        (["shop"], [], True),
        (["bank", "shop"], [], True),
        (["bank"], [], False),
        ([], ["shop.*"], True),
        ([], ["shop.chea"], False),
        ([], ["bank.*", "*.cheap"], True),
        (["bank"], ["shop.*"], False),
    ],
)
def test_topics_and_patterns_narrow_the_choice(topics, globs, wanted):
    """A claim lies in one of the topics and matches one of the patterns, whole and in its own case."""
    assert selected(a_claim(), ("fast",), topics, globs) is wanted
    assert not selected(a_claim(tier="slow"), ("fast",), topics, globs)


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("", True),
        ("  ", True),
        ("itl", True),
        ("ITL", True),
        ("oracle-fuzz", True),
        ("itl.adversarial.oracle-fuzz", True),
        ("bayes", False),
        ("not bayes", True),
        ("itl and fuzz", True),
        ("itl and (bayes or not gc)", True),
        ("(itl) and not(adversarial)", False),
    ],
)
def test_an_expression_accepts_an_id(expression, accepted):
    """Words match inside the id, whatever their case; and, or, not and brackets join them."""
    assert matches(expression, "itl.adversarial.oracle-fuzz") is accepted


@pytest.mark.parametrize("expression", ["and", "a b", "a or", "(a", "a(b)", "not", "()", "a; b"])
def test_what_is_no_expression_is_refused(expression):
    """Nothing but words and brackets is ever evaluated."""
    with pytest.raises(ClaimError, match="is no expression"):
        matches(expression, "x")
