from runtwice import claim


@claim("no_sample.claim")
def test_no_sample(evidence):
    """The filter before the comparison left nothing."""
    scores = [score for score in [0.5, 0.6] if score > 0.9]
    evidence.above(scores, 0.0)
