"""Every claim of the inventory is a test or an exemption, and every test has its row."""

from pathlib import Path

import pytest

from runtwice import catalogue, completeness

ROOT = Path(__file__).parents[2]
SHARED_INVENTORY = ROOT.parent / "shared" / "inventory"


@pytest.fixture(scope="module")
def inventory() -> completeness.Inventory:
    return completeness.read_inventory(ROOT / "claims")


@pytest.fixture(scope="module")
def found() -> catalogue.Catalogue:
    return catalogue.read(ROOT / "claims")


def test_no_claim_is_missing_or_unknown(inventory, found):
    """Each id is tested, exempt or listed as pending; no row and no test has an id the inventory lacks."""
    faults = [
        f"{kind} {id_}"
        for one in completeness.coverage(inventory, found)
        for kind in ("missing", "unknown")
        for id_ in getattr(one, kind)
    ]
    assert faults == []


def test_one_claim_has_one_test(found):
    """No two tests declare the same claim."""
    assert {id_: tests for id_, tests in found.tests.items() if len(tests) > 1} == {}


def test_every_test_says_how_it_tests(found):
    """Each claim's test has a docstring, which `runtwice show` and the report print."""
    silent = [id_ for id_, tests in found.tests.items() if any(not test.docstring for test in tests)]
    assert silent == []


def test_pending_names_only_what_is_left(inventory, found):
    """A pattern of `pending` that covers nothing unwritten is out of date."""
    unwritten = [id_ for one in completeness.coverage(inventory, found) for id_ in one.pending]
    stale = [pattern for pattern in inventory.pending if not any(_covers(pattern, id_) for id_ in unwritten)]
    assert stale == []


def _covers(pattern: str, claim_id: str) -> bool:
    return completeness.Inventory({}, [pattern]).is_pending(claim_id)


@pytest.mark.skipif(not SHARED_INVENTORY.is_dir(), reason="the source of the inventory is not beside this checkout")
def test_the_inventory_is_whole(inventory):
    """The committed ids are those of the source, topic by topic and in its order."""
    for topic, ids in inventory.ids.items():
        lines = (SHARED_INVENTORY / f"{topic}.yaml").read_text(encoding="utf-8").splitlines()
        assert list(ids) == [line.split(": ", 1)[1].strip() for line in lines if line.startswith("- id: ")]
