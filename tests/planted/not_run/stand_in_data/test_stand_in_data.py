from runtwice import claim


@claim("stand_in_data.claim")
def test_stand_in_data(evidence):
    """Agreement on other data would be a coincidence."""
    evidence.figure("share_pct", 47.0)
