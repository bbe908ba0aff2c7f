"""A TPE suggestion beside Optuna's, and how it grows with the trials before it.

    pytest benchmarks/bench_search.py      both at 100 trials over 10 parameters, ours at 25 to 800 trials
    python benchmarks/bench_search.py      the two interleaved in several processes, the ratio of each pair

Both have the same history, the same settings and no objective; Optuna's trials live in memory.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

from implementations.search.space import Float, Space
from implementations.search.study import History, Study
from implementations.search.tpe import TPE

TRIALS, PARAMETERS = 100, 10
PROCESSES, ROUNDS = 5, 20
SPACE = Space({f"x{i}": Float(-1.0, 1.0) for i in range(PARAMETERS)})


def bowl(config):
    """Sum of squares."""
    return sum(value * value for value in config.values())


def filled(trials):
    """Random configurations with their losses."""
    study, rng = Study(SPACE, TPE()), np.random.default_rng(0)
    for _ in range(trials):
        config = SPACE.draw(rng)
        study.add(config, bowl(config))
    return study


def our_suggestion(study):
    """A function that suggests once more from the study's trials."""
    rng = np.random.default_rng(1)
    return lambda: study.sampler.propose(study.history, rng)


def optunas_suggestion(study):
    """The same trials in Optuna; each suggestion is told as failed, so that the history stays as it is."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    theirs = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    range_ = optuna.distributions.FloatDistribution(-1.0, 1.0)
    for trial in study.trials:
        theirs.add_trial(
            optuna.trial.create_trial(
                params=trial.config, distributions=dict.fromkeys(trial.config, range_), value=trial.value
            )
        )

    def suggest():
        trial = theirs.ask()
        for name in SPACE.parameters:
            trial.suggest_float(name, -1.0, 1.0)
        theirs.tell(trial, state=optuna.trial.TrialState.FAIL)

    return suggest


@pytest.mark.parametrize("make", [our_suggestion, optunas_suggestion], ids=["ours", "optuna"])
def test_suggestion(benchmark, make):
    """One suggestion after 100 trials over 10 parameters."""
    benchmark.group = "suggestion, 100 trials, 10 parameters"
    benchmark.pedantic(make(filled(TRIALS)), rounds=ROUNDS, warmup_rounds=2)


@pytest.mark.parametrize("trials", [25, 100, 400, 800])
def test_growth(benchmark, trials):
    """Our suggestion after ever more trials."""
    benchmark.group = "suggestion by trials, 10 parameters"
    benchmark.pedantic(our_suggestion(filled(trials)), rounds=ROUNDS, warmup_rounds=2)


def median_s(suggest):
    """Median time of a suggestion."""
    suggest()
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        suggest()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def one_process():
    """Ratio of the medians, Optuna's to ours, the two taking turns."""
    study = filled(TRIALS)
    ours, theirs = our_suggestion(study), optunas_suggestion(study)
    pairs = [(median_s(ours), median_s(theirs)) for _ in range(3)]
    print(*(f"{statistics.median(column):.6f}" for column in zip(*pairs)))


def main():
    """Print the ratio of each process and the growth of ours with the trials."""
    rows = []
    for _ in range(PROCESSES):
        done = subprocess.run([sys.executable, __file__, "--one"], capture_output=True, text=True, check=True)
        rows.append([float(text) for text in done.stdout.split()])
        ours, theirs = rows[-1]
        print(f"ours {1e3 * ours:.2f} ms   Optuna {1e3 * theirs:.2f} ms   ratio {theirs / ours:.2f}")
    print(f"median ratio of {PROCESSES} processes: {statistics.median(theirs / ours for ours, theirs in rows):.2f}")
    full = filled(800).trials
    for trials in (25, 100, 400, 800):
        taken = median_s(_suggestion_after(full[:trials]))
        print(f"{trials:4d} trials: {1e3 * taken:.2f} ms")


def _suggestion_after(trials):
    return lambda: TPE().propose(History(SPACE, trials), np.random.default_rng(0))


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    one_process() if "--one" in sys.argv else main()
