"""Linear models in synthetic worlds: what a bracket gains by a fit of its own, and what a filter costs."""

import numpy as np

from runtwice import claim

LOW, HIGH = slice(0, 4), slice(4, 7)


def column(studies, name):
    """One entry of every world's study, shape (worlds, brackets)."""
    return np.array([one[name] for one in studies])


def overall(studies, name):
    """Accuracy over all brackets, world by world."""
    return [float(np.dot(one["shares"], one[name])) for one in studies]


def gains(studies):
    """What a fit of its own is worth to each bracket, in points, (worlds, brackets)."""
    return column(studies, "own") - column(studies, "pooled")


@claim("draft.bracket-table")
def test_accuracies_by_bracket(evidence, linear_worlds):
    """Mean expected accuracy of each bracket's own fit over the worlds."""
    studies = linear_worlds("linear_drift", evidence.given("worlds"))
    evidence.figure("accuracy_pct", column(studies, "own").mean(axis=0))


@claim("draft.divine-gain")
def test_what_divine_gains(evidence, linear_worlds):
    """Mean gain of the highest bracket over the worlds."""
    evidence.figure("gain_points", gains(linear_worlds("linear_drift", evidence.given("worlds")))[:, 6].mean())


@claim("draft.middle-gain")
def test_what_the_middle_gains(evidence, linear_worlds):
    """Largest mean gain of Crusader, Archon and Legend over the worlds."""
    found = gains(linear_worlds("linear_drift", evidence.given("worlds"))).mean(axis=0)
    evidence.figure("gain_points", found[2:5].max())


@claim("draft.predicted-gain")
def test_the_forecast_in_synthetic_worlds(evidence, linear_worlds):
    """Mean of the gains weighted by population."""
    studies = linear_worlds("linear_drift", evidence.given("worlds"))
    evidence.figure("predicted_points", np.mean([one["forecast"] for one in studies]))


@claim("draft.gain-grows-with-distance")
def test_who_gains_and_who_does_not(evidence, linear_worlds):
    """Rank correlation of gain and squared distance from the mean rank; no gain without drift, nor from a noisy top."""
    from scipy.stats import spearmanr

    from implementations.drafts.world import BRACKETS, distance_from_mean

    drifting = linear_worlds("linear_drift", evidence.given("worlds"))
    steady, noisy = (linear_worlds(kind, evidence.given("controls")) for kind in ("no_drift", "noisy_top"))
    distance = distance_from_mean() ** 2
    for bracket, found in zip(BRACKETS, gains(drifting).T):
        evidence.keep(f"gain of {bracket}", found)
    ranks = [float(spearmanr(distance, row).statistic) for row in gains(drifting)]
    evidence.above(ranks, float(evidence.given("spearman")), label="rank correlation")
    likeness = column(drifting, "likeness")
    evidence.above(likeness[:, 3], likeness[:, 6], paired=True, label="pooled weights are like Archon's")
    evidence.above(np.zeros(len(steady)), gains(steady).mean(axis=1), paired=True, label="no drift, no gain")
    own = column(noisy, "own")
    evidence.above(own[:, LOW].mean(axis=1), own[:, 6], paired=True, label="a noisy top is called less often")
    few = gains(drifting)[: len(noisy), 6]
    evidence.above(few, gains(noisy)[:, 6], paired=True, label="and gains less than a drifting one")


@claim(
    "draft.seven-fits-vs-embedding",
    expect="refuted",
    because="a joint model with every hero times every bracket is the seven fits to 1e-9",
)
def test_one_family_of_models(evidence, linear_worlds):
    """Seven fits against one joint model, weight by weight; then the gain by number of directions of rank."""
    from claims.experiments import draft_worlds

    gap = draft_worlds.interaction_gap(0, float(evidence.given("ridge")))
    studies = linear_worlds("linear_drift", evidence.given("worlds"))
    for rank, found in enumerate(column(studies, "low rank").T, 1):
        evidence.keep(f"gain with {rank} directions", found)
    evidence.keep("gain of the seven fits", [one["forecast"] for one in studies])
    evidence.figure("mechanisms", "one family" if gap < float(evidence.given("tolerance")) else "different")
    evidence.figure("fits", len(studies[0]["own"]))


@claim("draft.restriction-kept", expect="holds")
def test_what_the_restriction_costs(evidence, linear_worlds):
    """The pooled fit against one of Herald to Archon alone: above Archon, and how much more there than below."""
    studies = linear_worlds("linear_drift", evidence.given("worlds"))
    lost = column(studies, "pooled") - column(studies, "filtered")
    evidence.above(lost[:, HIGH].mean(axis=1), 0.0, label="above Archon")
    own = gains(studies)[:, LOW].mean(axis=1)
    evidence.above(own, -lost[:, LOW].mean(axis=1), paired=True, label="it helps below by less than fits by bracket")


@claim("draft.rank-is-variable")
def test_three_uses_of_rank(evidence, linear_worlds):
    """Accuracy over all brackets: rank as an input against rank ignored and rank as a filter."""
    studies = linear_worlds("linear_drift", evidence.given("worlds"))
    for other in ("pooled", "filtered"):
        evidence.above(overall(studies, "own"), overall(studies, other), paired=True, label=other)


@claim(
    "draft.old-confounds",
    expect="refuted",
    because="mixed modes narrow the gap by 2.0 points and a leaky split by 0.1; only the pooled fit widens it, by 1.5",
)
def test_what_widens_the_gap(evidence, sweep):
    """The gap between low and high brackets with one thing wrong, less the gap with none, world by world."""
    from claims.experiments import draft_worlds

    found = sweep(draft_worlds.old_gaps, range(evidence.given("seeds")))
    for way in ("mixed modes", "leaky split", "pooled fit"):
        evidence.above([one[way] for one in found], [one["clean"] for one in found], paired=True, label=way)


@claim("draft.herald-explanations")
def test_what_could_make_the_dip(evidence, sweep):
    """Points the lowest bracket's own fit loses to each kind of strange account; and whether smurfs show elsewhere."""
    from claims.experiments import draft_worlds

    found = sweep(draft_worlds.herald_mixtures, range(evidence.given("seeds")))
    least = draft_worlds.FACTOR * float(evidence.printed("dip_points"))
    for name in ("new accounts", "smurfs", "rare players"):
        evidence.above([one[name]["drop"] for one in found], least, label=name)
    for name in ("new accounts", "rare players"):
        smurfs, others = ([one[kind]["transfer"] for one in found] for kind in ("smurfs", name))
        evidence.above(smurfs, others, paired=True, label=f"a fit from above tells smurfs from {name}")


@claim("draft.herald-should-peak")
def test_noise_that_rises_with_rank(evidence):
    """Accuracy of perfect models: Herald less the best of the others, with noise that rises with rank, and falls."""
    from claims.experiments import draft_worlds

    noise, matches = float(evidence.given("noise_sd")), evidence.given("matches")
    found = [draft_worlds.peak_margins(seed, noise, matches) for seed in range(evidence.given("seeds"))]
    evidence.above([one["rising"] for one in found], 0.0, label="noise rises with rank")
    evidence.above([-one["falling"] for one in found], 0.0, label="noise falls with rank: Herald is not the peak")


@claim("draft.signed-bag")
def test_what_a_signed_bag_can_say(evidence):
    """Swapped sides, shuffled picks, and the second difference over two heroes, on random bags and drafts."""
    from hypothesis import given
    from hypothesis import strategies as st

    from claims.experiments import draft_networks, small_drafts
    from implementations.drafts.bag_of_heroes import Bag

    @given(st.integers(0, 2**32 - 1))
    def check(seed):
        rng = np.random.default_rng(seed)
        bag = Bag(rng.normal(size=16), float(rng.normal()))
        heroes = rng.permutation(16)
        said = lambda *rows: bag.log_odds(np.array(rows))  # noqa: E731 - one line
        one = heroes[:10]
        there, back, shuffled = said(one, np.roll(one, 5), np.concatenate([rng.permutation(one[:5]), one[5:]]))
        assert np.isclose(there - bag.intercept, bag.intercept - back)
        assert np.isclose(there, shuffled)
        # Change the first pick, the second (or an opponent's), and both: a bag adds the two changes.
        other = int(rng.integers(1, 10))
        a, b, both = one.copy(), one.copy(), one.copy()
        a[0] = both[0] = heroes[10]
        b[other] = both[other] = heroes[11]
        plain, first, second, together = said(one, a, b, both)
        assert np.isclose(together - first - second + plain, 0, atol=1e-9)

    evidence.every(check)
    evidence.figure("canary_log_loss", draft_networks.smallest_run()["log loss"])
    evidence.figure("canary_forecast_points", small_drafts.forecast_points())
