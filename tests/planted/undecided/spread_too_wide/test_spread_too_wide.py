from runtwice import claim


@claim("spread_too_wide.claim")
def test_spread_too_wide(evidence):
    """The mean difference is positive, and any sign is possible."""
    evidence.above([5.0, -4.0, 6.0, -5.0, 4.0, -3.0, 7.0, -2.0], 0.0)
