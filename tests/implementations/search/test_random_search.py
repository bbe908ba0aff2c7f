"""Random search looks at nothing and can always be continued."""

import numpy as np
import pytest

from implementations.search.random_search import RandomSearch
from implementations.search.space import Float, Int, Space
from implementations.search.study import Study

SPACE = Space({"rate": Float(0.02, 0.25, log=True), "depth": Int(2, 5), "share": Float(0.6, 1.0)})


def configs(n, objective=lambda config: 0.0, seed=0):
    return [trial.config for trial in Study(SPACE, RandomSearch(), seed=seed).run(objective, n).trials]


def test_results_play_no_part():
    """Two opposite objectives, the same configurations."""
    assert configs(30, lambda c: c["rate"]) == configs(30, lambda c: -c["rate"])


def test_more_trials_begin_with_the_fewer():
    """The first 64 of 128 are the 64."""
    assert configs(128)[:64] == configs(64)


def test_a_real_parameter_takes_as_many_values_as_there_are_trials():
    """Whatever the number of the others."""
    assert len({config["rate"] for config in configs(64)}) == 64
    assert {config["depth"] for config in configs(64)} == {2, 3, 4, 5}


def test_a_legacy_stream_gives_the_numbers_of_a_plain_loop():
    """One draw a parameter in order: exp(uniform), whole, uniform."""

    class Legacy(np.random.RandomState):
        integers = np.random.RandomState.randint

    rng, loop = Legacy(7), np.random.RandomState(7)
    drawn = Study(SPACE, RandomSearch(), streams=lambda number: rng).run(lambda config: 0.0, 5)
    for trial in drawn.trials:
        rate = np.exp(loop.uniform(np.log(0.02), np.log(0.25)))
        assert list(trial.config.values()) == pytest.approx([rate, loop.randint(2, 6), loop.uniform(0.6, 1.0)])
