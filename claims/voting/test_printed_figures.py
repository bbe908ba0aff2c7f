"""What the post's printed figures say of one another: arithmetic, no model."""

from runtwice import claim

TABLE = "voting.blend.sweep-table"
CELLS = [f"w{weights}_n{rows}" for weights in (4, 12) for rows in (40, 300, 1800)]


@claim("voting.parable-average")
def test_the_four_scores_average(evidence):
    """A quarter of their sum."""
    evidence.derived("average", lambda scores: sum(scores) / len(scores), evidence.printed("scores"))


@claim("voting.blend.optimism-column")
def test_test_minus_holdout(evidence):
    """The difference of the two printed losses in each of the six rows."""
    for cell in CELLS:
        claimed, delivered = evidence.printed(cell, of=TABLE)
        evidence.derived(cell, lambda claimed, delivered: delivered - claimed, claimed, delivered)


@claim("voting.blend.rows-per-weight")
def test_whole_rows_per_weight(evidence):
    """Holdout sizes divided by the number of weights, without remainder as the post prints them."""
    for weights in (4, 12):
        evidence.derived(f"w{weights}", lambda rows, n=weights: [row // n for row in rows], evidence.printed("rows"))


@claim(
    "voting.blend.twelve-beats-average-even-thin",
    expect="refuted",
    because="the printed 0.2190 is below both averages (0.2711 and 0.2515) and below the best member (0.2409)",
)
def test_the_thin_blend_of_twelve_in_the_table(evidence):
    """On which side of the averages and of the best member the printed figure of the thinnest holdout lies."""
    blend = evidence.printed("w12_n40_test")
    others = {
        "against_its_average": "w12_average",
        "against_the_average_of_four": "w4_average",
        "against_the_best_member": "best_member",
    }
    for name, other in others.items():
        evidence.derived(
            name, lambda blend, other: "behind" if blend > other else "ahead", blend, evidence.printed(other)
        )


@claim("voting.blend.seventy-percent", expect="refuted", because="0.1492 is 58 percent of 0.2576")
def test_the_reported_share_of_the_real_loss(evidence):
    """The printed holdout loss as a share of the printed test loss."""
    reported, real = evidence.printed("reported"), evidence.printed("real")
    evidence.derived("share_pct", lambda reported, real: 100 * reported / real, reported, real)


@claim("voting.blend.thirty-percent", expect="refuted", because="0.1492 is 42 percent below 0.2576")
def test_how_much_better_than_reality(evidence):
    """How far the printed holdout loss lies below the printed test loss, as a share of the latter."""
    reported, real = evidence.printed("reported"), evidence.printed("real")
    evidence.derived("better_pct", lambda reported, real: 100 * (1 - reported / real), reported, real)


@claim("voting.blend.twelve-batches")
def test_batches_per_weight(evidence):
    """Twelve divided by four."""
    batches, weights = evidence.printed("batches"), evidence.printed("weights")
    evidence.derived("per_weight", lambda batches, weights: batches / weights, batches, weights)
