"""The gaps the post could not explain: forward passes that took many times as long as usual."""

import numpy as np

from runtwice import claim


@claim("itl.sixth-pile")
def test_competition_for_the_core_makes_the_unexplained_gaps(evidence):
    """Slow gaps without a cause, alone on a core and beside busy processes: how many, and how much is off the core."""
    from claims.experiments.sixth_pile import pile

    seeds = range(1, 1 + evidence.given("seeds"))
    alone = [pile(seed, 0) for seed in seeds]
    beside = [pile(seed, int(evidence.given("competitors"))) for seed in seeds]
    more = [np.log((other.gaps + 1) / (one.gaps + 1)) for one, other in zip(alone, beside)]
    evidence.above(more, float(evidence.given("log_factor")), label="how many more")
    evidence.above([one.offcpu_share for one in beside], float(evidence.given("share")), label="time off the core")
    drift = [abs(np.log(other.forward_ms / one.forward_ms)) for one, other in zip(alone, beside)]
    evidence.above(evidence.given("forward_drift") - np.array(drift), 0.0, label="forward time stays put")
