from runtwice import claim


@claim("fixture_that_raises.claim")
def test_fixture_that_raises(evidence, engine):
    """The shared experiment does not get off the ground."""
    evidence.identical(engine, 1.0)
