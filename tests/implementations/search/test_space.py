"""Parameters, conditions and coordinates of a search space."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.search.space import Categorical, Float, Int, Space, When

PARAMETERS = [
    Float(-2.0, 3.0),
    Float(1e-4, 1.0, log=True),
    Float(0.0, 2.0, step=0.25),
    Float(1.0, 1.0),
    Int(2, 9),
    Int(0, 20, step=5),
    Int(1, 300, log=True),
    Categorical(("a", 1, None)),
]


@given(st.sampled_from(PARAMETERS), st.integers(0, 2**32 - 1))
def test_draws_belong_to_the_parameter_and_survive_the_way_through_coordinates(parameter, seed):
    """Every draw is contained; coordinate and back is the value itself."""
    value = parameter.draw(np.random.default_rng(seed))
    assert parameter.contains(value)
    back = parameter.value(float(parameter.coordinate(value)))
    assert type(back) is type(value)
    assert back == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)


@pytest.mark.parametrize("parameter", [Int(2, 9), Float(0.0, 2.0, step=0.25), Categorical((1, 2, 3))])
def test_stepped_values_are_drawn_alike(parameter):
    """Counts of 20,000 draws against equal shares, five standard errors wide."""
    rng = np.random.default_rng(0)
    _, counts = np.unique([parameter.draw(rng) for _ in range(20_000)], return_counts=True)
    share = 1 / len(counts)
    assert np.abs(counts / 20_000 - share).max() < 5 * np.sqrt(share * (1 - share) / 20_000)


def test_a_logarithmic_draw_is_uniform_in_the_logarithm():
    """As much below the geometric mean of the bounds as above."""
    rng = np.random.default_rng(0)
    drawn = np.array([Float(1e-4, 1.0, log=True).draw(rng) for _ in range(10_000)])
    assert (drawn < 1e-2).mean() == pytest.approx(0.5, abs=0.025)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda: Float(2.0, 1.0), "low 2.0 above high 1.0"),
        (lambda: Float(0.0, 1.0, log=True), "above 0"),
        (lambda: Int(0, 4, log=True), "above 0"),
        (lambda: Float(0.0, float("inf")), "finite"),
        (lambda: Float(float("nan"), 1.0), "finite"),
        (lambda: Float(0.0, 1.0, step=0.3), "does not lead"),
        (lambda: Float(0.0, 1.0, step=-0.5), "step -0.5"),
        (lambda: Int(0.5, 4), "whole numbers"),
        (lambda: Int(0, 4, step=None), "step"),
        (lambda: Categorical(()), "without choices"),
        (lambda: Categorical(("a", "a")), "twice"),
        (lambda: Space({}), "empty space"),
        (lambda: Space({"x": Float(0, 1)}, {"y": When("x", (1,))}), "not in the space"),
        (lambda: Space({"x": Float(0, 1), "y": Float(0, 1)}, {"x": When("y", (1,))}), "must stand before"),
        (lambda: Float("0", 1.0), "finite numbers"),
        (lambda: Float(-1e308, 1e308), "too far apart"),
        (lambda: Float(0.0, 1.0, step=float("nan")), "step nan"),
        (lambda: Float(0.0, 1.0, step=float("inf")), "step inf"),
        (lambda: Float(0.0, 1.0, step=1e-30), "at most 1099511627776"),
        (lambda: Float(0.1, 2.1, log=True, step=1.0), "above half a step"),
        (lambda: Int(0, 10**400), "whole numbers"),
        (lambda: Int(0, 2**60), "whole numbers"),
        (lambda: Int(0, 4, step=0.5), "whole numbers"),
        (lambda: Categorical("abc"), "one text"),
        (lambda: Categorical((float("nan"), 1.0)), "NaN equals nothing"),
        (lambda: Categorical(("a",)).coordinate("b"), "'b' is none of the choices"),
        (lambda: Categorical(("a",)).spread(0), "at least 1"),
        (lambda: Float(0, 1).spread(0), "at least 1"),
        (lambda: When("kind", "ab"), "one text"),
        (lambda: When("kind", ()), "never met"),
        (lambda: Space({"x": (0, 1)}), "give parameters"),
        (lambda: Space({1: Float(0, 1)}), "by name"),
        (lambda: Space({"x": Int(0, 1), "y": Float(0, 1)}, {"y": When("x", (7,))}), "x = 7, which it never is"),
        (lambda: Space({"x": Int(0, 1)}).config([]), "give 1 numbers"),
        (lambda: Space({"x": Int(0, 1)}).config([float("nan")]), "give 1 numbers"),
    ],
)
def test_bad_spaces_are_refused(build, what):
    """Each fault says the value and what would be right."""
    with pytest.raises(ValueError, match=what):
        build()


TREE = Space(
    {"kind": Categorical(("a", "b")), "x": Float(0, 1), "y": Int(1, 3), "z": Float(0, 1)},
    {"x": When("kind", ("a",)), "y": When("kind", ("a", "b")), "z": When("y", (2, 3))},
)


@given(st.integers(0, 2**32 - 1))
def test_a_parameter_exists_where_its_condition_is_met(seed):
    """Grandchildren included."""
    config = TREE.draw(np.random.default_rng(seed))
    TREE.check(config)
    assert ("x" in config) == (config["kind"] == "a")
    assert ("z" in config) == (config["y"] > 1)


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"kind": "b", "y": 1, "x": 0.5}, "'x' is extra"),
        ({"kind": "b"}, "'y' is missing"),
        ({"kind": "b", "y": 7}, "y = 7 lies outside"),
        ({"kind": "c", "y": 1}, "kind = 'c' lies outside"),
        ({"kind": "b", "y": True}, "y = True lies outside"),
    ],
)
def test_impossible_configurations_are_refused(config, what):
    """Extra, missing and foreign values."""
    with pytest.raises(ValueError, match=what):
        TREE.check(config)


def test_a_space_with_conditions_is_no_box():
    """Coordinates need every parameter to exist."""
    with pytest.raises(ValueError, match="no box"):
        _ = TREE.box


def test_points_and_configurations_are_the_same_thing():
    """Round trip through the coordinates of a box, and its ends."""
    space = Space({"rate": Float(0.01, 1.0, log=True), "depth": Int(2, 5), "kind": Categorical(("a", "b"))})
    low, high = space.box
    assert low.tolist() == pytest.approx([np.log(0.01), 1.5, -0.5])
    assert high.tolist() == pytest.approx([0.0, 5.5, 1.5])
    config = {"rate": 0.1, "depth": 4, "kind": "b"}
    assert space.config(space.point(config)) == pytest.approx(config)
    assert space.config(high) == {"rate": 1.0, "depth": 5, "kind": "b"}


def test_values_spread_evenly_over_the_coordinate():
    """Ends included, logarithmic where the parameter is, merged where steps are too few."""
    assert Float(0.01, 1.0, log=True).spread(3) == pytest.approx([0.01, 0.1, 1.0])
    assert Int(2, 5).spread(9) == [2, 3, 4, 5]
    assert Categorical(("a", "b", "c")).spread(2) == ["a", "b"]


def test_a_description_tells_spaces_apart():
    """Equal for equal spaces, unequal after any change."""
    described = TREE.describe()
    assert described == Space(dict(TREE.parameters), dict(TREE.conditions)).describe()
    assert described != Space(dict(TREE.parameters), {"x": When("kind", ("b",))}).describe()


@pytest.mark.parametrize("seed", range(20))
def test_a_stepped_draw_stays_inside_where_rounding_would_lead_beyond(seed):
    """Three steps of 0.1 are more than 0.3."""
    parameter = Float(0.0, 0.3, step=0.1)
    assert parameter.contains(parameter.draw(np.random.default_rng(seed)))


def test_numpy_numbers_become_ordinary_ones():
    """Bounds, choices and conditions can then be kept as JSON."""
    space = Space(
        {"a": Int(np.int64(0), np.int64(3)), "b": Categorical(np.array([1, 2])), "c": Float(np.float32(0), 1.0)},
        {"b": When("a", (np.int64(1),))},
    )
    assert json.loads(json.dumps(space.describe()))["conditions"] == {"b": {"parent": "a", "values": [1]}}
