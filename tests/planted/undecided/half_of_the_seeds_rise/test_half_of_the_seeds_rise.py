from runtwice import claim


@claim("half_of_the_seeds_rise.claim")
def test_half_of_the_seeds_rise(evidence):
    """Four seeds rise and four fall."""
    evidence.trend([[1.0, 2.0 + s, 3.0 + 2 * s] if s % 2 else [3.0 + s, 2.0, 1.0] for s in range(8)], "rises")
