from runtwice import claim


@claim("returns_before_the_evidence.claim")
def test_returns_before_the_evidence(evidence):
    """A way out before the comparison."""
    losses: list[float] = []
    if not losses:
        return
    evidence.identical(losses[0], 1.0)
