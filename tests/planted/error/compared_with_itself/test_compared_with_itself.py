from runtwice import claim


@claim("compared_with_itself.claim")
def test_compared_with_itself(evidence):
    """One result under two names."""
    scaled = [1.0, 2.0]
    plain = scaled
    evidence.identical(scaled, plain)
