import random

from runtwice import claim


def score(seed):
    return random.Random(0).random()


@claim("seed_that_goes_nowhere.claim")
def test_seed_that_goes_nowhere(evidence, sweep):
    """The experiment takes a seed and uses another."""
    scores = sweep(score, range(8))
    evidence.above(scores, 0.0)
