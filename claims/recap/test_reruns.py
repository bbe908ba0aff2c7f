"""What searches differ by when they are only run again, on the interpolated problems of the search posts."""

from runtwice import claim


@claim("recap.top-three-inside-noise")
def test_gaps_of_the_first_three_rows(evidence):
    """Mean gap of each comparison over data sets against the spread of random search over seeds, within data sets."""
    from claims.experiments import search_gaps

    rows = search_gaps.posts_first_rows(*(evidence.given(name) for name in ("seeds", "trials", "tpe_trials")))
    for label, gap in rows.items():
        evidence.smaller_than_noise(gap.effects, gap.repeats, label=label)


@claim("recap.highest-return-is-rerun")
def test_single_runs_and_ten_of_them(evidence):
    """How often grid against random search names the wrong winner, by one run and by the mean of ten."""
    from claims.experiments import search_gaps

    single, several = search_gaps.wrong_verdicts(*(evidence.given(name) for name in ("seeds", "trials", "repeats")))
    evidence.above(single, several, paired=True)


@claim("recap.self-test-first")
def test_random_search_against_itself(evidence):
    """Share of pairs of runs of random search further apart than the reported gap, one value a data set."""
    from claims.experiments import search_gaps

    apart = search_gaps.reruns_apart(*(evidence.given(name) for name in ("seeds", "trials", "reported")))
    evidence.above(apart, evidence.given("share"))
