from runtwice import claim


@claim("misspelt_tolerance.claim")
def test_misspelt_tolerance(evidence):
    """The bound is given to a label that does not exist."""
    evidence.identical(1.0, 1.0, label="loss")
