"""How trees grow, and how many leaves they have."""

import warnings

import numpy as np

from runtwice import claim


@claim("tuning.leafwise-figures")
def test_losses_by_order_of_growth(evidence, growth_losses):
    """Mean test loss of a hundred trees of sixteen leaves, grown leaf-wise and depth-wise."""
    runs = [one["clusters, 100 trees"] for one in growth_losses(evidence.given("seeds"))]
    evidence.figure("loss_leafwise", np.mean([one["lossguide"] for one in runs]))
    evidence.figure("loss_depthwise", np.mean([one["depthwise"] for one in runs]))


@claim("tuning.leafwise-wins")
def test_leaf_wise_generalises_better(evidence, growth_losses):
    """Test loss of depth-wise trees above that of leaf-wise ones of the same size, by kind of data and tree count."""
    runs = growth_losses(evidence.given("seeds"))
    for name in runs[0]:
        level, leaf = ([one[name][order] for one in runs] for order in ("depthwise", "lossguide"))
        evidence.above(level, leaf, paired=True, label=name)


@claim(
    "tuning.num-leaves-danger",
    expect="refuted",
    because="by LightGBM's own minimum of 20 rows a leaf its default loses nothing, -0.017 [-0.032, -0.002]",
)
def test_the_default_overfits_small_data(evidence):
    """Test loss of LightGBM's default leaves above that of leaves tied to a depth of 3, and no warning given."""
    import lightgbm

    from claims.experiments.generated_sets import log_loss, two_classes, with_flips

    depth = int(evidence.given("depth"))
    for rows in evidence.given("rows"):
        losses = {"default": [], "tied": []}
        for seed in range(evidence.given("seeds")):
            clean, test = two_classes(seed, (rows, 2000), flipped=0.0)
            train = with_flips(clean, 0.2, seed)
            for name, limits in (("default", {}), ("tied", {"max_depth": depth, "num_leaves": 2**depth - 1})):
                fixed = {"objective": "binary", "num_threads": 1, "verbosity": -1, "force_col_wise": True}
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # silently: a warning would be an error here
                    booster = lightgbm.train({**fixed, **limits}, lightgbm.Dataset(train.X, train.y), 100)
                losses[name].append(log_loss(test.y, booster.predict(test.X)))
        evidence.above(losses["default"], losses["tied"], paired=True, label=f"{rows} rows")
