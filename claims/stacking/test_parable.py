"""The newsroom, simulated: reporters with habits, and one who copies what is already in print."""

import numpy as np

from runtwice import claim


def _least_squares(drafts, truth):
    design = np.column_stack([np.ones(len(drafts)), drafts])
    return np.linalg.lstsq(design, truth, rcond=None)[0]


def _error(weights, drafts, truth):
    return float(np.abs(np.column_stack([np.ones(len(drafts)), drafts]) @ weights - truth).mean())


@claim("stacking.learns-habits")
def test_the_editor_takes_out_the_habits(evidence):
    """Mean error of the editor on new stories against the best reporter's and against the plain average's."""
    bias, n = evidence.given("ambrose_bias"), evidence.given("stories")

    def newsroom(seed):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(100, 500, 2 * n)
        council = rng.integers(0, 2, 2 * n)
        drafts = np.column_stack(
            [
                truth * (1 + bias) + rng.normal(0, 20, 2 * n),
                truth - 100 * council + rng.normal(0, 20, 2 * n),
                truth + rng.normal(0, 80, 2 * n),
                truth + 15 + rng.normal(0, 20, 2 * n),
            ]
        )
        editor = _error(_least_squares(drafts[:n], truth[:n]), drafts[n:], truth[n:])
        alone = np.abs(drafts[n:] - truth[n:, None]).mean(axis=0).min()
        mean = np.abs(drafts[n:].mean(axis=1) - truth[n:]).mean()
        return editor, alone, mean

    editor, alone, mean = zip(*(newsroom(seed) for seed in range(evidence.given("simulations"))))
    evidence.above(alone, editor, paired=True, label="best reporter")
    evidence.above(mean, editor, paired=True, label="plain average")


@claim("stacking.parable-archivist")
def test_copied_drafts_win_the_weight_and_lose_the_story(evidence):
    """Colm's weight, and the editor's error on new stories, as he copies more of the stories in the archive."""
    n, shares = evidence.given("stories"), (0.0, 0.25, 0.5, 0.75, 1.0)

    def year(seed):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(100, 500, 2 * n)
        noise, rank = rng.normal(0, [80, 20], size=(2 * n, 2)), rng.random(n)
        drafts = truth[:, None] + noise
        rows = []
        for share in shares:
            archive = drafts[:n].copy()
            archive[rank < share, 0] = truth[:n][rank < share]
            weights = _least_squares(archive, truth[:n])
            rows.append((weights[1], _error(weights, drafts[n:], truth[n:])))
        return rows

    curves = np.array([year(seed) for seed in range(evidence.given("simulations"))])  # (seeds, shares, 2)
    evidence.trend(curves[:, :, 0], "rises", label="weight of the copying reporter")
    evidence.trend(curves[:, :, 1], "rises", label="error on new stories")
