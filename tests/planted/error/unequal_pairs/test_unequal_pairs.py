from runtwice import claim


@claim("unequal_pairs.claim")
def test_unequal_pairs(evidence):
    """A run is missing on one side, so that pairs do not belong together."""
    evidence.above([0.5, 0.6, 0.7, 0.8, 0.9, 0.6], [0.1, 0.2, 0.3, 0.1, 0.2], paired=True)
