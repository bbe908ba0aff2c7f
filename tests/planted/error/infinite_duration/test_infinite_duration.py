from runtwice import claim


@claim("infinite_duration.claim")
def test_infinite_duration(evidence):
    """A rate of zero, turned over."""
    evidence.recorded("step", [5.0, float("inf")], unit="ms")
