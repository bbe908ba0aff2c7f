"""Experiments of this topic that several claims share."""

import pytest


@pytest.fixture(scope="session")
def incident(tmp_path_factory):
    """What was seen when code was pulled under real workers; runs once."""
    from claims.experiments import dask_incident

    return dask_incident.incident(tmp_path_factory.mktemp("incident"))


@pytest.fixture
def pulled(tmp_path, evidence):
    """Beats before a pull and after it, and the first of a restarted worker, at the claim's interval."""
    from claims.experiments.pulled_code import pulled_under

    def under(contents, **more):
        folder = tmp_path / f"desk-{len(list(tmp_path.iterdir()))}"
        settings = {"before": 2, "after": evidence.given("beats"), "interval_s": evidence.given("interval_s")}
        return pulled_under(folder, contents, **{**settings, **more})

    return under


@pytest.fixture
def contents():
    """What a heartbeat carries: `read_once` the copy of the start, `fresh` what is on the disk, `full` digests too."""
    from types import SimpleNamespace

    from implementations.scheduling.heartbeat import FULL, READ_ONCE, Contents

    fresh = Contents("fresh", code=False, progress=False, instance=False)
    return SimpleNamespace(read_once=READ_ONCE, fresh=fresh, full=FULL)
