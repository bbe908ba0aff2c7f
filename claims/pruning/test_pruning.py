"""Pruning: the post's two studies, the rule, and what it saves and loses."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


@claim("pruning.table")
def test_the_posts_two_studies(evidence, prunings):
    """Both studies with real fits: best losses and the number of trials stopped."""
    unpruned, pruned = (prunings.post_study(pruned=pruned) for pruned in (False, True))
    evidence.figure("unpruned_logloss", unpruned.best)
    evidence.figure("pruned_logloss", pruned.best)
    evidence.figure("cost", pruned.best - unpruned.best)
    evidence.figure("killed", sum(step is not None for step in pruned.pruned_at))


@claim("pruning.wall-clock")
def test_the_time_of_the_two_studies(evidence, prunings):
    """Wall time of each, once."""
    evidence.recorded("without a pruner", prunings.post_study(pruned=False).duration_s, unit="s", group="pruning")
    evidence.recorded("median pruner", prunings.post_study(pruned=True).duration_s, unit="s", group="pruning")


@claim("pruning.kill-rate-not-speedup")
def test_killed_beside_saved(evidence, prunings):
    """Share of trials killed against share of work saved, one study with and one without pruner a seed."""
    killed, saved = zip(*(prunings.killed_and_saved(seed) for seed in range(evidence.given("seeds"))))
    evidence.above(killed, saved, paired=True)


@claim("pruning.percentages")
def test_the_percentages_follow(evidence):
    """Quotients of the printed counts and seconds."""
    killed, trials, start, end = (evidence.printed(name) for name in ("killed", "trials", "from_s", "to_s"))
    evidence.derived("killed_percent", lambda killed, trials: 100 * killed / trials, killed, trials)
    evidence.derived("saved_percent", lambda start, end: 100 * (start - end) / start, start, end)


@claim("pruning.cost-half-thousandth")
def test_what_pruning_costs(evidence, prunings):
    """Best loss with the pruner minus best loss without, seed by seed on three data sets."""
    costs = [
        prunings.study(seed, pruned=True, data=data).best.value
        - prunings.study(seed, pruned=False, data=data).best.value
        for data in prunings.DATA_SETS
        for seed in range(evidence.given("seeds"))
    ]
    evidence.above(costs, 0.0)


@claim("pruning.late-bloomer")
def test_some_condemned_trials_would_have_ended_well(evidence, prunings):
    """Share of condemned trials that end in the best quarter of their study, over studies of real, finished curves."""
    rng = np.random.default_rng(0)
    _, curves = prunings.pruned_classifier.table()
    shares = []
    for _ in range(evidence.given("studies")):
        chosen = curves[rng.choice(len(curves), evidence.given("trials"), replace=False)]
        stopped = prunings.condemned(chosen) >= 0
        final = chosen.min(axis=1)
        if stopped.any():
            shares.append((final[stopped] <= np.quantile(final, evidence.given("best_share"))).mean())
    evidence.above(shares, 0.0)


@claim(
    "pruning.cost-due-to-discard",
    expect="refuted",
    because="both studies end at the same trial with 0.1904 under the newest releases; nothing was discarded",
)
def test_whether_the_lost_setting_was_discarded(evidence, prunings):
    """Whether a stopped trial, grown to its end, is better than the best that the pruner let finish."""
    from scipy.stats import spearmanr

    unpruned, pruned = (prunings.post_study(pruned=pruned) for pruned in (False, True))
    discarded = [config for config, step in zip(pruned.configs, pruned.pruned_at) if step is not None]
    ends = [min(loss for _, loss in prunings.pruned_classifier.grown(config)) for config in discarded]
    evidence.keep("losses of the stopped trials, grown to the end", ends)
    evidence.identical(bool(min(ends) < pruned.best), True)
    finished = [*unpruned.configs, *discarded]
    interpolated = [min(loss for _, loss in prunings.landscape.classifier()(config)) for config in finished]
    evidence.figure("table_ranks", spearmanr([*unpruned.values, *ends], interpolated).statistic)


@claim(
    "pruning.warmup-two-reports",
    expect="refuted",
    because="trials are stopped at their first report; 81 trees, or step indices with 2, protect two reports",
)
def test_how_many_reports_the_warm_up_protects(evidence, prunings):
    """Reports before the earliest kill among random curves, by Optuna's pruner, for three ways to set it."""
    trials, warmup = evidence.given("trials"), evidence.given("warmup")
    in_trees = [int(step) for step in prunings.STEPS]
    evidence.figure("protected", _protected(warmup, in_trees, trials))
    evidence.figure("protected_by_81", _protected(evidence.given("warmup_in_trees"), in_trees, trials))
    evidence.figure("protected_with_step_indices", _protected(warmup, range(len(in_trees)), trials))


def _protected(warmup, steps, trials):
    states = [reports for _, reports, stopped in _optuna_curves(warmup, steps, trials) if stopped]
    return min(len(reports) for reports in states) - 1


def _optuna_curves(warmup, steps, trials):
    """Number, reports and fate of trials whose curves are random levels, falling; Optuna's median pruner."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = np.random.default_rng(0)
    study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_warmup_steps=warmup, n_startup_trials=5))
    found = []
    for number in range(trials):
        trial, level = study.ask(), rng.random()
        reports = []
        for i, step in enumerate(steps):
            reports.append(step)
            trial.report(level / (1 + i), step)
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, level)
        found.append((number, reports, len(reports) < len(steps) or study.trials[number].value is None))
    return found


@claim("pruning.warmup-is-the-reason")
def test_what_the_gap_is_made_of(evidence, prunings):
    """Work of killed trials up to their second report, against half of the gap between killed and saved."""
    reports = evidence.given("warmup_reports")
    shares, halves = [], []
    for seed in range(evidence.given("seeds")):
        study = prunings.study(seed, pruned=True)
        whole = sum(prunings.TREES * prunings.cost_per_tree(trial) for trial in study.trials)
        killed = prunings.pruned_trials(study)
        warm = sum(min(max(t.reports), prunings.STEPS[reports - 1]) * prunings.cost_per_tree(t) for t in killed)
        saved = sum((prunings.TREES - max(t.reports)) * prunings.cost_per_tree(t) for t in killed)
        shares.append(warm / whole)
        halves.append(0.5 * (len(killed) / len(study.trials) - saved / whole))
    evidence.above(shares, halves, paired=True)


@claim("pruning.saving-bound")
def test_the_most_that_can_be_saved(evidence):
    """Trials of equal cost of which twelve are hopeless from the start, with and without two protected reports."""
    from implementations.search.median_pruner import MedianPruner
    from implementations.search.space import Categorical, Space
    from implementations.search.study import Study

    trials, killed, reports = (evidence.given(name) for name in ("trials", "killed", "reports"))
    alive = trials - killed

    class InOrder:
        def propose(self, history, _rng):
            return {"hopeless": len(history.trials) >= alive}

    def grow(config):
        for step in range(reports):
            yield step, 1.0 + config["hopeless"]
        return 1.0

    def saved_percent(protected):
        pruner = MedianPruner(n_warmup_steps=protected)
        study = Study(Space({"hopeless": Categorical((False, True))}), InOrder(), pruner=pruner).grow(grow, trials)
        return 100 * (1 - sum(len(trial.reports) for trial in study.trials) / (trials * reports))

    evidence.figure("limit_percent", saved_percent(evidence.given("protected_reports")))
    evidence.figure("limit_percent_without", saved_percent(0))


@claim("pruning.startup-never-pruned")
def test_the_first_five_finish(evidence, prunings, canaries):
    """Trials complete before the first kill, in Optuna's study and in ours."""
    startup, trials = evidence.given("startup"), evidence.given("trials")
    fates = [stopped for _, _, stopped in _optuna_curves(0, prunings.STEPS, trials)]
    evidence.identical(fates.index(True) >= startup, True, label="Optuna")
    ours = [
        trial in prunings.pruned_trials(study) for study in [prunings.study(0, pruned=True)] for trial in study.trials
    ]
    evidence.identical(ours.index(True) >= startup, True, label="ours")
    evidence.figure("canary_interpolated", canaries.interpolated_loss())


@claim("pruning.median-rule")
def test_the_rule_written_out_is_optunas(evidence):
    """Best value so far against the median of complete trials at the step, for any curves."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    peers, reports = evidence.given("peers"), evidence.given("reports")
    curve = st.lists(st.integers(0, 40), min_size=reports, max_size=reports)

    @given(st.lists(curve, min_size=peers, max_size=peers + 3), curve)
    def check(others, shown):
        study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=peers))
        for other in others:
            values = dict(enumerate(map(float, other)))
            study.add_trial(optuna.trial.create_trial(value=0.0, intermediate_values=values))
        trial = study.ask()
        for step, value in enumerate(shown):
            trial.report(value, step)
            behind = min(shown[: step + 1]) > np.median([other[step] for other in others])
            assert trial.should_prune() == behind, f"step {step}"

    evidence.every(check)


@claim(
    "pruning.example-trial",
    expect="refuted",
    because="the median of 240 random settings at 40 trees is 0.339; the setting's own losses, 0.58 and 0.52, agree",
)
def test_a_slow_shallow_setting(evidence, prunings):
    """Losses of that setting on the post's data, and the median of the random settings at 40 trees."""
    config = {name: float(evidence.given(name)) for name in ("learning_rate", "subsample")}
    config["max_depth"] = int(evidence.given("max_depth"))
    curve = dict(prunings.pruned_classifier.grown(config, steps=prunings.STEPS[:2]))
    evidence.figure("loss_at_40", curve[40])
    evidence.figure("loss_at_80", curve[80])
    evidence.figure("median_at_40", np.median(prunings.pruned_classifier.table()[1][:, 0]))


@claim("pruning.two-lines-suffice")
def test_both_lines_are_needed(evidence, prunings, canaries):
    """Kills with report and check; none without the report, none where the answer is not acted on."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def kills(*, report, act):
        rng = np.random.default_rng(0)
        study = optuna.create_study(pruner=optuna.pruners.MedianPruner())

        def objective(trial):
            level = rng.random()
            for step in range(3):
                if report:
                    trial.report(level, step)
                if trial.should_prune() and act:
                    raise optuna.TrialPruned()
            return level

        study.optimize(objective, n_trials=evidence.given("trials"))
        return sum(trial.state is optuna.trial.TrialState.PRUNED for trial in study.trials)

    evidence.identical(kills(report=True, act=True) > 0, True, label="both lines")
    evidence.identical(kills(report=False, act=True), 0, label="no report")
    evidence.identical(kills(report=True, act=False), 0, label="no stop")
    config = {"learning_rate": 0.1, "max_depth": 2, "subsample": 0.8}
    evidence.figure("canary_loss_at_40", next(prunings.pruned_classifier.grown(config))[1])
    evidence.figure("canary_twelfth_trial", canaries.classifier_trial())
    evidence.figure("canary_fold_loss", canaries.fold_loss())


@claim("pruning.staged-growth-equals-full-fit")
def test_growing_is_fitting(evidence, prunings, canaries):
    """Predicted probabilities of a model grown in five steps and of one fit, without and with subsampling.

    Three curves of the table behind the interpolated problem are grown again beside them.
    """
    X_train, X_valid, y_train, _ = prunings.pruned_classifier.data()
    for subsample in evidence.given("subsamples"):
        config = {
            "learning_rate": float(evidence.given("learning_rate")),
            "max_depth": int(evidence.given("max_depth")),
            "subsample": float(subsample),
        }
        grown = prunings.pruned_classifier.model(config, prunings.STEPS[0])
        for step in prunings.STEPS:
            grown.set_params(n_estimators=step).fit(X_train, y_train)
        whole = prunings.pruned_classifier.model(config, prunings.TREES, warm_start=False).fit(X_train, y_train)
        evidence.identical(grown.predict_proba(X_valid), whole.predict_proba(X_valid), label=f"subsample {subsample:g}")
    evidence.figure("table_curves_again", canaries.table_curves_again(3))


@claim("pruning.grid-completes-all")
def test_every_candidate_is_fitted_whole(evidence, prunings):
    """Trees grown by GridSearchCV over three rates, the hopeless one included."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import GridSearchCV

    counted = []

    class Counting(GradientBoostingClassifier):
        def fit(self, X, y):
            super().fit(X, y)
            counted.append(len(self.estimators_))
            return self

    X_train, _, y_train, _ = prunings.pruned_classifier.data()
    trees, folds, rates = (evidence.given(name) for name in ("trees", "folds", "learning_rate"))
    axes = {"learning_rate": [float(rate) for rate in rates]}
    GridSearchCV(Counting(n_estimators=int(trees), max_depth=2), axes, cv=int(folds), refit=False).fit(X_train, y_train)
    evidence.identical(counted, [trees] * (folds * len(rates)))


@claim(
    "pruning.value-scales-with-trial-cost",
    expect="refuted",
    because="the printed saving turns three nights into 2.2; one night would take a saving of two thirds",
)
def test_what_the_printed_saving_makes_of_three_nights(evidence):
    """The printed seconds' ratio times three nights."""
    evidence.derived(
        "nights_with",
        lambda start, end, nights: nights * end / start,
        *(evidence.printed(name) for name in ("from_s", "to_s", "nights_without")),
    )


@claim("pruning.single-split-noise")
def test_false_kills_by_one_split_and_by_three_folds(evidence, false_kills):
    """Share of condemned trials that belong to the best quarter, one pair a data set."""
    shares = false_kills(evidence.given("data_sets"))
    evidence.above([one["one split"] for one in shares], [one["three folds"] for one in shares], paired=True)


@claim("pruning.advertised-equal-share")
def test_the_printed_times_contradict_the_advert(evidence):
    """The share of time saved by the printed seconds."""
    start, end = evidence.printed("from_s"), evidence.printed("to_s")
    evidence.derived("time_cut_percent", lambda start, end: 100 * (start - end) / start, start, end)
