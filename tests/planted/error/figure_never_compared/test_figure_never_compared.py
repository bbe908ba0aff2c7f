from runtwice import claim


@claim("figure_never_compared.claim")
def test_figure_never_compared(evidence):
    """One of the two printed figures was forgotten."""
    evidence.figure("share_pct", 47.0)
