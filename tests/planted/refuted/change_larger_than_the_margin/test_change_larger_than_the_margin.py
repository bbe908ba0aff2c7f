from runtwice import claim


@claim("change_larger_than_the_margin.claim")
def test_change_larger_than_the_margin(evidence):
    """It changes ten times the margin."""
    evidence.equivalent([0.10, 0.11, 0.09, 0.12, 0.10, 0.11, 0.08], 0.0)
