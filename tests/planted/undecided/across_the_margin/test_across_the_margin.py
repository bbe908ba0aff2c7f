from runtwice import claim


@claim("across_the_margin.claim")
def test_across_the_margin(evidence):
    """Below zero, but not beyond what the claim calls nothing."""
    evidence.above([-0.04, -0.05, -0.06, -0.05, -0.04, -0.06, -0.05, -0.07], 0.0)
