"""The fixtures a claim's test and its experiments may ask for."""

from __future__ import annotations

import pytest

from runtwice.collection import Bound
from runtwice.evidence import Evidence
from runtwice.session import Session
from runtwice.sweep import Sweep

SESSION = pytest.StashKey[Session]()
BOUND = pytest.StashKey[Bound]()
EVIDENCE = pytest.StashKey[Evidence]()


@pytest.fixture
def evidence(request: pytest.FixtureRequest) -> Evidence:
    """Takes what the test measured; the verdict is drawn from it when the test ends."""
    found = request.node.stash.get(BOUND, None)
    if found is None:
        pytest.fail("the fixture `evidence` belongs to tests declared with @claim", pytrace=False)
    measured = Evidence(found.claim, found.topic_claims, stopwatch=request.config.stash[SESSION].stopwatch)
    request.node.stash[EVIDENCE] = measured
    return measured


@pytest.fixture(scope="session")
def sweep(request: pytest.FixtureRequest) -> Sweep:
    """Runs a module-level function over seeds, keeping each result so that `--resume` can go on from it."""
    return request.config.stash[SESSION].sweep()
