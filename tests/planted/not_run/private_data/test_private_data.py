from runtwice import claim


@claim("private_data.claim")
def test_private_data(evidence):
    """The data of the post are not public."""
    evidence.identical(1, 1)
