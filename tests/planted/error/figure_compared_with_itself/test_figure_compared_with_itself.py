from runtwice import claim


@claim("figure_compared_with_itself.claim")
def test_figure_compared_with_itself(evidence):
    """What the post says agrees with what the post says."""
    evidence.figure("share_pct", evidence.printed("share_pct"))
