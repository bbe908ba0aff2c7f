"""Rungs add fixes one by one, in any order."""

from dataclasses import asdict
from itertools import permutations

import pytest

from implementations.itl.config import EngineConfig
from implementations.itl.ladder import BASELINE, FIXES, RUNGS, all_but, alone, ladder, run_rung, rung, with_fixes


def changed(config):
    """Names of the settings that differ from the defaults."""
    default = asdict(EngineConfig())
    return {name for name, value in asdict(config).items() if value != default[name]}


def test_there_are_seven_rungs_each_with_one_more_setting():
    """The baseline and six fixes."""
    assert len(RUNGS) == 7
    assert [len(changed(rung(name))) for name in RUNGS] == list(range(7))


def test_every_order_ends_in_the_same_settings():
    """Fixes are independent settings."""
    orders = list(permutations(FIXES))[::97]
    assert {tuple(ladder(order).values())[-1] for order in orders} == {with_fixes(FIXES)}


def test_one_fix_and_all_but_one_are_complements():
    """Between them they change every setting once."""
    for fix in FIXES:
        assert changed(alone(fix)) | changed(all_but(fix)) == changed(with_fixes(FIXES))
        assert not changed(alone(fix)) & changed(all_but(fix))


def test_a_ladder_can_stand_on_other_settings():
    """A fix leaves the rest of the base alone."""
    base = EngineConfig(kv_blocks=1500)
    assert {config.kv_blocks for config in ladder(base=base).values()} == {1500}
    assert rung(BASELINE, base=base) is base


@pytest.mark.parametrize("make", [rung, alone, all_but])
def test_an_unknown_name_is_refused(make):
    """The message lists what there is."""
    with pytest.raises(ValueError, match=r"'faster'.*'gc-freeze'"):
        make("faster")


def test_a_rung_runs_on_the_real_engine():
    """A second of the last rung but with a small heap: everything arrives, nothing is collected while serving."""
    pytest.importorskip("tokenizers")
    log = run_rung("admission-watermark", 1, 1.0, 6.5, heap=[])
    assert log.drained
    assert log.config == with_fixes(FIXES)
    assert not [pause for pause in log.collections if pause[2] == 2 and pause[0] > log.step["start_s"][0]]
