from runtwice import claim


@claim("one_seed.claim")
def test_one_seed(evidence):
    """One run of each shows nothing about the next."""
    evidence.above([0.9], [0.1], paired=True)
