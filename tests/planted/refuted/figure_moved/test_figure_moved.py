from runtwice import claim


@claim("figure_moved.claim")
def test_figure_moved(evidence):
    """A run that gives another share than the one printed."""
    evidence.figure("share_pct", 45.2)
