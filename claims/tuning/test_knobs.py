"""What each knob is worth, and in which order to turn them."""

import numpy as np

from runtwice import claim


@claim("tuning.order")
def test_the_printed_order_is_as_good_as_any(evidence, sweep):
    """Test loss reached in the reversed order, relative to the printed one, above 1."""
    from claims.experiments import levers

    runs = sweep(levers.one_after_the_other, range(evidence.given("seeds")))
    for name in evidence.given("sets"):
        ratios = [run[str(name)]["reversed"] / run[str(name)]["printed"] for run in runs]
        evidence.above(ratios, 1.0, label=str(name))


@claim("tuning.subsample-mild")
def test_sampling_moves_the_loss_less_than_depth(evidence, lever_curves):
    """How far the test loss moves over depths 3 to 6, above how far over shares of 0.6 to 1 of rows or columns."""
    from claims.experiments.levers import KNOBS, reach

    runs = lever_curves(evidence.given("seeds"))

    def within(curve, knob, low, high):
        return reach([loss for loss, value in zip(curve, KNOBS[knob]) if low <= value <= high])

    shares = float(evidence.given("low")), float(evidence.given("high"))
    depths = int(evidence.given("depth_low")), int(evidence.given("depth_high"))
    for name in evidence.given("sets"):
        curves = [run[str(name)] for run in runs]
        depth = [within(one["depth"], "depth", *depths) for one in curves]
        sampling = [max(within(one[knob], knob, *shares) for knob in ("rows", "columns")) for one in curves]
        evidence.above(depth, sampling, paired=True, label=str(name))


@claim("tuning.rest-is-noise")
def test_the_other_knobs_are_noise(evidence, lever_curves):
    """Knobs whose best setting lies more than two standard deviations below the default's loss, over the data sets."""
    runs = lever_curves(evidence.given("seeds"))
    beyond = []
    for name in evidence.given("sets"):
        for knob in evidence.given("others"):
            table = np.array([run[str(name)][str(knob)] for run in runs])  # (seeds, settings), the default first
            gains = table[:, :1] - table[:, 1:]
            best = int(gains.mean(axis=0).argmax())
            beyond.append(gains[:, best].mean() > 2 * gains[:, best].std(ddof=1))
    evidence.figure("knobs_beyond_noise_of_12", sum(beyond))


@claim("tuning.last-two-points")
def test_a_search_is_worth_two_points(evidence, sweep):
    """Accuracy points that a search gains over the defaults on clean labels, beside two."""
    from claims.experiments import levers

    runs = sweep(levers.searched_accuracy, range(evidence.given("seeds")))
    for name in runs[0]:
        evidence.equivalent([run[name] for run in runs], float(evidence.given("points")), label=name)
