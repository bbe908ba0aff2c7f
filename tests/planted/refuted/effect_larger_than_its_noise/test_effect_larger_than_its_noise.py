from runtwice import claim


@claim("effect_larger_than_its_noise.claim")
def test_effect_larger_than_its_noise(evidence):
    """The gain is twenty times the spread."""
    gains = [2.0, 2.1, 1.9, 2.2, 1.8, 2.0, 2.1, 1.9]
    repeats = [0.1, -0.1, 0.05, -0.05, 0.0, 0.1, -0.1, 0.05]
    evidence.smaller_than_noise(gains, repeats)
