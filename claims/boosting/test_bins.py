"""Histograms: what LightGBM does with bins and leaves, and what the number of bins buys."""

import numpy as np

from runtwice import claim


@claim("boosting.max-bin-figures")
def test_losses_at_15_and_1023_bins(evidence, bin_losses):
    """Mean test loss of LightGBM on clusters at both numbers of bins."""
    runs = [one["clusters"] for one in bin_losses(12)]
    for bins in evidence.given("max_bins"):
        evidence.figure(f"loss_max_bin_{bins}", np.mean([one[str(bins)] for one in runs]))


@claim("boosting.coarser-bins-win")
def test_coarser_bins_can_win(evidence, bin_losses):
    """Test loss at 1,023 bins above that at 15, on clusters, a pair a data set."""
    runs = [one["clusters"] for one in bin_losses(evidence.given("seeds"))]
    evidence.above([one["1023"] for one in runs], [one["15"] for one in runs], paired=True)


@claim(
    "boosting.bins-buy-variance",
    expect="refuted",
    because="refits vary less at 1,023 bins than at 15, and on ripples the finer bins have the lower loss by 0.16",
)
def test_finer_bins_buy_no_accuracy(evidence, bin_losses, sweep):
    """Variance of refits at 1,023 bins above that at 15, and test loss above it too, on three kinds of data."""
    from claims.experiments import bin_counts

    seeds = evidence.given("seeds")
    predictions = sweep(bin_counts.bin_predictions, range(seeds))
    fine, coarse = (bin_counts.variances(predictions, bins) for bins in (1023, 15))
    evidence.above(fine, coarse, paired=True, label="variance")
    for name in evidence.given("sets"):
        runs = [one[name] for one in bin_losses(seeds)]
        evidence.above([one["1023"] for one in runs], [one["15"] for one in runs], paired=True, label=f"loss, {name}")


@claim(
    "boosting.max-bin-generous-default",
    expect="refuted",
    because="the defaults are 255 bins (LightGBM, scikit-learn) and 256 (XGBoost)",
)
def test_1023_is_no_default(evidence):
    """The number of bins that each library takes unasked."""
    import inspect
    import json

    import lightgbm
    import xgboost
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    text = lightgbm.train({"verbosity": -1, "num_threads": 1}, lightgbm.Dataset(X, y), 1).model_to_string()
    config = json.loads(xgboost.train({"nthread": 1}, xgboost.DMatrix(X, y), 1).save_config())
    defaults = {
        "LightGBM": int(text.split("[max_bin: ")[1].split("]")[0]),
        "XGBoost": int(_find(config, "max_bin")),
        "scikit-learn": inspect.signature(HistGradientBoostingClassifier).parameters["max_bins"].default,
    }
    evidence.settings(**defaults)
    evidence.figure("max_bin_compared", max(defaults.values()))


def _find(tree, key):
    if not isinstance(tree, dict):
        return None
    return tree[key] if key in tree else next(filter(None, (_find(branch, key) for branch in tree.values())), None)


@claim("boosting.bins-cost-memory")
def test_memory_doubles_at_256_bins(evidence, tmp_path):
    """Size of LightGBM's saved data set, and of our codes, at 1,023 bins over that at 255."""
    import lightgbm

    from implementations.boosting.binning import find_bins

    X = np.random.default_rng(0).normal(size=(evidence.given("rows"), evidence.given("features")))
    sizes, ours = [], []
    for bins in evidence.given("max_bins"):
        path = tmp_path / f"{bins}.bin"
        data = lightgbm.Dataset(X, X[:, 0], params={"max_bin": int(bins), "verbosity": -1, "num_threads": 1})
        data.construct().save_binary(str(path))
        sizes.append(path.stat().st_size)
        ours.append(find_bins(X, int(bins)).codes(X).nbytes)
    evidence.identical(ours[1] / ours[0], 2.0, label="our codes")
    evidence.identical(sizes[1] / sizes[0], 2.0, label="LightGBM's file")
    evidence.figure("memory_ratio", sizes[1] / sizes[0])


def _lightgbms_tree(X, y, **settings):
    import lightgbm

    fixed = {
        "min_data_in_bin": 1,
        "min_data_in_leaf": 1,
        "num_threads": 1,
        "verbosity": -1,
        "min_sum_hessian_in_leaf": 5,
    }
    settings = {**fixed, **settings}
    params = {key: settings[key] for key in ("min_data_in_bin", "max_bin", "verbosity") if key in settings}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, y, params=params), 1)
    return booster, booster.trees_to_dataframe()


@claim("boosting.histogram-binning")
def test_splits_come_from_bins(evidence):
    """With a bin for each value LightGBM's tree is the exact one; with few bins its thresholds are among the bins'."""
    from claims.experiments import canaries
    from claims.experiments.generated_sets import surface
    from implementations.boosting.exact import SortedColumns, cart
    from implementations.boosting.tree import Growth

    (part,) = surface(0, (evidence.given("rows"),))
    X = np.round(10 * part.X)
    booster, dump = _lightgbms_tree(X, part.y, max_depth=3, num_leaves=8, learning_rate=1.0)
    exact = cart(SortedColumns.of(X), part.y - part.y.mean(), np.ones(len(part)), Growth(max_depth=3, min_leaf=5))
    gains = np.sort(dump.split_gain.dropna().to_numpy())
    evidence.identical(gains, np.sort(exact.gain[exact.gain > 0]), label="gains")
    evidence.identical(booster.predict(X), part.y.mean() + exact.predict(X), label="predictions")
    evidence.figure("canary_lightgbm", canaries.searched_loss("lightgbm"))
    evidence.figure("canary_stopped", canaries.stopped_error("lightgbm"))
    for bins in (15, 1023):
        evidence.figure(f"canary_bins_{bins}", canaries.loss_at(bins))
    few = int(evidence.given("few_bins"))
    _, coarse = _lightgbms_tree(part.X, part.y, max_bin=few, num_leaves=31)
    thresholds = coarse.groupby("split_feature").threshold.nunique()
    evidence.identical(bool((thresholds < few).all()), True, label="thresholds fewer than bins")


@claim("boosting.leafwise-growth")
def test_the_best_open_leaf_is_split(evidence):
    """LightGBM's splits in the order they were made, against the largest gain among the leaves open at the time."""
    from claims.experiments.generated_sets import surface
    from implementations.boosting.histogram import HistogramBooster
    from implementations.boosting.loss import SquaredError
    from implementations.boosting.tree import Growth

    leaves = int(evidence.given("leaves"))
    for seed in range(evidence.given("seeds")):
        (part,) = surface(seed, (evidence.given("rows"),))
        X = np.round(20 * part.X)
        booster, dump = _lightgbms_tree(X, part.y, num_leaves=leaves, learning_rate=1.0)
        growth = Growth(max_depth=None, min_leaf=5, min_curvature=5.0)
        ours = HistogramBooster(
            SquaredError(), learning_rate=1.0, growth=growth, num_leaves=leaves, min_rows_in_bin=1
        ).fit(X, part.y, 1)
        evidence.identical(booster.predict(X), ours.raw(X), label=f"our leaf-wise tree, seed {seed}")
        # S0, S1, … number the splits in the order they were made
        splits = dump[dump.split_gain.notna()].set_index("node_index")
        made = sorted(splits.index, key=lambda name: int(name.split("-S")[1]))
        waiting = [made[0]]
        for name in made:
            evidence.identical(
                float(splits.split_gain[name]), float(splits.split_gain[waiting].max()), label=f"{name}, seed {seed}"
            )
            waiting.remove(name)
            waiting += [child for child in splits.loc[name, ["left_child", "right_child"]] if child in splits.index]
