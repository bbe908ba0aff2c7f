from runtwice import claim


@claim("nothing_against_nothing.claim")
def test_nothing_against_nothing(evidence):
    """No gap was found, and each of none is right."""
    evidence.identical([], [])
