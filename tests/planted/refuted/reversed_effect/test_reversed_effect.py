from runtwice import claim


@claim("reversed_effect.claim")
def test_reversed_effect(evidence):
    """Twelve seeds agree, and on the opposite."""
    new = [0.61, 0.60, 0.62, 0.59, 0.61, 0.63, 0.60, 0.58, 0.62, 0.61, 0.60, 0.59]
    random = [0.66, 0.64, 0.65, 0.67, 0.66, 0.65, 0.68, 0.64, 0.66, 0.67, 0.65, 0.66]
    evidence.above(new, random, paired=True)
