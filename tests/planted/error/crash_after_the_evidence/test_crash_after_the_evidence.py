from runtwice import claim


@claim("crash_after_the_evidence.claim")
def test_crash_after_the_evidence(evidence):
    """It held, and then the experiment fell over."""
    evidence.identical(1.0, 1.0)
    raise RuntimeError("the engine stopped")
