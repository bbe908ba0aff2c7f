from runtwice.report.entries import counts, entries
from runtwice.report.environments import environments
from tests.harness.builders import a_claim, a_row
from tests.harness.report.builders import a_ledger, claims_of


def listed(*claims, ledgers=()):
    return {one.id: one for one in entries(claims_of(*claims), environments(ledgers))}


def test_claims_and_rows_are_joined_by_id():
    """A claim without a row, a row without a claim, and one that has both."""
    found = listed(a_claim("shop.cheap"), a_claim("shop.dear"), ledgers=[a_ledger(a_row(), a_row("old.gone"))])
    assert {id_: (one.state, one.claim is not None) for id_, one in found.items()} == {
        "shop.cheap": ("holds", True),
        "shop.dear": ("no evidence", True),
        "old.gone": ("holds", False),
    }


def test_an_exempt_claim_says_so():
    """It has no evidence for a reason."""
    assert listed(a_claim(exempt="a joke"))["shop.cheap"].state == "exempt"


def test_verdicts_that_differ_between_environments_are_noticed():
    """A claim that was not run somewhere does not differ there."""
    rows = [a_row(verdict=verdict) for verdict in ("holds", "refuted", "not run")]
    one, other, silent = (a_ledger(row, cores=i + 1) for i, row in enumerate(rows))
    assert listed(ledgers=[one, other])["shop.cheap"].differs
    assert not listed(ledgers=[one, silent])["shop.cheap"].differs


def test_one_unexpected_verdict_anywhere_is_enough():
    """The list of what is not as declared looks at every environment."""
    fine, odd = a_ledger(a_row(), cores=1), a_ledger(a_row(verdict="refuted"), cores=2)
    assert listed(ledgers=[fine, odd])["shop.cheap"].unexpected
    assert not listed(ledgers=[fine])["shop.cheap"].unexpected


def test_states_are_counted_in_the_order_of_the_verdicts():
    """States that nobody has are left out."""
    found = listed(a_claim("shop.dear"), ledgers=[a_ledger(a_row(), a_row("shop.odd", "error"))])
    assert counts(list(found.values())) == {"error": 1, "holds": 1, "no evidence": 1}
    assert list(counts(list(found.values()))) == ["holds", "error", "no evidence"]
