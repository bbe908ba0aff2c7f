import pytest

from runtwice import circumstances
from tests.harness.ledger_builders import a_judged_row, a_ledger


def around(tmp_path, old=None, new=None):
    """What differs around two runs on these machines."""
    one = a_ledger(tmp_path / "a.json", a_judged_row(), **(old or {}))
    return circumstances.between(one, a_ledger(tmp_path / "b.json", a_judged_row(), **(new or {})))


def test_the_same_twice_differs_in_nothing(tmp_path):
    """Same machine, packages, settings and processor."""
    found = around(tmp_path)
    assert (found.same_machine, found.same_processor, found.packages, found.settings) == (True, True, {}, {})


@pytest.mark.parametrize("change", [{"processor": "b"}, {"memory_bytes": 2**35}])
def test_other_hardware_is_another_machine(tmp_path, change):
    """The name of the host does not matter, nor what is free of its memory."""
    assert not around(tmp_path, {}, change).same_machine


def test_packages_come_and_go_and_change(tmp_path):
    """This package itself, and what installs others, are no news."""
    found = around(
        tmp_path,
        {"packages": {"a": "1", "b": "1", "pip": "1", "runtwice": "1"}},
        {"packages": {"b": "2", "c": "1", "pip": "2", "runtwice": "2"}, "python": "3.13.0"},
    )
    assert found.packages == {"a": ("1", None), "b": ("1", "2"), "c": (None, "1"), "python": ("3.11.7", "3.13.0")}
    spelled = [circumstances.spelled(name, pair) for name, pair in found.packages.items()]
    assert spelled == ["- a 1", "b 1 → 2", "+ c 1", "python 3.11.7 → 3.13.0"]


def test_other_kernels_are_another_processor(tmp_path):
    """BLAS chose otherwise."""
    found = around(tmp_path, {"blas": "SkylakeX"}, {"blas": "Haswell"})
    assert (found.kernels, found.same_processor) == (("SkylakeX", "Haswell"), False)


def test_features_may_come_as_well_as_go(tmp_path):
    """A comparison has two directions."""
    found = around(tmp_path, {"features": ["A", "B"]}, {"features": ["B", "C"]})
    assert (found.features_off, found.features_on) == (("A",), ("C",))
