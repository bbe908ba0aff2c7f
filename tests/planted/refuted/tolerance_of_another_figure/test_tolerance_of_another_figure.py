from runtwice import claim


@claim("tolerance_of_another_figure.claim")
def test_tolerance_of_another_figure(evidence):
    """The wide bound is the maximum's, and the mean is the one that moved."""
    evidence.figure("mean", 10.4)
    evidence.figure("maximum", 53)
