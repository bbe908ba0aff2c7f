from runtwice import claim


@claim("condition_passed_off_as_a_result.claim")
def test_condition_passed_off_as_a_result(evidence):
    """The number of seeds that was asked for, not of those that ran."""
    evidence.figure("seeds_run", evidence.given("seeds"))
