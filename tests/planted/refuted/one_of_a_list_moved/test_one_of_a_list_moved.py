from runtwice import claim


@claim("one_of_a_list_moved.claim")
def test_one_of_a_list_moved(evidence):
    """Two of three parts agree."""
    evidence.figure("steps", [1, 2, 4])
