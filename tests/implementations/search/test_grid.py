"""The grid against nested loops and scikit-learn's own."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.search.grid import Grid, axes_of, resolution, values_per_axis
from implementations.search.space import Categorical, Float, Int, Space, When
from implementations.search.study import Exhausted, Study

AXES = {"a": [1, 2, 3], "b": ["x", "y"], "c": [0.1, 0.2, 0.3, 0.4]}


def test_it_is_the_nested_loop():
    """The order of `itertools.product`, by list and by number."""
    expected = [dict(zip(AXES, values)) for values in itertools.product(*AXES.values())]
    grid = Grid(AXES)
    assert len(grid) == 24
    assert grid.configs() == expected
    assert [grid.at(i) for i in range(24)] == expected


def test_it_is_scikit_learns():
    """The same combinations as `ParameterGrid`."""
    selection = pytest.importorskip("sklearn.model_selection")
    key = lambda config: sorted(config.items())  # noqa: E731
    assert sorted(Grid(AXES).configs(), key=key) == sorted(selection.ParameterGrid(AXES), key=key)


def test_best_of_a_study_is_scikit_learns_grid_search():
    """Same best score and same parameters for a ridge regression, fold by fold."""
    selection = pytest.importorskip("sklearn.model_selection")
    from sklearn.datasets import make_friedman1
    from sklearn.linear_model import Ridge

    X, y = make_friedman1(n_samples=80, noise=1.0, random_state=0)
    folds = selection.KFold(3, shuffle=True, random_state=0)
    axes = {"alpha": [0.01, 1.0, 100.0], "fit_intercept": [True, False]}
    space = Space({name: Categorical(values) for name, values in axes.items()})
    search = selection.GridSearchCV(Ridge(), axes, cv=folds, scoring="r2").fit(X, y)

    def score(config):
        return selection.cross_val_score(Ridge(**config), X, y, cv=folds, scoring="r2").mean()

    study = Study(space, Grid(axes), maximise=True).run(score, 100)
    assert study.best.config == search.best_params_
    assert study.best.value == pytest.approx(search.best_score_, abs=1e-12)


@given(st.integers(2, 10), st.integers(1, 5))
def test_whole_roots_are_whole(values, parameters):
    """k^d trials allow exactly k values, whatever the floating-point root."""
    assert values_per_axis(values**parameters, parameters) == values
    assert resolution(values**parameters, parameters) == pytest.approx(values)


def test_a_grid_that_cannot_be_built_says_how_many_parameters_could_be():
    """Eight parameters at 64 trials."""
    with pytest.raises(ValueError, match="64 trials over 8 parameters leave 1 value each; at most 6"):
        values_per_axis(64, 8)


def test_axes_spread_evenly():
    """Logarithmic where the parameter is; fewer values where it has fewer."""
    space = Space({"rate": Float(0.01, 1.0, log=True), "depth": Int(2, 4)})
    axes = axes_of(space, 5)
    assert axes["rate"] == pytest.approx([0.01, 0.01 * 10**0.5, 0.1, 10**-0.5, 1.0])
    assert axes["depth"] == [2, 3, 4]
    assert len(axes_of(space, {"rate": 2, "depth": 1})["depth"]) == 1


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda: Grid({}), "at least one value"),
        (lambda: Grid({"a": []}), "at least one value"),
        (lambda: resolution(0, 3), "0 trials"),
        (lambda: Grid({"a": "xy"}), "a list of"),
        (lambda: Grid(AXES).at(-1), "count from 0"),
        (lambda: resolution(float("nan"), 3), "nan trials"),
        (lambda: axes_of(Space({"a": Int(0, 3)}), 0), "0 levels"),
        (lambda: axes_of(Space({"a": Int(0, 3)}), {}), "'a' is missing"),
        (lambda: axes_of(Space({"a": Int(0, 3)}), {"a": 2, "b": 2}), "'b' is extra"),
        (
            lambda: axes_of(Space({"a": Int(0, 3), "b": Int(0, 1)}, {"b": When("a", (1,))}), 2),
            "conditions",
        ),
    ],
)
def test_bad_grids_are_refused(build, what):
    """No axis, an empty axis, no such trial, no level, levels of another space, or a space with conditions."""
    with pytest.raises(ValueError, match=what):
        build()


def test_it_ends():
    """A number past the last is not there."""
    with pytest.raises(Exhausted, match="grid of 24"):
        Grid(AXES).at(24)
