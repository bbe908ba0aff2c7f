import json
import os
import shutil
import stat
import sys

import pytest

from runtwice import sandbox
from runtwice.errors import InstallError, ReleaseError
from runtwice.releases import Answer
from runtwice.sandbox import MARK, Builder, Recipe

CONFLICT = Answer(1, "", "ERROR: Cannot install numpy and scipy because these have conflicting dependencies.\n")


@pytest.fixture
def pip(monkeypatch):
    """Stands for pip: notes the constraints of each call, and answers in turn (the last answer stays)."""

    class Pip:
        def __init__(self):
            self.answers, self.calls = [Answer(0, "", "")], []

        def __call__(self, *arguments, **_):
            with open(arguments[arguments.index("--constraint") + 1], encoding="utf-8") as file:
                self.calls.append((file.read().split(), list(arguments)))
            return self.answers[min(len(self.calls), len(self.answers)) - 1]

    found = Pip()
    monkeypatch.setattr(sandbox.releases, "pip", found)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    return found


RECIPE = Recipe(("numpy>=1.26", "optuna"), {"NumPy": "2.0.0"}, {"numpy": "1.26.4", "scipy": "1.17", "optuna": "5.0"})


def test_what_is_held_gives_way_before_what_is_pinned():
    """First everything, then what the experiment itself needs, then nothing but the pins."""
    assert list(RECIPE.attempts()) == [
        ("all", {"numpy": "2.0.0", "scipy": "1.17", "optuna": "5.0"}),
        ("roots", {"numpy": "2.0.0", "optuna": "5.0"}),
        ("none", {"numpy": "2.0.0"}),
    ]
    strict = Recipe(RECIPE.roots, RECIPE.pins, RECIPE.holds, strict=True)
    assert [held for held, _ in strict.attempts()] == ["all", "roots"]


def test_recipes_that_come_to_the_same_are_one_environment():
    """A version that is pinned need not be held as well."""
    other = Recipe(RECIPE.roots[::-1], {"numpy": "2.0.0"}, {"scipy": "1.17", "optuna": "5.0"})
    assert other.key == RECIPE.key
    assert Recipe(RECIPE.roots, {"numpy": "2.0.1"}, RECIPE.holds).key != RECIPE.key
    assert Recipe(RECIPE.roots, RECIPE.pins, RECIPE.holds, label="tonight").key != RECIPE.key


def test_an_environment_is_built_once(tmp_path, pip):
    """Built of wheels, without this package; the second time it is found."""
    found = Builder(tmp_path).build(RECIPE)
    ((constraints, arguments),) = pip.calls
    assert constraints == ["numpy==2.0.0", "optuna==5.0", "scipy==1.17"]
    assert arguments[-2:] == ["optuna", "numpy==2.0.0"]
    assert arguments[arguments.index("--only-binary") + 1] == ":all:"
    assert (found.held, "runtwice" in found.distributions) == ("all", False)
    assert Builder(tmp_path).build(RECIPE) == found
    assert len(pip.calls) == 1


def test_versions_that_do_not_go_together_are_let_go_in_turn(tmp_path, pip):
    """The environment says how much was held."""
    pip.answers = [CONFLICT, CONFLICT, Answer(0, "", "")]
    assert Builder(tmp_path).build(RECIPE).held == "none"
    assert [len(constraints) for constraints, _ in pip.calls] == [3, 2, 1]


def test_a_held_version_comes_before_what_a_root_asks_of_it(tmp_path, pip):
    """A claim that needs a later one is not run there, and says so; the environment is what it was asked to be."""
    Builder(tmp_path).build(Recipe(("optuna>=5", "rich>=13"), {}, {"optuna": "4.8.0"}))
    ((constraints, arguments),) = pip.calls
    assert (constraints, arguments[-2:]) == (["optuna==4.8.0"], ["optuna", "rich>=13"])


def test_what_does_not_install_at_all_leaves_nothing_behind(tmp_path, pip):
    """The installer's reason is given in one line."""
    pip.answers = [CONFLICT]
    with pytest.raises(InstallError, match="Cannot install numpy and scipy"):
        Builder(tmp_path).build(RECIPE)
    assert list((tmp_path / "environments").iterdir()) == []


def test_a_missing_network_is_no_fault_of_the_release(tmp_path, pip):
    """Nothing follows from it, so that it ends the work."""
    pip.answers = [Answer(1, "", "WARNING: Retrying (Retry(total=0\nERROR: No matching distribution\n")]
    with pytest.raises(ReleaseError, match="cannot be reached"):
        Builder(tmp_path).build(RECIPE)


def test_an_interrupted_build_is_begun_anew(tmp_path, pip):
    """Without its mark an environment does not count, and what was there of it goes."""
    found = Builder(tmp_path).build(RECIPE)
    (found.folder / MARK).unlink()
    (found.folder / "rest").touch()
    again = Builder(tmp_path).build(RECIPE)
    assert (len(pip.calls), (again.folder / "rest").exists()) == (2, False)
    (found.folder / MARK).write_text("{")
    Builder(tmp_path).build(RECIPE)
    assert len(pip.calls) == 3


def test_the_built_python_is_this_one_with_packages_of_its_own(tmp_path, pip):
    """It starts, and does not see what is installed here."""
    found = Builder(tmp_path).build(RECIPE)
    assert json.loads((found.folder / MARK).read_text())["held"] == "all"
    assert "pytest" not in found.distributions
    assert os.path.realpath(found.python) == os.path.realpath(sys.executable)


def a_uv(folder, script):
    """A program that stands for uv, on the path."""
    path = folder / "uv"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_uv_builds_where_it_is_there(tmp_path, pip, monkeypatch):
    """It makes the environment and installs into it; pip is not asked."""
    log = tmp_path / "log"
    uv = a_uv(tmp_path, f'echo "$@" >> {log}; [ "$1" = venv ] && {sys.executable} -m venv --without-pip "$5" || true')
    monkeypatch.setattr(shutil, "which", lambda name: str(uv))
    Builder(tmp_path).build(RECIPE)
    made, installed = log.read_text().splitlines()
    assert made.startswith("venv --quiet --python")
    assert installed.startswith("pip install --quiet --no-build --constraint")
    assert pip.calls == []


def test_what_uv_cannot_find_pip_may(tmp_path, pip, monkeypatch):
    """Its settings are not uv's; that it was tried is said."""
    monkeypatch.setattr(shutil, "which", lambda name: str(a_uv(tmp_path, "echo '  × No solution found' >&2; exit 1")))
    said = []
    assert Builder(tmp_path, said.append).build(RECIPE).held == "all"
    assert said == ["uv: No solution found; trying pip"]


def test_the_cache_is_where_one_wants_it(monkeypatch, tmp_path):
    """A variable of the environment comes before the user's cache folder."""
    monkeypatch.setenv(sandbox.CACHE_VARIABLE, str(tmp_path))
    assert sandbox.cache_folder() == tmp_path


def test_the_core_requirements_are_those_of_this_package_without_extras():
    """What a claim may import without asking for it."""
    names = {text.split(">")[0] for text in sandbox.core_requirements()}
    assert {"numpy", "scipy", "pytest", "platformdirs"} <= names
    assert not {"optuna", "mypy"} & names
