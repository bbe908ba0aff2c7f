from runtwice import claim


@claim("negative_duration.claim")
def test_negative_duration(evidence):
    """A clock that went back."""
    evidence.recorded("step", [5.0, -1.0], unit="ms")
