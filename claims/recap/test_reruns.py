"""What searches differ by when they are only run again, on the interpolated problems of the search posts."""

from runtwice import claim


@claim(
    "recap.top-three-inside-noise",
    expect="refuted",
    because="on six parameters random search leads by 0.010, 2.5 standard deviations (1.2 to 3.9) over ten seeds",
)
def test_gaps_of_the_first_three_rows(evidence, first_rows):
    """Mean gap of each comparison over seeds against the spread of random search over seeds, on the posts' data."""
    conditions = ("search_seeds", "real_seeds", "trials", "tpe_trials")
    for label, gap in first_rows(*(evidence.given(name) for name in conditions)).items():
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
