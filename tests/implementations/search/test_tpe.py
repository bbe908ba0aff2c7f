"""TPE trial by trial against Optuna's sampler, the split against a slow reference, and conditions."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.search.parzen import Bandwidths
from implementations.search.space import Categorical, Float, Int, Space, When
from implementations.search.study import History, State, Study, Trial
from implementations.search.tpe import TPE, best_tenth, split

SPACE = Space(
    {
        "category": Categorical(("a", "b", "c")),
        "log": Float(1e-4, 1.0, log=True),
        "units": Int(1, 64, log=True),
        "whole": Int(2, 9),
        "x": Float(-2.0, 3.0),
        "y": Float(0.0, 2.0, step=0.25),
    }
)


def loss(config):
    """A smooth bowl over all six parameters."""
    return (
        {"a": 0.0, "b": 0.4, "c": 1.0}[config["category"]]
        + (math.log10(config["log"]) + 2) ** 2
        + abs(math.log2(config["units"]) - 3)
        + 0.1 * abs(config["whole"] - 6)
        + (config["x"] - 1) ** 2
        + config["y"]
    )


def optunas_study(n_trials, *, seed=3, **kwargs):
    """Optuna's TPE on the same space and loss, its random start-up included."""
    optuna = pytest.importorskip("optuna", minversion="5.0")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def suggest(trial):
        config = {}
        for name, one in SPACE.parameters.items():
            if isinstance(one, Categorical):
                config[name] = trial.suggest_categorical(name, one.choices)
            elif isinstance(one, Int):
                config[name] = trial.suggest_int(name, one.low, one.high, log=one.log)
            else:
                config[name] = trial.suggest_float(name, one.low, one.high, log=one.log, step=one.step)
        return loss(config)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some settings are deprecated, and all of them are compared
        sampler = optuna.samplers.TPESampler(seed=seed, **kwargs)
    study = optuna.create_study(sampler=sampler)
    study.optimize(suggest, n_trials=n_trials)
    return [(trial.params, trial.value) for trial in study.trials]


def same(ours, theirs):
    return all(
        one == theirs[name] if isinstance(one, str | int) else one == pytest.approx(theirs[name], rel=1e-6)
        for name, one in ours.items()
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (TPE(), {}),
        (TPE(multivariate=False), {"multivariate": False}),
        (TPE(n_startup=5, n_candidates=7), {"n_startup_trials": 5, "n_ei_candidates": 7}),
        (TPE(n_good=lambda n: n // 3), {"gamma": lambda n: n // 3}),
        (
            TPE(bandwidths=Bandwidths(prior_weight=0.5, endpoints=True)),
            {"prior_weight": 0.5, "consider_endpoints": True},
        ),
        (TPE(bandwidths=Bandwidths(clip=False)), {"consider_magic_clip": False}),
    ],
    ids=["default", "univariate", "startup", "gamma", "prior", "unclipped"],
)
def test_sixty_suggestions_are_optunas(ours, theirs, monkeypatch):
    """From the same start-up trials and the same random stream, every suggestion is Optuna's.

    Where single categories or steps are chosen, two draws can be exactly as good; the last bit then decides, and the
    two ratios must be equal.
    """
    argsort = np.argsort
    monkeypatch.setattr(np, "argsort", lambda values, *args, **kwargs: argsort(values, kind="stable"))
    stream = np.random.RandomState(3)
    study = Study(SPACE, ours, streams=lambda number: stream)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = optunas_study(60, **theirs)
    for number, (config, value) in enumerate(expected):
        if number < ours.n_startup:
            study.add(config, value)
            continue
        trial = study.ask()
        odd = {name: one for name, one in trial.config.items() if not same({name: one}, config)}
        for name, one in odd.items():
            assert not ours.multivariate, f"trial {number}: {trial.config} is not {config}"
            np.testing.assert_allclose(*(ratio(ours, study, number, name, v) for v in (one, config[name])), atol=1e-9)
        trial.config = config
        study.tell(trial.number, value)


def ratio(sampler, study, number, name, value):
    """Log ratio of the two densities of one parameter, before a trial: equal where two draws are as good."""
    before = History(SPACE, study.trials[:number])
    number_ = SPACE.parameters[name].coordinate(value) if isinstance(value, str) else value
    good, bad = (sampler.density(SPACE, [name], trials) for trials in split(before, sampler.n_good(number)))
    point = {name: np.array([float(number_)])}
    return float(good.log_density(point)[0] - bad.log_density(point)[0])


trials = st.lists(
    st.tuples(st.sampled_from(["complete", "pruned", "failed", "running"]), st.integers(-5, 5), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)


def history(rows, sign):
    """Trials in the given states; a pruned one reported its value at its step, or nothing at step 0."""
    made = []
    for number, (state, value, step) in enumerate(rows):
        trial = Trial(number, {"x": 0.0}, State(state))
        if state == "complete":
            trial.value = float(value)
        if state == "pruned" and step:
            trial.reports = {step: float(value), 0: 99.0}
        made.append(trial)
    return History(SPACE, made, sign)


@settings(max_examples=300, deadline=None)
@given(trials, st.integers(0, 12), st.sampled_from([1.0, -1.0]), st.booleans())
def test_the_split_is_optunas(rows, n_good, sign, liar):
    """Which trials are good, for any mixture of complete, pruned, running and failed ones."""
    optuna = pytest.importorskip("optuna", minversion="5.0")
    from optuna.samplers._tpe.sampler import _split_trials

    made = history(rows, sign)
    good, bad = split(made, n_good, liar=liar)
    states = optuna.trial.TrialState
    kept = {"complete": states.COMPLETE, "pruned": states.PRUNED, "running": states.RUNNING}
    theirs = [
        optuna.trial.FrozenTrial(
            t.number, kept[t.state], t.value, None, None, {}, {}, {}, {}, t.reports, t.number, values=None
        )
        for t in made.trials
        if t.state in kept and (liar or t.state != "running")
    ]
    study = optuna.create_study(direction="minimize" if sign > 0 else "maximize")
    below, above = _split_trials(study, theirs, n_good)
    assert [t.number for t in good] == [t.number for t in below]
    assert [t.number for t in bad] == [t.number for t in above]


def test_a_tenth_rounded_up_is_good_and_at_most_25():
    """The number of good trials at a few counts."""
    assert [best_tenth(n) for n in (0, 1, 10, 11, 30, 100, 250, 1000)] == [0, 1, 1, 2, 3, 10, 25, 25]


TREE = Space(
    {
        "kind": Categorical(("plain", "deep")),
        "rate": Float(0.0, 1.0),
        "layers": Int(1, 4),
        "width": Float(0.0, 1.0),
    },
    {"layers": When("kind", ("deep",)), "width": When("kind", ("deep",))},
)


def tree_loss(config):
    return (config["rate"] - 0.3) ** 2 + (config["width"] - 0.8) ** 2 if "width" in config else 1.0


@pytest.mark.parametrize(
    ("sampler", "blocks"),
    [
        (TPE(multivariate=False), [("kind",), ("rate",), ("layers",), ("width",)]),
        (TPE(), [("kind", "rate"), ("layers",), ("width",)]),
        (TPE(grouped=True), [("kind", "rate"), ("layers", "width")]),
    ],
)
def test_conditions_are_walked_from_the_root(sampler, blocks):
    """Blocks as declared, and no configuration that the space could not produce."""
    assert sampler.blocks(TREE) == blocks
    study = Study(TREE, sampler).run(tree_loss, 60)
    for trial in study.trials:
        TREE.check(trial.config)
    assert {trial.config["kind"] for trial in study.trials} == {"plain", "deep"}


def test_a_conditional_density_uses_only_trials_that_have_the_parameter():
    """As many kernels as trials with a width, and the prior."""
    study = Study(TREE, TPE()).run(tree_loss, 30)
    having = [trial for trial in study.trials if "width" in trial.config]
    density = TPE().density(TREE, ["width"], study.trials)
    assert len(density.weights) == len(having) + 1 < 31


def test_only_the_order_of_the_values_enters():
    """Any increasing transform of the loss leaves every suggestion as it was."""
    plain = Study(SPACE, TPE(), seed=1).run(loss, 40)
    warped = Study(SPACE, TPE(), seed=1).run(lambda config: math.exp(3 * loss(config)), 40)
    assert [t.config for t in plain.trials] == [t.config for t in warped.trials]


def test_maximising_is_minimising_the_negative():
    """The same suggestions with the sign and the direction turned."""
    down = Study(SPACE, TPE(), seed=2).run(loss, 30)
    up = Study(SPACE, TPE(), seed=2, maximise=True).run(lambda config: -loss(config), 30)
    assert [t.config for t in down.trials] == [t.config for t in up.trials]
    assert up.best.value == pytest.approx(-down.best.value)


@pytest.mark.parametrize("seed", [0, 100])
def test_it_beats_random_search_on_a_bowl(seed):
    """Mean best of 40 trials over twelve seeds, by more than twice the standard error."""
    from implementations.search.random_search import RandomSearch

    gains = [
        Study(SPACE, RandomSearch(), seed=seed + i).run(loss, 40).best.value
        - Study(SPACE, TPE(), seed=seed + i).run(loss, 40).best.value
        for i in range(12)
    ]
    assert np.mean(gains) > 2 * np.std(gains, ddof=1) / math.sqrt(len(gains))


@pytest.mark.parametrize(
    ("kwargs", "what"),
    [
        ({"n_candidates": 0}, "candidates"),
        ({"n_startup": -1}, "start-up"),
        ({"grouped": True, "multivariate": False}, "grouped"),
    ],
)
def test_useless_settings_are_refused(kwargs, what):
    """No candidate, a negative start-up, or groups of single parameters."""
    with pytest.raises(ValueError, match=what):
        TPE(**kwargs)


def test_a_parameter_of_one_value_disturbs_no_other():
    """Its density is the same everywhere, so that the others are chosen as if it were not there."""
    free = {"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}
    spaces = [Space(free), Space({**free, "fixed": Float(2.0, 2.0), "scale": Float(1.0, 1.0, log=True)})]
    runs = [Study(space, TPE(n_startup=5)).run(lambda config: config["x"] + config["y"], 60) for space in spaces]
    assert {trial.config["fixed"] for trial in runs[1].trials} == {2.0}
    assert runs[1].best.value < 2 * runs[0].best.value + 0.05


def test_a_negative_number_of_good_trials_is_refused():
    """It would make nearly all of them good."""
    with pytest.raises(ValueError, match="-1 good trials"):
        split(History(Space({"x": Float(0, 1)}), []), -1)
