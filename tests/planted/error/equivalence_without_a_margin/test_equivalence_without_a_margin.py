from runtwice import claim


@claim("equivalence_without_a_margin.claim")
def test_equivalence_without_a_margin(evidence):
    """Nothing says how much would be something."""
    evidence.equivalent([0.1, 0.2, 0.1, 0.3, 0.1, 0.2], 0.0)
