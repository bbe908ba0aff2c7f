from runtwice import claim


@claim("nan_among_the_samples.claim")
def test_nan_among_the_samples(evidence):
    """One run diverged."""
    evidence.above([0.5, 0.6, float("nan"), 0.7, 0.8, 0.9, 0.6], 0.0)
