"""What the recap prints against what the posts it sums up print, and against itself: arithmetic, no model."""

from itertools import pairwise

from runtwice import claim


def _difference(a, b):
    return abs(a - b)


@claim(
    "recap.noise-table",
    expect="refuted",
    because="at 20 trials the post prints spreads of 0.0146 and 0.0077; 0.0128 is that of another experiment",
)
def test_each_cell_against_its_source(evidence):
    """Every effect from the two scores it is the difference of, every noise from the spreads of its own set-up."""
    sources = {
        "grid_3p_effect": ("grid_3p_score", "random_3p_score"),
        "grid_6p_effect": ("grid_6p_score", "random_6p_score"),
        "tpe20_effect": ("tpe20_score", "random20_score"),
    }
    for name, (a, b) in sources.items():
        evidence.derived(name, _difference, evidence.printed(a), evidence.printed(b))
    evidence.derived(
        "blend_optimism", _difference, evidence.printed("blend_claims"), evidence.printed("blend_delivers")
    )
    evidence.derived("grid_3p_noise", float, evidence.printed("random_3p_spread"))
    for own in ("tpe20_spread", "random20_spread"):
        evidence.derived("tpe20_noise", float, evidence.printed(own))


@claim(
    "recap.burst-window",
    expect="refuted",
    because="12 minutes and 27 seconds from first to last, in steps of 2:14, 6:01 and 4:12",
)
def test_from_the_first_post_to_the_last(evidence):
    """The date lines of the four posts: how many, how long from first to last, and the steps between them."""
    times = evidence.printed("published_s")

    def window(times):
        minutes = (max(times) - min(times)) / 60
        return "inside 10 minutes" if minutes <= 10 else f"{minutes:.1f} minutes"

    def gaps(times):
        minutes = [(b - a) / 60 for a, b in pairwise(sorted(times))]
        return (
            "all about 4 minutes"
            if all(3 <= one <= 5 for one in minutes)
            else f"{min(minutes):.1f} to {max(minutes):.1f}"
        )

    evidence.derived("posts", len, times)
    evidence.derived("window", window, times)
    evidence.derived("gaps", gaps, times)


@claim("recap.two-more-posts", expect="refuted", because="four posts are listed")
def test_posts_announced_and_listed(evidence):
    """The number announced against the length of the list that follows."""
    announced, listed = int(evidence.printed("announced")), [str(one) for one in evidence.printed("listed")]
    evidence.identical(len(listed), announced)
