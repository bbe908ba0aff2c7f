from runtwice import claim


@claim("effect_inside_the_margin.claim")
def test_effect_inside_the_margin(evidence):
    """Enough runs to say that the difference does not matter."""
    evidence.above([0.02, -0.01, 0.03, -0.02, 0.01, 0.02, -0.03, 0.01], 0.0)
