import json

import pytest

pytest.importorskip("distributed")

from runtwice import cluster
from tests.harness.dask_processes import DaskProcesses

# Seconds and node differ between runs; where it ran is what the run was asked for.
APART = ("seconds",)
EXPERIMENT = """
import os, signal
from pathlib import Path
import numpy as np

MAIN = Path({main!r})
SHIFT = 0.0

def draws(seed):
    return (np.random.default_rng(seed).normal(size=3) + SHIFT).tolist()

def fatal_once(seed):
    if seed == 3 and not (MAIN / "died").exists():
        (MAIN / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draws(seed)

def fatal_elsewhere(seed):
    if os.getpid() != int((MAIN / "pid").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)
    return draws(seed)

def failing(seed):
    if seed in (2, 5):
        raise ValueError(f"no result for {{seed}}")
    return draws(seed)

def process(seed):
    return os.getpid()
"""


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A scheduler; each test starts workers in its project."""
    running = DaskProcesses(tmp_path_factory.mktemp("dask"))
    yield running
    running.close()


@pytest.fixture
def town(project, dask):
    """A project with an experiment, and two workers that were started in it."""
    project.write("claims/experiments.py", EXPERIMENT.format(main=str(project.root)))
    dask.workers(project.root, 2)
    yield project
    dask.end_workers()


def sweeping(project, function, name="cheap", seeds="range(8)", **more):
    """Add a claim that keeps what a sweep of this function found."""
    body = f"from claims.experiments import {function}\nfound = sweep({function}, {seeds})\n"
    body += "evidence.keep('found', np.ravel(found))\nevidence.identical(len(found), len(list(" + seeds + ")))"
    return project.claim(name, body, uses=", sweep", above="import numpy as np\n", **more)


def rows(run):
    """The rows of a run without what may differ between two of them."""
    return {id_: {key: value for key, value in row.items() if key not in APART} for id_, row in run.rows.items()}


def shared(run):
    """Seeds by worker, of the only sweep."""
    (seeds,) = run.document["claims"]["cluster"]["sweeps"].values()
    return seeds


def test_a_cluster_gives_what_one_process_gives(town, dask):
    """Bit for bit; the ledger says which worker did what, and the terminal how many there were."""
    sweeping(town, "draws")
    alone, together = town.run(), town.run("--cluster", dask.address)
    assert (alone.code, together.code) == (0, 0)
    assert rows(alone) == rows(together)
    assert "cluster" not in alone.document["claims"]
    seeds = shared(together)
    assert sorted(seed for ran in seeds.values() for seed in ran) == list(range(8))
    workers = together.document["claims"]["cluster"]["workers"]
    assert set(seeds) == set(workers)
    assert {worker["pid"] for worker in workers.values()} <= {process.pid for process in dask.processes[1:]}
    assert f"8 seeds on {len(workers)} workers, 0 in this process" in together.out
    assert not list(town.root.glob("ledger.json.*"))


def test_a_worker_that_dies_costs_its_seed_again(town, dask):
    """The other one takes it up; the rows are those of a run without a death."""
    sweeping(town, "fatal_once")
    together = town.run("--cluster", dask.address)
    assert (town.root / "died").exists()
    alone = town.run()
    assert together.code == alone.code == 0
    assert rows(together) == rows(alone)
    assert sorted(seed for ran in shared(together).values() for seed in ran) == list(range(8))


def test_seeds_whose_workers_are_all_lost_run_in_this_process(town, dask, monkeypatch):
    """The run goes on; the ledger says where they ran."""
    import os

    monkeypatch.setattr(cluster, "PATIENCE_S", 0.5)
    town.write("pid", str(os.getpid()))
    sweeping(town, "fatal_elsewhere", seeds="range(3)")
    run = town.run("--cluster", dask.address)
    assert run.code == 0
    assert shared(run) == {"here": [0, 1, 2]}
    assert "0 seeds on 0 workers, 3 in this process" in run.out


def test_a_failing_seed_fails_as_it_does_in_one_process(town, dask):
    """The first in their order names the error; those before it are kept for a resumed run."""
    sweeping(town, "failing")
    alone, together = town.run(), town.run("--cluster", dask.address)
    assert alone.code == together.code == 1
    assert alone.row["reason"] == together.row["reason"] == "ValueError: no result for 2"


def test_a_timed_claim_keeps_its_sweeps_in_this_process(town, dask):
    """What needs the machine to itself is measured where it is asked for; the next claim goes out again."""
    town.claim(
        "timed",
        """
        import os
        from claims.experiments import process
        evidence.identical(sweep(process, [0, 1]), [os.getpid()] * 2)
        """,
        uses=", sweep",
        data='needs = ["quiet-machine"]\n',
    )
    sweeping(town, "draws")
    run = town.run("--cluster", dask.address)
    assert run.code == 0
    places = {
        key.split(":")[1].split("@")[0]: set(by) for key, by in run.document["claims"]["cluster"]["sweeps"].items()
    }
    assert places["process"] == {"here"}
    assert "here" not in places["draws"]


def test_a_worker_with_old_code_is_refused(town, dask):
    """Its disk is new and its memory is not; the message says what to do, and a restart does it."""
    sweeping(town, "draws")
    assert town.run("--cluster", dask.address).code == 0
    experiment = town.root / "claims/experiments.py"
    experiment.write_text(experiment.read_text().replace("SHIFT = 0.0", "SHIFT = 1.0"))
    run = town.run("--cluster", dask.address)
    assert run.verdicts == {"shop.cheap": "error"}
    assert "claims/experiments.py has changed since the worker loaded it; restart the worker" in run.row["reason"]
    dask.end_workers()
    dask.workers(town.root, 1)
    again, alone = town.run("--cluster", dask.address), town.run()
    assert again.code == 0
    assert rows(again) == rows(alone)


def test_a_run_that_ended_early_is_resumed_on_a_cluster(town, dask):
    """Seeds that are kept are not sent again, and are told from those that were."""
    town.claim(
        body="""
        from pathlib import Path
        import pytest
        from claims.experiments import draws
        found = sweep(draws, range(2))
        if not Path("go").exists():
            pytest.exit("enough")
        evidence.identical(len(sweep(draws, range(4))), 4)
        """,
        uses=", sweep",
    )
    town.run()
    town.write("go", "")
    assert town.run_pytest("claims/", f"--resume={town.ledger}", "--cluster", dask.address).ret == 0
    (seeds,) = json.loads(town.ledger.read_text())["claims"]["cluster"]["sweeps"].values()
    assert seeds.pop("here") == [0, 1]
    assert sorted(seed for ran in seeds.values() for seed in ran) == [2, 3]


def test_workers_of_xdist_share_the_cluster(town, dask):
    """Each sends its own sweeps; the ledger holds them all."""
    pytest.importorskip("xdist")
    sweeping(town, "draws")
    sweeping(town, "draws", "dear", topic="bank", seeds="range(8, 12)")
    run = town.run("--cluster", dask.address, "-n2", apart=True)
    assert run.code == 0
    assert sorted(seed for ran in shared(run).values() for seed in ran) == list(range(12))


def test_a_cluster_that_is_not_there_is_refused_before_anything_runs(project, dask, monkeypatch):
    """No scheduler, or one without workers; nothing is written."""
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    sweeping(project, "draws")
    for address, said in (("tcp://127.0.0.1:9", "--cluster tcp://127.0.0.1:9"), (dask.address, "has no workers")):
        result = project.run_pytest("claims/", f"--ledger={project.ledger}", "--cluster", address)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert said in "\n".join(result.errlines)
        assert not project.ledger.exists()
