from runtwice import claim


@claim("no_conclusion.claim")
def test_no_conclusion(evidence):
    """The test ran, and compared nothing."""
    losses = [1.0, 1.0]
    assert losses
