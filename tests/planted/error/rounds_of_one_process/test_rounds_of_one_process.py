from runtwice import claim


@claim("rounds_of_one_process.claim")
def test_rounds_of_one_process(evidence):
    """Fifty rounds of one process, handed over as they came: one process is one observation."""
    rounds_s = [[1.0 + 0.001 * i for i in range(50)]]
    evidence.above(rounds_s, [[0.5] * 50], paired=True)
