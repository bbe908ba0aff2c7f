"""Speed, growth and memory of the histogram booster beside LightGBM, one thread each, 100 trees of 31 leaves.

Run with `pytest benchmarks/bench_boosting.py -o python_files='bench_*.py'`; with -s it prints time ratio, growth and
bytes. Binning counts on both sides.
"""

import time
import tracemalloc

import numpy as np
import pytest

from implementations.boosting.exact import SortedColumns, cart
from implementations.boosting.histogram import HistogramBooster
from implementations.boosting.loss import LogLoss
from implementations.boosting.tree import Growth

FEATURES = 20
TREES = 100
ROWS = 200_000


def labelled(n, seed=0):
    """Rows of 20 normal features, and labels that lean on an interaction and a slope."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(float)


def ours(X, y, n_trees=TREES):
    """Fit the histogram booster as LightGBM's defaults would have it."""
    return HistogramBooster(LogLoss()).fit(X, y, n_trees)


def lightgbms(X, y, n_trees=TREES):
    """Fit LightGBM with its defaults, on one thread."""
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "num_leaves": 31, "num_threads": 1, "verbosity": -1, "force_col_wise": True}
    return lightgbm.train(settings, lightgbm.Dataset(X, y), n_trees)


def seconds(fit, *args):
    """Processor time of one fit."""
    start = time.process_time()
    fit(*args)
    return time.process_time() - start


@pytest.mark.parametrize("fit", [ours, lightgbms])
def test_fit(benchmark, fit):
    """One fit of 200,000 rows, three times."""
    X, y = labelled(ROWS)
    benchmark.group = f"{ROWS} rows x {FEATURES} features, {TREES} trees"
    benchmark.pedantic(fit, (X, y), rounds=3)


def test_time_beside_lightgbm():
    """At most six times the library's processor time, medians of three interleaved pairs."""
    X, y = labelled(ROWS)
    pairs = [(seconds(ours, X, y), seconds(lightgbms, X, y)) for _ in range(3)]
    mine, theirs = np.median(pairs, axis=0)
    print(f"\n{mine:.1f} s beside {theirs:.1f} s, {mine / theirs:.1f} times")
    assert mine <= 6 * theirs


def test_growth_with_rows():
    """Four times the rows take at most five times the time."""
    times = [min(seconds(ours, *labelled(n), 20) for _ in range(2)) for n in (50_000, 200_000)]
    print(f"\n{times[0]:.2f} s for 50,000 rows, {times[1]:.2f} s for 200,000: {times[1] / times[0]:.1f} times")
    assert times[1] <= 5 * times[0]


def test_memory_beside_the_binned_matrix():
    """While trees grow, what comes on top of the data is at most three times the binned matrix."""
    X, y = labelled(ROWS)
    booster = ours(X, y, 1)
    tracemalloc.start()
    booster.fit_more(2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"\n{peak / booster.binned.codes.nbytes:.2f} times the {booster.binned.codes.nbytes / 1e6:.0f} MB of bins")
    assert peak <= 3 * booster.binned.codes.nbytes


@pytest.mark.parametrize("max_depth", [3, 6, None])
def test_exact_tree(benchmark, max_depth):
    """One exact tree of 2,000 rows x 20 features."""
    X, y = labelled(2_000)
    columns, growth, weight = SortedColumns.of(X), Growth(max_depth=max_depth), np.ones(2_000)
    benchmark.group = "exact tree, 2,000 rows x 20 features"
    benchmark(cart, columns, y + X[:, 3], weight, growth)
