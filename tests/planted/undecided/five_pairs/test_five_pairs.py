from runtwice import claim


@claim("five_pairs.claim")
def test_five_pairs(evidence):
    """Five pairs cannot reach 95 percent, however clear they look."""
    evidence.above([5.0, 6.0, 7.0, 8.0, 9.0], [1.0, 1.1, 1.2, 1.3, 1.4], paired=True)
