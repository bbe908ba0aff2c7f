"""Rates follow from costs, and costs from a few seconds of real running."""

import pytest

from implementations.itl.calibration import Calibration, calibrate, collection_cost_s, saturated_per_s
from implementations.itl.cost_model import PUBLISHED_MACHINE
from implementations.itl.decoder import Decoder, Shape


def test_the_published_machine_gets_the_published_rates():
    """About 6.5 requests a second near capacity and 10 in overload: the search ends between two rates 4% apart."""
    published = Calibration(PUBLISHED_MACHINE, saturated_per_s(PUBLISHED_MACHINE))
    assert published.near_capacity_per_s == pytest.approx(6.5, rel=0.1)
    assert published.overload_per_s == pytest.approx(10.0, rel=0.1)


def test_a_machine_of_half_the_speed_serves_half_the_rate():
    """A backlog has no clock of its own, so the halving is exact."""
    published = saturated_per_s(PUBLISHED_MACHINE)
    assert saturated_per_s(PUBLISHED_MACHINE.scaled(2.0)) == pytest.approx(published / 2, rel=1e-9)


def test_a_collection_costs_something_for_each_object():
    """Between a nanosecond and ten microseconds."""
    assert 1e-9 < collection_cost_s(entries=20_000) < 1e-5


def test_calibrating_takes_about_as_long_as_it_is_told():
    """A small model for one second: it serves something, and every path was seen."""
    pytest.importorskip("tokenizers")
    model = Decoder(kv_blocks=1000, shape=Shape(width=16, hidden=32))
    found = calibrate(seconds=1.0, model=model)
    assert found.saturated_per_s > 0
    costs = found.costs
    assert costs.decode(32 * 400, 32, 32) < costs.decode(32 * 400, 32, None)
    assert costs.char_s < 1e-5
