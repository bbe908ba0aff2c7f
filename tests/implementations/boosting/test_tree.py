"""Walking down a tree, pruning it, and the checks of its inputs."""

import numpy as np
import pytest

from implementations.boosting.tree import LEAF, Growth, Tree, matrix_of, pruned, weights_of


def tree(gains=(10.0, 750.0, 3.0), missing_left=(True, False, False)):
    """Depth 2: feature 0 at 0 at the root, feature 1 at -1 and 1 below; leaves are worth 1, 2, 3, 4."""
    inner = np.array([True, True, True, False, False, False, False])

    def at_inner(values, elsewhere, kind):
        return np.array([*values, *[elsewhere] * 4], dtype=kind)

    return Tree(
        feature=at_inner((0, 1, 1), LEAF, np.intp),
        threshold=at_inner((0.0, -1.0, 1.0), 0.0, float),
        left=at_inner((1, 3, 5), LEAF, np.intp),
        right=at_inner((2, 4, 6), LEAF, np.intp),
        value=np.array([0.0, -1.0, -2.0, 1.0, 2.0, 3.0, 4.0]),
        gain=at_inner(gains, 0.0, float),
        cover=np.full(7, 1.0),
        rows=np.full(7, 1),
        missing_left=at_inner(missing_left, False, bool) & inner,
    )


@pytest.mark.parametrize(
    ("row", "value"),
    [([-1, -2], 1), ([-1, 0], 2), ([1, 1], 3), ([1, 2], 4), ([0, -1], 1), ([np.nan, -2], 1), ([-1, np.nan], 2)],
)
def test_a_row_ends_in_its_leaf(row, value):
    """Left where the value is at most the threshold, and where a missing one was sent."""
    assert tree().predict([row]).tolist() == [value]


def test_shape_of_a_tree():
    """Leaves and depth."""
    assert (tree().n_leaves, tree().depth) == (4, 2)


@pytest.mark.parametrize(("min_gain", "leaves"), [(0, 4), (5, 3), (50, 3), (800, 1)])
def test_pruning_goes_up_from_the_leaves(min_gain, leaves):
    """The weak root split stays as long as a strong one hangs on it."""
    assert pruned(tree(), min_gain).n_leaves == leaves


def test_a_pruned_node_predicts_its_own_value():
    """The right child of the root becomes a leaf worth -2."""
    cut = pruned(tree(), 5.0)
    assert cut.predict([[1, 1], [1, 2], [-1, -2], [-1, 0]]).tolist() == [-2, -2, 1, 2]
    assert cut.gain.tolist() == [10.0, 750.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "setting",
    [
        {"max_depth": -1},
        {"max_depth": np.nan},
        {"max_depth": 2.5},
        {"min_leaf": 0},
        {"min_leaf": np.nan},
        {"ridge": -1.0},
        {"min_gain": np.nan},
        {"min_curvature": np.inf},
    ],
)
def test_growth_out_of_range_is_refused(setting):
    """The message names the setting and its value."""
    with pytest.raises(ValueError, match=f"{next(iter(setting))} is"):
        Growth(**setting)


@pytest.mark.parametrize("bad", [[], [1.0], [[]], [[np.inf]]])
def test_a_bad_matrix_is_refused(bad):
    """Empty, one-dimensional, without features, infinite."""
    with pytest.raises(ValueError, match=r"shape|infinit|finite"):
        matrix_of(bad)


@pytest.mark.parametrize("bad", [[1.0], [1.0, -1.0], [1.0, np.nan], [0.0, 0.0]])
def test_bad_weights_are_refused(bad):
    """Too few, negative, NaN, all 0."""
    with pytest.raises(ValueError, match="weight"):
        weights_of(bad, 2)


def test_a_negative_price_is_refused():
    """Pruning needs a finite price of at least 0."""
    with pytest.raises(ValueError, match="min_gain is -1"):
        pruned(tree(), -1.0)


@pytest.mark.parametrize("bad", [[1.0, 2.0], [[1.0]]])
def test_walking_needs_the_features_the_tree_looks_at(bad):
    """One row without its axis, and too few columns."""
    with pytest.raises(ValueError, match="at least 2 features"):
        tree().apply(bad)
