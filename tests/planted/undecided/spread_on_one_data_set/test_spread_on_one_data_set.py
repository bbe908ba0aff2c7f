from runtwice import claim


@claim("spread_on_one_data_set.claim")
def test_spread_on_one_data_set(evidence):
    """Five seeds on one data set are one replicate."""
    evidence.narrower([[0.1, 0.2, 0.15, 0.12, 0.18]], [[0.1, 0.9, 0.5, 0.3, 0.7]])
