from runtwice import claim


@claim("derived_from_itself.claim")
def test_derived_from_itself(evidence):
    """The figure that is to come out went in."""
    evidence.derived("total", lambda total: total, evidence.printed("total"))
