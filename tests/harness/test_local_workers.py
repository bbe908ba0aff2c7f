import os
import subprocess
import sys
import time

import pytest

EXPERIMENT = """
import os, signal, time
from pathlib import Path
import numpy as np

MAIN = Path({main!r})
met = []

def draws(seed):
    return np.random.default_rng(seed).normal(size=3).tolist()

def fatal_once(seed):
    if seed == 3 and not (MAIN / "died").exists():
        (MAIN / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draws(seed)

def fatal(seed):
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return draws(seed)

def failing(seed):
    if seed == 2:
        raise ValueError(f"no result for {{seed}}")
    if seed > 4:
        time.sleep(60)
    return draws(seed)

def process(seed):
    return os.getpid()

def remembered(seed):
    met.append(seed)
    return [os.getpid(), len(met)]

def slow(seed):
    (MAIN / f"began{{seed}}").write_text(str(os.getpid()))
    time.sleep(300)
"""


@pytest.fixture
def town(project):
    """A project with experiments."""
    project.write("claims/experiments.py", EXPERIMENT.format(main=str(project.root)))
    return project


def sweeping(project, function, name="cheap", count=8):
    """Add a claim that keeps what a sweep of this function found."""
    body = f"from claims.experiments import {function}\nfound = sweep({function}, range({count}))\n"
    body += f"evidence.keep('found', np.ravel(found))\nevidence.identical(len(found), {count})"
    return project.claim(name, body, uses=", sweep", above="import numpy as np\n")


def rows(run):
    """The rows of a run without what may differ between two of them."""
    return {id_: {key: value for key, value in row.items() if key != "seconds"} for id_, row in run.rows.items()}


def test_workers_give_what_one_process_gives(town):
    """Bit for bit; ledger and terminal say who did what."""
    sweeping(town, "draws")
    alone, together = town.run(), town.run("--workers", "2")
    assert (alone.code, together.code) == (0, 0)
    assert rows(alone) == rows(together)
    cluster = together.document["claims"]["cluster"]
    assert cluster["scheduler"] == "this machine"
    (seeds,) = cluster["sweeps"].values()
    assert sorted(seed for ran in seeds.values() for seed in ran) == list(range(8))
    assert f"sweeps: 8 seeds on {len(seeds)} workers, 0 in this process" in together.out


def test_a_worker_serves_sweep_after_sweep(town):
    """What an experiment keeps in memory is there for the next sweep; the processes end with the run."""
    sweeping(town, "remembered", "first", 6)
    sweeping(town, "remembered", "second", 3)
    run = town.run("--workers", "1")
    assert run.code == 0
    found = {id_: [int(one) for one in row["samples"]["found"]] for id_, row in run.rows.items()}
    (first, second) = (found[id_] for id_ in sorted(found))
    assert set(first[::2]) == set(second[::2]) != {os.getpid()}
    assert first[1::2] == [1, 2, 3, 4, 5, 6]
    assert not _runs(first[0])


def test_a_worker_that_dies_costs_its_seeds_again(town):
    """New processes take them up; the rows are those of a run without a death."""
    sweeping(town, "fatal_once")
    together = town.run("--workers", "2")
    assert (town.root / "died").exists()
    alone = town.run()
    assert together.code == alone.code == 0
    assert rows(together) == rows(alone)


def test_a_seed_that_kills_twice_is_an_error_of_its_claim(town):
    """The run itself goes on, with new processes."""
    sweeping(town, "fatal", "a")
    sweeping(town, "draws", "b")
    run = town.run("--workers", "2")
    bad, good = (run.rows[id_] for id_ in sorted(run.rows))
    assert (bad["verdict"], good["verdict"]) == ("error", "holds")
    assert "a process died twice with seeds of fatal" in bad["reason"]
    assert "run it without --workers" in bad["reason"]


def test_a_failing_seed_fails_as_it_does_in_one_process(town):
    """The first in their order names the error, and nothing runs on beside the next claim."""
    sweeping(town, "failing", "a", 8)
    sweeping(town, "draws", "b")
    began = time.monotonic()
    run = town.run("--workers", "2")
    assert time.monotonic() - began < 50
    bad, good = (run.rows[id_] for id_ in sorted(run.rows))
    assert (bad["verdict"], good["verdict"]) == ("error", "holds")
    assert bad["reason"] == "ValueError: no result for 2"


def test_a_timed_claim_keeps_its_sweeps_in_this_process(town):
    """What needs the machine to itself is measured where it is asked for."""
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
    assert town.run("--workers", "2").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--workers", "0"), "--workers 0: at least 1 process is needed"),
        (("--workers", "2", "--cluster", "tcp://host:1"), "to one or to the other"),
        (("--workers", "2", "-n", "2"), "--workers and -n"),
    ],
)
def test_what_cannot_be_meant_is_refused(town, words, told):
    """One line, before anything runs."""
    sweeping(town, "draws")
    run = town.run(*words, apart=True)
    assert run.code == 4
    assert told in run.out


def test_workers_end_with_a_run_that_is_killed(town):
    """Their processes go although nobody could tell them."""
    sweeping(town, "slow", count=2)
    command = [sys.executable, "-m", "pytest", "claims/", "-q", "--workers", "2"]
    run = subprocess.Popen(command, cwd=town.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    places = [town.root / "began0", town.root / "began1"]
    _await(lambda: all(place.exists() and place.read_text() for place in places))
    run.kill()
    run.wait()
    workers = [int(place.read_text()) for place in places]
    assert run.pid not in workers
    _await(lambda: not any(map(_runs, workers)))


def _await(there):
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
