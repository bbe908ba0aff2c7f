from runtwice import claim


@claim("equivalence_from_wide_samples.claim")
def test_equivalence_from_wide_samples(evidence):
    """Not having seen a change is not having shown that there is none."""
    evidence.equivalent([0.3, -0.2, 0.1, -0.3, 0.2, -0.1, 0.0], 0.0)
