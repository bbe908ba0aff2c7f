from runtwice import claim


@claim("duplicate_id.claim")
def test_first(evidence):
    """Refuted, if it were to count."""
    evidence.identical(1.0, 2.0)


@claim("duplicate_id.claim")
def test_second(evidence):
    """Holds, and would replace the first."""
    evidence.identical(1.0, 1.0)
