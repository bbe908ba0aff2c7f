"""Costs are found again in a run that has them, and operations take what they say."""

from dataclasses import asdict, fields, replace

import numpy as np
import pytest

from implementations.itl.clock import VirtualClock
from implementations.itl.config import EngineConfig
from implementations.itl.cost_model import PUBLISHED_MACHINE, CostedIntake, CostedModel, CostModel
from implementations.itl.trace import Arrival, arrivals
from implementations.itl.virtual import run_virtual

ZERO = CostModel(**{field.name: 0.0 for field in fields(CostModel)})


@pytest.fixture(scope="module")
def virtual_logs():
    """Two busy runs under the published costs, with chunks and swaps, the second with few captured sizes."""
    trace = arrivals(4, 8.0, 10.0, texts=False)
    configs = [EngineConfig(kv_blocks=500, token_budget=300, capture_sizes=sizes) for sizes in ((1, 8, 32), (4, 16))]
    return [run_virtual(config, trace, PUBLISHED_MACHINE) for config in configs]


def test_fitting_a_run_finds_the_costs_it_was_made_with(virtual_logs):
    """Every cost within one percent: virtual time has no noise."""
    found = CostModel.fit(virtual_logs, PUBLISHED_MACHINE.gc_object_s, where_unseen=ZERO)
    for name, value in asdict(PUBLISHED_MACHINE).items():
        assert getattr(found, name) == pytest.approx(value, rel=0.01), name


@pytest.mark.seeded
def test_a_few_disturbed_segments_do_not_move_the_fit(virtual_logs, seed):
    """One in five takes two to four times as long."""
    (log, *_) = virtual_logs
    rng, n = np.random.default_rng(seed), len(log.segment["kind"])
    slowed = (rng.random(n) < 0.2) * rng.uniform(1, 3, n)
    stretched = log.segment["end_s"] + slowed * (log.segment["end_s"] - log.segment["start_s"])
    disturbed = replace(log, segment={**log.segment, "end_s": stretched})
    found = CostModel.fit([disturbed], 0.0, where_unseen=ZERO)
    assert found.decode(9000, 30, 32) == pytest.approx(PUBLISHED_MACHINE.decode(9000, 30, 32), rel=0.02)


def test_operations_a_run_lacks_keep_the_costs_given_for_them():
    """No fallback steps and no swaps at a trickle of requests."""
    log = run_virtual(EngineConfig(), arrivals(1, 10.0, 1.0, texts=False), PUBLISHED_MACHINE)
    found = CostModel.fit([log], 0.0, where_unseen=replace(ZERO, eager_row_s=7.0, swap_block_s=8.0))
    assert (found.eager_row_s, found.swap_block_s) == (7.0, 8.0)


def test_every_operation_moves_the_clock_by_its_cost():
    """Terms one by one, with numbers that tell them apart."""
    costs = replace(ZERO, **{name: float(10**place) for place, name in enumerate(("chunk_s", "prefill_token_s"))})
    costs = replace(costs, prefill_pair_s=100.0, captured_row_s=1e4, eager_row_s=1e5, swap_block_s=1e6)
    clock = VirtualClock()
    model = CostedModel(costs, clock)

    def taken(operation, *arguments):
        before_s = clock.now()
        operation(*arguments)
        return clock.now() - before_s

    assert taken(model.prefill, [0] * 3, 10, [0]) == 1 + 3 * 10 + (11 + 12 + 13) * 100
    assert taken(model.decode, [0, 0], [5, 6], [[0], [1]], 4) == 4e4
    assert taken(model.decode, [0, 0], [5, 6], [[0], [1]], None) == 2e5
    assert taken(model.copy_out, [0, 1], 17) == 2e6
    assert taken(model.copy_in, [0, 1], 17) == 2e6


def test_a_worker_tokenizes_beside_the_loop_and_in_order():
    """Its texts queue behind one another while the loop's time stands still."""
    clock = VirtualClock()
    intake = CostedIntake(replace(ZERO, char_s=1.0), clock, on_loop=False)
    for number in range(2):
        intake.submit(Arrival(number, 0.0, None, 3, 1, 1))
    assert (clock.now(), intake.pending, intake.completed()) == (0.0, True, [])
    intake.wait(None)
    assert (clock.now(), [arrival.request for arrival, _ in intake.completed()]) == (3.0, [0])
    intake.wait(0.5)
    assert (clock.now(), intake.completed()) == (3.5, [])
    intake.wait(99.0)
    assert (clock.now(), [arrival.request for arrival, _ in intake.completed()]) == (6.0, [1])
    assert intake.worker_cpu_s == 6.0


def test_the_published_batch_of_32_takes_what_the_post_says():
    """12.8 ms."""
    assert PUBLISHED_MACHINE.decode(32 * 400, 32, 32) == pytest.approx(12.8e-3, rel=0.01)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_impossible_costs_are_refused(value):
    """By name."""
    with pytest.raises(ValueError, match="swap_s must be a time"):
        replace(ZERO, swap_s=value)
