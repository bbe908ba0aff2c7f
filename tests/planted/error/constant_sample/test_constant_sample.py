from runtwice import claim


@claim("constant_sample.claim")
def test_constant_sample(evidence):
    """One number, repeated: no spread, and no evidence."""
    evidence.above([0.9] * 12, [0.1] * 12, paired=True)
