"""The slow search claims at their smallest: figures in which an upgrade shows without the slow tier.

Each has the parts of the experiment it stands for: the generated rows, the folds, the model with the knobs that draw at
random, and, for the studies, the first trials that the sampler chose by itself. The last three watch the committed
tables: whether rows of theirs still come out as they were written, and what is interpolated between them.
"""

from __future__ import annotations

from itertools import islice

from claims.experiments import friedman, landscape, pruned_classifier, prunings, surrogate_searches, toys

# Ten of a study's trials are drawn at random, as random search would; TPE chooses the eleventh and the twelfth.
FIRST_CHOSEN = 12
SIX = {
    "learning_rate": 0.1,
    "max_depth": 4,
    "subsample": 0.7,
    "max_features": 0.5,
    "min_samples_leaf": 8,
    "min_samples_split": 16,
}
THREE = {"learning_rate": 0.1, "max_depth": 2, "subsample": 0.8}


def six_parameter_score() -> float:
    """Mean R² of one setting of all six parameters of the grid post."""
    return friedman.score(SIX)


def regressor_trial() -> float:
    """Score of the first trials that TPE chose in the surrogate post's study of seed 0: the last of them."""
    return surrogate_searches.real_scores("TPESampler", 0, FIRST_CHOSEN)[-1]


def classifier_trial() -> float:
    """The same for the pruning post's study, every trial grown to 40 trees only."""
    study = toys.optuna_study("TPESampler", 0)
    study.optimize(
        lambda trial: next(pruned_classifier.grown(toys.suggest(trial, prunings.SPACE)))[1], n_trials=FIRST_CHOSEN
    )
    return float(study.trials[-1].value)


def fold_loss() -> float:
    """Loss of a classifier of 100 trees on the first fold of the first data set that judges single splits."""
    return prunings.fold_losses(THREE)[0][-1]


def table_rows_again(rows: int) -> int:
    """How many of the first rows of the regressor's table, scored again, are what the table says."""
    _, written = friedman.table()
    again = (friedman.score(config) for config in islice(friedman.draws(friedman.POST_SEED), rows))
    return sum(f"{score:.6f}" == f"{old:.6f}" for score, old in zip(again, written))


def table_curves_again(rows: int) -> int:
    """How many of the first curves of the classifier's table, grown again, are what the table says."""
    _, written = pruned_classifier.table()
    again = (
        [f"{loss:.6f}" for _, loss in pruned_classifier.grown(config)]
        for config in islice(pruned_classifier.draws(pruned_classifier.POST_SEED), rows)
    )
    return sum(curve == [f"{loss:.6f}" for loss in old] for curve, old in zip(again, written))


def interpolated_score() -> float:
    """What the interpolated regressor says of one setting; it rests on how SciPy found the kernel."""
    return landscape.regressor()(SIX)


def interpolated_loss() -> float:
    """What the interpolated classifier says of one setting at 40 trees."""
    return next(landscape.classifier()(THREE))[1]
