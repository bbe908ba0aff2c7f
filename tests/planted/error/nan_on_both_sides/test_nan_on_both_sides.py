from runtwice import claim


@claim("nan_on_both_sides.claim")
def test_nan_on_both_sides(evidence):
    """Both runs diverged, in the same way."""
    evidence.identical([1.0, float("nan")], [1.0, float("nan")])
