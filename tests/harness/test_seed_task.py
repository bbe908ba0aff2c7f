import importlib
import os
import sys
from dataclasses import replace

import pytest

from runtwice import seed_task
from runtwice.errors import EvidenceError
from runtwice.seed_task import run, tasks_of


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A project with an experiment that imports another module and NumPy; gives the experiment's function."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(seed_task, "_met", {})
    for name in [name for name in sys.modules if name.partition(".")[0] in ("claims", "implementations")]:
        monkeypatch.delitem(sys.modules, name)
    write(tmp_path, "implementations/__init__.py", "")
    write(tmp_path, "implementations/prices.py", "FACTOR = 2\n")
    write(
        tmp_path,
        "claims/sales.py",
        "import numpy\nfrom implementations.prices import FACTOR\ndef sold(seed):\n    return FACTOR * seed\n",
    )
    yield importlib.import_module("claims.sales").sold
    for name in ("claims.sales", "implementations.prices", "implementations", "claims"):
        sys.modules.pop(name, None)


def write(root, path, text):
    target = root / path
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)


def a_task(root, function, seed=21):
    (task,) = tasks_of(root, function, [seed])
    return task


def test_a_task_gives_the_value_and_the_process(shop, tmp_path):
    """As the run itself would have had it."""
    found = run(a_task(tmp_path, shop))
    assert found["value"] == shop(21) == 42
    assert found["process"]["pid"] == os.getpid()


def test_a_task_names_file_code_and_circumstances(shop, tmp_path):
    """Of the module and of what it reaches."""
    task = a_task(tmp_path, shop)
    assert (task.module, task.function, str(task.path)) == ("claims.sales", "sold", "claims/sales.py")
    assert {"python", "numpy", "OMP_NUM_THREADS"} <= set(task.circumstances)


def test_other_code_is_refused(shop, tmp_path):
    """Of the module itself or of one it imports; a comment is no other code."""
    task = a_task(tmp_path, shop)
    write(tmp_path, "implementations/prices.py", "FACTOR = 2  # twice\n")
    assert run(task)["value"] == 42
    write(tmp_path, "implementations/prices.py", "FACTOR = 3\n")
    with pytest.raises(EvidenceError, match=r"claims/sales.py, or a module it imports, is other code there"):
        run(task)


def test_code_that_changed_since_it_was_loaded_is_refused(shop, tmp_path):
    """The disk is that of the run, the memory is not."""
    run(a_task(tmp_path, shop))
    write(tmp_path, "implementations/prices.py", "FACTOR = 3\n")
    with pytest.raises(EvidenceError, match=r"implementations/prices.py has changed since the worker loaded it"):
        run(a_task(tmp_path, shop))


def test_another_library_is_refused(shop, tmp_path):
    """The message names it with both versions."""
    task = a_task(tmp_path, shop)
    with pytest.raises(EvidenceError, match=r"numpy is [\d.]+ there and 0.1 in this run; make it the same"):
        run(replace(task, circumstances={**task.circumstances, "numpy": "0.1"}))
    with pytest.raises(EvidenceError, match=r"bumpy is missing there and 1\.0 in this run"):
        run(replace(task, circumstances={**task.circumstances, "bumpy": "1.0"}))


def test_another_number_of_threads_is_refused(shop, tmp_path, monkeypatch):
    """Sums may differ in their last bits."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    task = a_task(tmp_path, shop)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with pytest.raises(EvidenceError, match="OMP_NUM_THREADS is 2 there and 1 in this run"):
        run(task)


@pytest.mark.parametrize("module", ["claims.nowhere", "nowhere.at.all", "json"])
def test_a_module_that_is_not_there_is_refused(shop, tmp_path, module):
    """Missing, or another one of that name."""
    with pytest.raises(EvidenceError, match=rf"it cannot import {module}; start it in the project's folder"):
        run(replace(a_task(tmp_path, shop), module=module))


def test_a_function_outside_the_project_cannot_be_sent(shop, tmp_path):
    """A worker would not find it."""
    with pytest.raises(EvidenceError, match="is not below"):
        a_task(tmp_path / "claims" / "deeper", shop)
