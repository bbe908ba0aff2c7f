import json
import math
import sys

import numpy as np
import pytest

from runtwice.errors import EvidenceError
from runtwice.sweep import Sweep, discard, kept_results, sweeps_path

CALLS = []


def square(seed):
    CALLS.append(seed)
    return {"square": seed * seed, "pair": (seed, seed)}


def not_a_number(seed):
    return math.nan


def an_object(seed):
    return object()


def a_failure(seed):
    raise ValueError("JSON is not to blame")


def crash_at_three(seed):
    if seed == 3:
        raise RuntimeError("three")
    return seed


class Group:
    @staticmethod
    def method(seed):
        return seed


@pytest.fixture
def calls():
    """The seeds for which `square` was called."""
    CALLS.clear()
    return CALLS


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "a[1].json"


def a_sweep(ledger, **more):
    """A sweep that keeps its results beside `ledger` and starts from what is kept there."""
    return Sweep(ledger.parent, sweeps_path(ledger), kept_results(ledger), **more)


def test_results_come_in_the_order_of_the_seeds(calls, tmp_path):
    """One a seed, as JSON gives them back."""
    assert Sweep(tmp_path)(square, [2, 1]) == [{"square": 4, "pair": [2, 2]}, {"square": 1, "pair": [1, 1]}]


def test_a_resumed_sweep_runs_only_what_is_missing(calls, ledger):
    """Seeds that were finished before a kill are taken from beside the ledger."""
    first = a_sweep(ledger)(square, [1, 2])
    again = a_sweep(ledger)(square, [1, 2, 3])
    assert again[:2] == first
    assert calls == [1, 2, 3]


def test_a_crash_keeps_the_seeds_before_it(ledger):
    """A seed is written as soon as it is there."""
    with pytest.raises(RuntimeError, match="three"):
        a_sweep(ledger)(crash_at_three, [1, 2, 3, 4])
    assert sorted(seed for _, seed in kept_results(ledger)) == ["1", "2"]


def test_a_line_that_a_kill_cut_off_costs_only_its_own_seed(calls, ledger):
    """What is written after it stands on a line of its own."""
    a_sweep(ledger)(square, [1, 2])
    path = sweeps_path(ledger)
    path.write_bytes(path.read_bytes()[:-5])
    a_sweep(ledger)(square, [1, 2, 3])
    calls.clear()
    a_sweep(ledger)(square, [1, 2, 3])
    assert calls == []


def test_results_of_changed_code_do_not_count(calls, ledger):
    """The key holds a hash of the function's module."""
    a_sweep(ledger)(square, [1])
    path = sweeps_path(ledger)
    path.write_text(path.read_text().replace("@", "@0"))
    a_sweep(ledger)(square, [1])
    assert calls == [1, 1]


def test_foreign_lines_are_passed_over(ledger):
    """A file that something else wrote into is still read."""
    sweeps_path(ledger).write_text('5\n{"a": 1}\nnot json\n[]\n')
    assert kept_results(ledger) == {}


def test_workers_keep_files_of_their_own(calls, ledger):
    """Under xdist each worker writes beside the ledger, and all of it is read; a complete run removes it."""
    for worker in ("gw0", "gw1"):
        Sweep(ledger.parent, sweeps_path(ledger, worker))(square, [int(worker[-1])])
    assert len(kept_results(ledger)) == 2
    discard(ledger)
    assert list(ledger.parent.iterdir()) == []


def test_seeds_of_numpy_are_whole_numbers(calls, ledger):
    """An array of seeds is as good as a list."""
    assert len(a_sweep(ledger)(square, np.arange(3))) == 3
    assert json.loads(sweeps_path(ledger).read_text().split("\n")[1])["seed"] == 0


@pytest.mark.parametrize("seeds", [[0, 0], [1, 2, 1]])
def test_a_seed_counts_once(tmp_path, seeds):
    """The same seed twice would pass for two observations."""
    with pytest.raises(EvidenceError, match="comes twice"):
        Sweep(tmp_path)(square, seeds)


def test_a_fraction_is_no_seed(tmp_path):
    """Seeds are whole numbers."""
    with pytest.raises(TypeError):
        Sweep(tmp_path)(square, [0.5])


@pytest.mark.parametrize("function", [lambda seed: seed, Group.method, Group().method, print, math.sqrt, 5])
def test_only_a_function_of_a_module_can_be_resumed(tmp_path, function):
    """What has no place of its own in a file cannot be found again, or sent elsewhere."""
    with pytest.raises(EvidenceError, match="only a module-level function"):
        Sweep(tmp_path)(function, [1])


@pytest.mark.parametrize("function", [not_a_number, an_object])
def test_a_result_must_be_plain(tmp_path, function):
    """NaN and objects cannot be kept; the message names the seed."""
    with pytest.raises(EvidenceError, match=rf"sweep\({function.__name__}\), seed 7: .*; return plain values"):
        Sweep(tmp_path)(function, [7])


def test_an_experiment_that_fails_fails_as_itself(tmp_path):
    """Its exception is not taken for a result that cannot be kept."""
    with pytest.raises(ValueError, match="not to blame"):
        Sweep(tmp_path)(a_failure, [1])


def test_progress_is_told_once_a_seed(calls, tmp_path):
    """The bar has as many steps as seeds, kept ones included."""
    from contextlib import contextmanager

    steps = []

    @contextmanager
    def show(what, total):
        steps.append((what, total))
        yield lambda: steps.append("step")

    Sweep(tmp_path, progress=show)(square, [1, 2])
    assert steps == [("square", 2), "step", "step"]
    assert sys.modules[__name__].square is square


def test_a_first_seed_shifts_all_of_them(calls, ledger):
    """And what was kept of other seeds is not taken for theirs."""
    a_sweep(ledger)(square, [1, 2])
    calls.clear()
    assert [one["square"] for one in a_sweep(ledger, first_seed=1)(square, [1, 2])] == [4, 9]
    assert calls == [3]


def test_a_posts_own_seeds_stay(calls, ledger):
    """Whatever the run's first seed is: the printed figures are those of these seeds."""
    assert [one["square"] for one in a_sweep(ledger, first_seed=1)(square, [1, 2], shifted=False)] == [1, 4]
