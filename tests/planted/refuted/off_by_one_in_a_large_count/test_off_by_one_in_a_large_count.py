from runtwice import claim


@claim("off_by_one_in_a_large_count.claim")
def test_off_by_one_in_a_large_count(evidence):
    """As floats the two counts would be one."""
    evidence.figure("operations", 2**53)
