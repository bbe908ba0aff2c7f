"""A worthless category, encoded by the target."""

import numpy as np

from runtwice import claim


@claim("boosting.target-encoding-figures")
def test_losses_by_encoding(evidence, encoding_losses):
    """Test loss with the naive column above that with the out-of-fold one, a pair a data set."""
    runs = encoding_losses(evidence.given("seeds"))
    test = {name: [one[name]["test"] for one in runs] for name in ("naive", "out of fold", "drop")}
    for figure, name in (("naive", "naive"), ("oof", "out of fold"), ("drop", "drop")):
        evidence.figure(f"test_loss_{figure}", np.mean(test[name]))
    evidence.above(test["naive"], test["out of fold"], paired=True)


@claim("boosting.naive-encoding-leaks")
def test_the_naive_column_leaks(evidence, encoding_losses):
    """Test loss with the column over that without it, where the training loss fell: naive against out-of-fold."""
    for seed, one in enumerate(encoding_losses(evidence.given("seeds"))):
        ratios = {name: one[name]["test"] / one["drop"]["test"] for name in ("naive", "out of fold")}
        evidence.procedure(
            wrong=ratios["naive"],
            right=ratios["out of fold"],
            correct=lambda ratio: ratio < 1.1,
            label=f"seed {seed}, training loss {one['naive']['train']:.3f} for {one['drop']['train']:.3f}",
        )


@claim(
    "boosting.oof-costs-something",
    expect="within noise",
    because="0.0009 better than dropping it, [-0.0029, 0.0010], where the post has 0.0359 worse",
)
def test_out_of_fold_costs_something(evidence, encoding_losses):
    """Test loss with the out-of-fold column above that without it, a pair a data set."""
    runs = encoding_losses(evidence.given("seeds"))
    losses = {name: [one[name]["test"] for one in runs] for name in ("out of fold", "drop")}
    evidence.figure("test_loss_oof", np.mean(losses["out of fold"]))
    evidence.figure("test_loss_drop", np.mean(losses["drop"]))
    evidence.above(losses["out of fold"], losses["drop"], paired=True)


@claim("boosting.drop-beats-encodings")
def test_dropping_beats_every_encoding(evidence, encoding_losses, sweep):
    """Test loss with each encoding, and with CatBoost's own, above that without the column."""
    from claims.experiments import encoded_columns

    seeds = evidence.given("seeds")
    runs, others = encoding_losses(seeds), sweep(encoded_columns.other_encoding_losses, range(seeds))
    dropped = [one["drop"]["test"] for one in runs]
    for name in ("naive", "out of fold"):
        evidence.above([one[name]["test"] for one in runs], dropped, paired=True, label=name)
    for name in ("smoothed", "leave one out", "ordered"):
        evidence.above([one[name] for one in others], dropped, paired=True, label=name)
    own, without = ([one[name] for one in others] for name in ("CatBoost", "CatBoost without"))
    evidence.above(own, without, paired=True, label="CatBoost's own")


@claim("boosting.ordered-target-statistics")
def test_a_row_is_not_seen_by_its_own_number(evidence):
    """Numbers that move when a row's target is turned, naive and ordered; and CatBoost on labels that mean nothing."""
    from claims.experiments.encoded_columns import catboost_classifier
    from claims.experiments.generated_sets import log_loss
    from implementations.boosting.ordered_target import naive, ordered

    rng = np.random.default_rng(0)
    n = evidence.given("rows")
    category, y, order = rng.integers(0, evidence.given("levels"), n), rng.integers(0, 2, n) * 1.0, rng.permutation(n)
    place = np.argsort(order)
    moved = {"naive": 0, "ordered": 0}
    for i in range(n):
        turned = y.copy()
        turned[i] = 1 - y[i]
        moved["naive"] += naive(category, y).training[i] != naive(category, turned).training[i]
        before, after = (ordered(category, one, prior=0.5, order=order).training for one in (y, turned))
        moved["ordered"] += bool((before != after)[place <= place[i]].any())
    evidence.figure("naive_moves", moved["naive"] / n)
    evidence.figure("ordered_moves", moved["ordered"] / n)
    levels, label = rng.integers(0, 500, 5000).astype(str), rng.integers(0, 2, 5000)
    model = catboost_classifier(100).fit(levels[:1000, None].tolist(), label[:1000], cat_features=[0])
    answers = model.predict_proba(levels[1000:, None].tolist())[:, 1]
    evidence.figure("catboost_gain_over_prior", log_loss(label[1000:], answers) - np.log(2))
