from runtwice import claim


@claim("certain_and_too_small.claim")
def test_certain_and_too_small(evidence):
    """Above zero beyond doubt, and inside what the claim calls nothing."""
    evidence.above([0.010, 0.011, 0.009, 0.012, 0.010, 0.011, 0.008], 0.0)
