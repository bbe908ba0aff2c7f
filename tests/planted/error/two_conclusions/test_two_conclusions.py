from runtwice import claim


@claim("two_conclusions.claim")
def test_two_conclusions(evidence):
    """Two questions in one claim."""
    evidence.above([1.0, 2.0, 3.0, 4.0, 5.0, 6.5], 0.0)
    evidence.identical(1, 1)
