from runtwice import claim


@claim("wider_instead_of_narrower.claim")
def test_wider_instead_of_narrower(evidence):
    """On each of eight data sets it varies more."""
    narrow = [[0.0, 1.0, 2.0, 3.0 + i / 10] for i in range(8)]
    wide = [[0.0, 4.0, 8.0, 12.0 - i / 10] for i in range(8)]
    evidence.narrower(wide, narrow)
