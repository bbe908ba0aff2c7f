"""A TPE suggestion beside Optuna's, how it grows with the trials before it, and how many fits the conclusions take.

    pytest benchmarks/bench_search.py           both at 100 trials over 10 parameters, ours at 25 to 800 trials
    python benchmarks/bench_search.py           the two interleaved in several processes, the ratio of each pair
    python benchmarks/bench_search.py --fits    scores fitted here, and by the posts' scripts as printed

Both samplers have the same history, the same settings and no objective; Optuna's trials live in memory. Fits are
counted, not made: the interpolated problem answers in their place.
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
from implementations.search.study import Study
from implementations.search.tpe import TPE

TRIALS, PARAMETERS = 100, 10
GROWTH = (25, 100, 400, 800)
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


@pytest.mark.parametrize("trials", GROWTH)
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
    """Print the ratio of each process and the growth of both with the trials."""
    rows = []
    for _ in range(PROCESSES):
        done = subprocess.run([sys.executable, __file__, "--one"], capture_output=True, text=True, check=True)
        rows.append([float(text) for text in done.stdout.split()])
        ours, theirs = rows[-1]
        print(f"ours {1e3 * ours:.2f} ms   Optuna {1e3 * theirs:.2f} ms   ratio {theirs / ours:.2f}")
    print(f"median ratio of {PROCESSES} processes: {statistics.median(theirs / ours for ours, theirs in rows):.2f}")
    for trials in GROWTH:
        study = filled(trials)
        ours, theirs = median_s(our_suggestion(study)), median_s(optunas_suggestion(study))
        print(f"after {trials:4d} trials: ours {1e3 * ours:.2f} ms   Optuna {1e3 * theirs:.2f} ms")


# Scores that the scripts of the two posts fit, as printed: every budget anew, every seed anew, nothing shared.
PRINTED = {
    "grid and random search, 3 parameters": 64 + 64,
    "grid and random search, 6 parameters": 64 + 64,
    "random search, ten seeds": 10 * 64,
    "grid, written out and scikit-learn's": 2 * 64,
    "TPE and random search, five seeds, three budgets": 5 * 2 * (20 + 50 + 120),
    "forest surrogate and random search, three seeds": 3 * 2 * 50,
}
# The same scripts run for as many seeds and data sets as the claims of the default tiers conclude from.
MANY_SEEDS = {
    "grid and random search, 3 and 6 parameters, 20 seeds, 12 data sets": 12 * 2 * (64 + 20 * 64),
    "TPE and random search, 30 seeds, three budgets": 30 * 2 * (20 + 50 + 120),
}


def count_fits():
    """Print the scores that each real set-up fits here, beside those of the posts' scripts.

    A setting is fitted once a session, whichever search asks for it: samplers with the same seed share their first
    trials, and Optuna's random search and the surrogate post's draw from one and the same stream.
    """
    from claims.experiments import friedman, landscape, search_canaries, searches, surrogate_searches

    fitted = []

    def counted(config, seed=friedman.POST_SEED):
        fitted.append(config)
        return landscape.regressor(seed)(config)

    friedman.cross_validated = counted
    set_ups = [
        lambda: (searches.real_grid("three"), searches.real_random("three", 0)),
        lambda: (searches.real_grid("six"), searches.real_random("six", 0)),
        lambda: [searches.real_random("three", seed) for seed in range(10)],
        lambda: fitted.extend(searches.GRID_THREE.configs()),  # GridSearchCV fits for itself
        lambda: [surrogate_searches.real_optuna(f"{one}Sampler", s) for one in ("TPE", "Random") for s in range(5)],
        lambda: [
            run(s) for run in (surrogate_searches.real_forest, surrogate_searches.real_box_random) for s in range(3)
        ],
    ]
    print("scores fitted, three fits each              posts' scripts    here")
    for (name, theirs), run in zip(PRINTED.items(), set_ups, strict=True):
        before = len(fitted)
        run()
        print(f"{name:52}{theirs:6d}  {len(fitted) - before:6d}")
    print(f"{'all of them':52}{sum(PRINTED.values()):6d}  {len(fitted):6d}")
    fitted.clear()
    friedman._score.cache_clear()
    search_canaries.six_parameter_score()
    search_canaries.regressor_trial()
    search_canaries.table_rows_again(6)
    for name, theirs in MANY_SEEDS.items():
        print(f"{name:70}{theirs:6d}")
    table = sum(len(friedman.table(data)[1]) for data in searches.DATA_SETS)
    print(f"{'the table behind all of them, and the canaries':70}{table + len(fitted):6d}")


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    if "--one" in sys.argv:
        one_process()
    elif "--fits" in sys.argv:
        count_fits()
    else:
        main()
