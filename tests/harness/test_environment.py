import json
import os
import platform
import subprocess

import numpy as np
import pytest
from packaging.version import Version
from pytest_benchmark.plugin import pytest_benchmark_generate_machine_info

from runtwice import environment
from runtwice.errors import ClaimError


@pytest.fixture
def installed(monkeypatch):
    """Pretends that these distributions are installed, and these GPUs present."""

    def pretend(versions, gpus=()):
        monkeypatch.setattr(environment, "distributions", lambda: versions)
        monkeypatch.setattr(environment, "cuda_devices", lambda: tuple(gpus))

    return pretend


def test_installed_distributions_are_listed_by_canonical_name():
    """The running NumPy is among them, with its version."""
    assert environment.distributions()["numpy"] == np.__version__
    assert environment.distributions()["pytest-benchmark"]
    assert list(environment.distributions()) == sorted(environment.distributions())


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("numpy", True),
        ("numpy<2", True),
        ("numpy>=2", False),
        ("NumPy>=1.26", True),
        ("torch", False),
        ("torch<99", False),
        ("pre>=2.0.0b1", True),
        (f"python>={platform.python_version()}", True),
        ("python<3", False),
        ("cuda", False),
        ("cpu:NO_SUCH_FEATURE", False),
    ],
)
def test_a_condition_is_met_or_not(installed, condition, met):
    """Requirements, Python itself, a CUDA device and processor features are asked for in one way."""
    installed({"numpy": "1.26.4", "pre": "2.0.0b1"})
    assert environment.satisfies(condition) is met


def test_a_device_and_a_feature_are_conditions(installed):
    """What the driver lists and what NumPy dispatches to."""
    installed({}, gpus=["some card"])
    assert environment.satisfies("cuda")
    assert all(environment.satisfies(f"cpu:{name}") for name in environment.cpu_features())


@pytest.mark.parametrize("condition", ["", "numpy is new", "numpy=2", "<2"])
def test_what_is_no_condition_is_refused(condition):
    """The message shows how one is written."""
    with pytest.raises(ClaimError, match="is not like 'numpy<2'"):
        environment.satisfies(condition)


@pytest.mark.parametrize(
    ("need", "shared", "lack"),
    [
        ("numpy", False, ""),
        ("numpy>=2", False, "numpy>=2 (found 1.26.4)"),
        ("torch", False, "torch"),
        ("gpu", False, "a CUDA device"),
        ("quiet-machine", False, ""),
        ("quiet-machine", True, "the machine to itself"),
        ("private-data", False, "data that is not public"),
        ("real-server", False, "a real serving engine"),
    ],
)
def test_a_need_names_what_is_missing(installed, need, shared, lack):
    """A package with the version found, or the resource in words."""
    installed({"numpy": "1.26.4"})
    assert environment.missing(need, machine_shared=shared) == lack


def test_the_machine_has_the_keys_of_pytest_benchmarks_format():
    """Tools that read its files find what they ask for, and the same machine says the same twice."""
    theirs = pytest_benchmark_generate_machine_info()
    ours = environment.machine_info()
    assert set(theirs) == set(ours)
    assert ours["cpu"].keys() >= {"brand_raw", "count", "arch", "bits"}
    assert environment.machine_info() == ours


def test_the_description_is_plain_and_complete():
    """Python, every distribution, processor features, BLAS, thread settings, load and GPUs, as JSON."""
    found = json.loads(json.dumps(environment.describe(), allow_nan=False))
    assert found["distributions"] == environment.distributions()
    assert found["python"] == platform.python_version()
    assert {"blas", "variables", "cpu_features", "gpus", "load_average", "memory_bytes", "affinity"} <= set(found)
    assert set(environment.THREAD_VARIABLES) <= set(found["variables"])


def test_a_folder_outside_version_control_is_unversioned(tmp_path):
    """The commit's keys are there all the same."""
    found = environment.commit_info(tmp_path)
    assert (found["id"], found["dirty"], found["project"]) == ("unversioned", False, tmp_path.name)


def test_a_commit_is_named_with_its_state(tmp_path):
    """Id, branch and times of the commit, and whether the folder differs from it."""

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q", "-b", "trunk")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "first")
    found = environment.commit_info(tmp_path)
    assert (found["id"], found["branch"], found["dirty"]) == (git("rev-parse", "HEAD").strip(), "trunk", False)
    (tmp_path / "a").write_text("2")
    assert environment.commit_info(tmp_path)["dirty"] is True


def test_a_command_that_is_missing_says_nothing():
    """No driver and no version control are ordinary."""
    assert environment._output(["no-such-command"]) == ""


def test_threads_are_set_once_and_an_own_choice_stays(monkeypatch):
    """One thread where nothing is said; a value in the environment wins."""
    for name in environment.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(environment, "threadpool_limits", lambda count: None)
    environment.fix_threads()
    assert {name: os.environ[name] for name in environment.THREAD_VARIABLES} == {
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "NUMEXPR_NUM_THREADS": "1",
    }


def test_versions_of_installed_packages_can_be_compared():
    """Every distribution here has a version that requirements understand."""
    for version in environment.distributions().values():
        assert Version(version)
