from runtwice import claim


@claim("figures_that_do_not_add_up.claim")
def test_figures_that_do_not_add_up(evidence):
    """No rounding of the three makes them a hundred."""
    evidence.derived("total", sum, evidence.printed("shares"))
