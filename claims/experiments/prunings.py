"""Studies of the pruning post: its own, with Optuna and real fits, and many-seed ones on the interpolated curves."""

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from claims.experiments import landscape, pruned_classifier
from implementations.search.median_pruner import MedianPruner
from implementations.search.random_search import RandomSearch
from implementations.search.space import Float, Int, Space
from implementations.search.study import History, State, Study, Trial
from implementations.search.tpe import TPE

DATA_SETS = (pruned_classifier.POST_SEED, *pruned_classifier.OTHER_SEEDS)
STEPS = pruned_classifier.STEPS
TREES = STEPS[-1]
# Of the problem that judges single splits: rows that train and validate; the others are fresh.
OWN_ROWS = 1000
SPACE = Space(
    {
        "learning_rate": Float(0.01, 0.3, log=True),
        "max_depth": Int(2, 5),
        "subsample": Float(0.6, 1.0),
    }
)


@dataclass(frozen=True)
class PostStudy:
    """One of the post's two studies.

    Attributes:
        best: Smallest loss of a complete trial.
        configs: Of all trials.
        values: Losses of all trials; of a pruned one the last that it reported.
        pruned_at: Step of the last report of each pruned trial, None for complete ones.
        duration_s: Wall time of the study.
    """

    best: float
    configs: list[dict[str, Any]]
    values: list[float]
    pruned_at: list[int | None]
    duration_s: float


@cache
def post_study(*, pruned: bool) -> PostStudy:
    """Twenty trials of Optuna's TPE, seed 0, every loss a fit, as the post has them."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    median = optuna.pruners.MedianPruner(n_warmup_steps=2, n_startup_trials=5)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=0), pruner=median if pruned else optuna.pruners.NopPruner()
    )

    def objective(trial: Any) -> float:
        config = {
            "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
            "max_depth": trial.suggest_int("max_depth", 2, 5),
            "subsample": trial.suggest_float("subsample", 0.6, 1.0),
        }
        losses = []
        for step, loss in pruned_classifier.grown(config):
            losses.append(loss)
            trial.report(loss, step)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return min(losses)

    start = time.perf_counter()
    study.optimize(objective, n_trials=20)
    duration_s = time.perf_counter() - start
    stopped = optuna.trial.TrialState.PRUNED
    return PostStudy(
        study.best_value,
        [trial.params for trial in study.trials],
        [float(trial.value) for trial in study.trials],
        [trial.last_step if trial.state is stopped else None for trial in study.trials],
        duration_s,
    )


def smallest(config: Mapping[str, Any], data: int) -> Generator[tuple[int, float], None, float]:
    """The interpolated curve, and the smallest loss on it as the value of the trial, as in the post."""
    losses = []
    for step, loss in landscape.classifier(data)(config):
        losses.append(loss)
        yield step, loss
    return min(losses)


@cache
def study(
    seed: int, *, pruned: bool, data: int = pruned_classifier.POST_SEED, trials: int = 20, method: str = "tpe"
) -> Study:
    """One study on the interpolated curves, with our TPE (or random search) and the post's pruner or none."""
    pruner = MedianPruner(n_startup_trials=5, n_warmup_steps=2) if pruned else None
    sampler = TPE() if method == "tpe" else RandomSearch()
    return Study(SPACE, sampler, seed=seed, pruner=pruner).grow(lambda config: smallest(config, data), trials)


def cost_per_tree(trial: Trial) -> float:
    """Work of one tree in units of a leaf, 2^depth."""
    return float(2 ** trial.config["max_depth"])


def work(trial: Trial) -> float:
    """Work a trial did: trees grown times the cost of one."""
    return max(trial.reports) * cost_per_tree(trial)


def pruned_trials(of: Study) -> list[Trial]:
    """The trials that the pruner stopped."""
    return of.history.having(State.PRUNED)


def killed_and_saved(seed: int, data: int = pruned_classifier.POST_SEED) -> tuple[float, float]:
    """Share of trials killed, and share of work saved beside the study without a pruner."""
    without, with_pruner = (study(seed, pruned=pruned, data=data) for pruned in (False, True))
    saved = 1 - sum(map(work, with_pruner.trials)) / sum(map(work, without.trials))
    return len(pruned_trials(with_pruner)) / len(with_pruner.trials), saved


def condemned(curves: np.ndarray, pruner: MedianPruner | None = None) -> np.ndarray:
    """Which curves the median rule would stop, each judged against the earlier ones that it let finish.

    Args:
        curves: Losses at the steps, in the order of the trials, shape (trials, steps).
        pruner: The post's by default.

    Returns:
        Index of the report at which each trial is stopped, or -1, shape (trials,).
    """
    pruner = pruner or MedianPruner(n_startup_trials=5, n_warmup_steps=2)
    trials: list[Trial] = []
    stopped = np.full(len(curves), -1)
    for number, curve in enumerate(curves):
        trial = Trial(number, {})
        trials.append(trial)
        for i, loss in enumerate(curve):
            trial.reports[STEPS[i] if len(curve) == len(STEPS) else 40 * (i + 1)] = float(loss)
            if pruner.should_stop(History(SPACE, trials), trial):
                trial.state, stopped[number] = State.PRUNED, i
                break
        else:
            trial.state, trial.value = State.COMPLETE, float(curve.min())
    return stopped


def false_kills(seed: int) -> dict[str, float]:
    """Share of condemned trials that belong to the best quarter, by the signal that condemned them.

    A smaller problem of the same kind: fourteen random settings of a classifier of 100 trees, grown by 20; losses from
    one split of 333 rows, from three folds, and from 3,000 rows of the same distribution, which say who is best: by the
    average of the three models of a setting, lest the one that the split itself has trained decide. Each share is
    averaged over fifty orders of the trials.
    """
    rng = np.random.default_rng(seed)
    configs = [SPACE.draw(rng) for _ in range(14)]
    grown = np.array([[fold_losses(config, seed, fold) for fold in range(3)] for config in configs])
    # four axes: trials, folds, one fold or fresh rows, steps
    truth = grown[:, :, 1].mean(axis=1).min(axis=1)
    best = truth <= np.quantile(truth, 0.25)
    signals = {"one split": grown[:, 0, 0], "three folds": grown[:, :, 0].mean(axis=1)}
    orders = [rng.permutation(len(configs)) for _ in range(50)]
    return {name: _false_share(losses, best, orders) for name, losses in signals.items()}


@cache
def _folds(seed: int) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """Rows and labels, and the three folds of the first thousand of them."""
    from sklearn import datasets, model_selection

    X, y = datasets.make_classification(4000, random_state=seed, **pruned_classifier.PROBLEM)
    folds = model_selection.StratifiedKFold(3, shuffle=True, random_state=seed)
    return X, y, list(folds.split(X[:OWN_ROWS], y[:OWN_ROWS]))


def fold_losses(config: Mapping[str, Any], seed: int = 0, fold: int = 0) -> list[list[float]]:
    """Losses of a setting along its growth, (2, steps): on the rows of one fold, and on the 3,000 fresh ones."""
    from sklearn import config_context
    from sklearn.metrics import log_loss

    X, y, folds = _folds(seed)
    train, test = folds[fold]
    model = pruned_classifier.model(config, 20)
    rows: list[list[float]] = [[], []]
    with config_context(skip_parameter_validation=True):
        for trees in range(20, 101, 20):
            model.set_params(n_estimators=trees)
            model.fit(X[train], y[train])
            for row, part in zip(rows, (test, slice(OWN_ROWS, None))):
                row.append(float(log_loss(y[part], model.predict_proba(X[part])[:, 1])))
    return rows


def _false_share(losses: np.ndarray, best: np.ndarray, orders: list[np.ndarray]) -> float:
    shares = []
    for order in orders:
        stopped = condemned(losses[order]) >= 0
        if stopped.any():
            shares.append(float(best[order][stopped].mean()))
    return float(np.mean(shares))
