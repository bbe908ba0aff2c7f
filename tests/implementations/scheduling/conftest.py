"""A cluster of real processes, shared by the tests of one module."""

import pytest


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask scheduler on the loopback address; workers are started by the tests."""
    pytest.importorskip("distributed")
    from claims.experiments.script_cluster import ScriptCluster

    with ScriptCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def client(cluster):
    """A client of that scheduler."""
    with cluster.client() as connected:
        yield connected


@pytest.fixture
def started(cluster, client, tmp_path):
    """Starts workers by name on a script of their own, and ends them after the test."""
    from claims.experiments.training_scripts import Desk

    desk = Desk(tmp_path / "code", now_s=1_700_000_000.0)
    names = []

    def start(*wanted, options=()):
        for name in wanted:
            cluster.worker(name, desk.script, *options)
            names.append(name)
        return desk, cluster.await_workers(client, *names)

    yield start
    for name in names:
        if name in cluster.processes:
            cluster.kill(name)
    cluster.await_workers(client)
