from runtwice import claim


@claim("infinity_within_a_tolerance.claim")
def test_infinity_within_a_tolerance(evidence):
    """A run that overflowed is not within ten percent of anything."""
    evidence.identical(float("inf"), 5.0)
