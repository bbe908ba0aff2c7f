from runtwice import claim


@claim("wrong_procedure_came_out_right.claim")
def test_wrong_procedure_came_out_right(evidence):
    """The faulty procedure, on an input that does not show the fault."""
    evidence.procedure(wrong=40.0, right=40.0, correct=40.0)
