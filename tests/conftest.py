"""Settings of all tests: hypothesis without deadlines, and the seeds of the tests that take one."""

import os

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

# On a busy machine an example may take longer than hypothesis likes; no test here is about that.
# Where CI is set hypothesis repeats itself by default; the tests, and the runs they start, are the same everywhere.
os.environ.pop("CI", None)
settings.register_profile("tests", deadline=None, derandomize=False)
settings.load_profile("tests")


def pytest_addoption(parser):
    """Add the choice of seeds, and of the tests that build environments."""
    parser.addoption("--upgrades", action="store_true", help="replay known upgrades; builds dozens of environments")
    parser.addoption("--seeds", default="0", metavar="N[-M]", help="seeds of the tests marked seeded: 7, or 0-99")


def pytest_ignore_collect(collection_path, config):
    """Leave the replayed upgrades out unless they were asked for."""
    if collection_path.name == "upgrades" and not config.getoption("--upgrades"):
        return True
    return None


def pytest_generate_tests(metafunc):
    """Run a test marked `seeded` once a seed."""
    if metafunc.definition.get_closest_marker("seeded"):
        metafunc.parametrize("seed", chosen_seeds(metafunc.config.getoption("--seeds")))


def chosen_seeds(text):
    """The seeds `7` or `0-99` stands for."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last.isdigit() or not last)):
        raise pytest.UsageError(f"--seeds {text!r}: write one seed, or a range such as 0-99")
    return range(int(first), int(last or first) + 1)
