from runtwice import claim


@claim("trend_the_other_way.claim")
def test_trend_the_other_way(evidence):
    """It falls, for each of eight seeds."""
    evidence.trend([[9.0, 7.0, 5.0 - seed / 10, 4.0 + seed / 20] for seed in range(8)], "rises")
