"""What the post's printed figures say of one another: arithmetic, no model."""

from runtwice import claim

TABLE, BASES = "stacking.stack-table", "stacking.base-table"


@claim("stacking.gain-size")
def test_the_lead_over_the_best_member(evidence):
    """The printed score of the clean stack minus that of the booster."""
    stack, best = evidence.printed("oof", of=TABLE), evidence.printed("boosting", of=BASES)
    evidence.derived("gain", lambda stack, best: stack - best, stack, best)


@claim(
    "stacking.loss-0550",
    expect="refuted",
    because="it is 0.0520 below the booster that the gain is counted from, and 0.0550 below the clean stack",
)
def test_gain_and_loss_from_the_same_baseline(evidence):
    """Both stacks counted from the booster, the best member."""
    best = evidence.printed("boosting", of=BASES)
    clean, leak = evidence.printed("oof", of=TABLE), evidence.printed("leak", of=TABLE)
    evidence.derived("gain", lambda stack, best: stack - best, clean, best)
    evidence.derived("loss", lambda stack, best: best - stack, leak, best)


@claim("stacking.one-to-three-points", expect="refuted", because="the printed gain is 0.29 to 0.31 points")
def test_the_gain_in_points(evidence):
    """The printed gain in hundredths of R2, in words where it lies between 1 and 3."""

    def points(stack, best):
        gain = 100 * (stack - best)
        return "1 to 3" if 1 <= gain <= 3 else f"{gain:.1f}"

    evidence.derived("points", points, evidence.printed("oof", of=TABLE), evidence.printed("boosting", of=BASES))


@claim("stacking.parable-ledger", expect="refuted", because="60 + 9 + 26 + 232.5 = 327.5")
def test_the_ledger_adds_up(evidence):
    """The four drafts by the four weights."""
    evidence.derived(
        "result",
        lambda weights, drafts: sum(weight * draft for weight, draft in zip(weights, drafts)),
        evidence.printed("weights"),
        evidence.printed("drafts"),
    )


@claim("stacking.parable-biases", expect="refuted", because="Delia's 310 lies above the truth of 295")
def test_who_errs_and_which_way(evidence):
    """Each draft against the truth: by how much, who is nearest, and on which side."""
    names = ("Ambrose", "Beatrix", "Colm", "Delia")
    drafts, truth = evidence.printed("drafts"), evidence.printed("truth")
    # "About 35 percent" is a whole number of percent cut off, not rounded: the quotient is 35.6.
    evidence.derived("ambrose_pct", lambda drafts, truth: int(100 * (drafts[0] / truth - 1)), drafts, truth)
    evidence.derived(
        "nearest", lambda drafts, truth: min(zip(names, drafts), key=lambda one: abs(one[1] - truth))[0], drafts, truth
    )
    evidence.derived("delia", lambda drafts, truth: "low" if drafts[3] < truth else "high", drafts, truth)
