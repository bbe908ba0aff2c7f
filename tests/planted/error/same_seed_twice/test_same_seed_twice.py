import random

from runtwice import claim


def score(seed):
    return random.Random(seed).random()


@claim("same_seed_twice.claim")
def test_same_seed_twice(evidence, sweep):
    """Sixteen runs of two seeds are two observations."""
    evidence.above(sweep(score, [0, 1] * 8), 0.0)
