"""The statistics, by simulation and against SciPy.

Every simulation has a fixed seed and states its size. What a rate may be is computed, not guessed:
`likely(rate, n)` is the range of counts that a binomial of that rate leaves with probability 1e-4 on either
side.
"""

import inspect
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from runtwice import stats
from runtwice.stats import (
    BadSample,
    Degenerate,
    Estimate,
    TooFewSamples,
    bca,
    binomial_interval,
    conserved,
    detectable_effect,
    detectable_margin,
    effect_over_spread,
    equivalence,
    holm,
    inside,
    log_spread,
    monotone,
    outside,
    paired_differences,
    samples_for_margin,
    samples_needed,
    sign_flip,
    tendency,
    two_sample,
    u_shaped,
)

whole = st.integers(-50, 50)


def rng(seed=0):
    """A seeded generator."""
    return np.random.default_rng(seed)


def likely(rate, n):
    """The counts that a binomial leaves with probability 1e-4 on either side."""
    low, high = scipy_stats.binom.ppf([1e-4, 1 - 1e-4], n, rate)
    return range(int(low), int(high) + 1)


def covered(estimates, truth):
    """How many intervals hold the truth."""
    return sum(e.low <= truth <= e.high for e in estimates)


def rejected(estimates):
    """How many intervals leave out 0."""
    return sum(e.low > 0 or e.high < 0 for e in estimates)


def found_above(estimates):
    """How many intervals lie above 0."""
    return sum(e.low > 0 for e in estimates)


def flips_of(draw, n, reps, shift=0.0, confidence=0.95):
    """`sign_flip` on each of `reps` shifted samples of n."""
    return [sign_flip(shift + sample, confidence) for sample in draw((reps, n))]


def scipy_p(*samples, kind):
    """SciPy's exact two-sided permutation p for a mean or a difference of means."""
    statistic = {"samples": np.mean, "independent": lambda x, y, axis: x.mean(axis) - y.mean(axis)}[kind]
    result = scipy_stats.permutation_test(
        samples, statistic, permutation_type=kind, n_resamples=np.inf, vectorized=True
    )
    return result.pvalue


def flip_p(differences):
    """Two-sided sign-flip p, one flip at a time."""
    observed = math.fsum(differences)
    signs = list(itertools.product((1, -1), repeat=len(differences)))
    sums = [math.fsum(s * d for s, d in zip(flip, differences, strict=True)) for flip in signs]
    above = sum(total >= observed - 1e-9 for total in sums)
    below = sum(total <= observed + 1e-9 for total in sums)
    return min(1.0, 2 * min(above, below) / len(signs))


# --- sign flips --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 8, 11])
def test_sign_flip_p_is_scipys_exact_permutation_p(n):
    """The p-value equals `scipy.stats.permutation_test` over all 2**n flips."""
    differences = rng(n).normal(0.4, 1, n)
    assert sign_flip(differences).p_value == pytest.approx(scipy_p(differences, kind="samples"))


def test_sign_flip_of_signed_ranks_is_wilcoxon():
    """On signed ranks the test is Wilcoxon's exact signed-rank test."""
    differences = rng(3).normal(0.5, 1, 12)
    ranks = np.sign(differences) * scipy_stats.rankdata(np.abs(differences))
    expected = scipy_stats.wilcoxon(differences, method="exact").pvalue
    assert sign_flip(ranks).p_value == pytest.approx(expected)


def test_sign_flip_of_signs_is_the_sign_test():
    """On plus and minus one the test is the binomial sign test."""
    signs = np.array([1.0] * 9 + [-1.0])
    assert sign_flip(signs).p_value == pytest.approx(scipy_stats.binomtest(9, 10).pvalue)


@settings(deadline=None)
@given(st.lists(whole, min_size=6, max_size=8))
def test_sign_flip_p_with_ties_is_the_slow_one(differences):
    """Tied and zero differences give the p-value that flipping one sign vector at a time gives."""
    assert sign_flip(differences).p_value == pytest.approx(flip_p(differences))


@settings(deadline=None)
@given(st.lists(whole, min_size=6, max_size=7).filter(lambda d: len(set(d)) > 1))
def test_sign_flip_interval_is_where_the_test_accepts(differences):
    """A shift just inside the interval is accepted at 5%, one just outside is rejected."""
    estimate = sign_flip(differences)
    step = 1e-6
    shifted = [[d - t for d in differences] for t in (estimate.low, estimate.high)]
    assert all(flip_p(d) > 0.05 for d in shifted)
    assert flip_p([d - estimate.low + step for d in differences]) <= 0.05
    assert flip_p([d - estimate.high - step for d in differences]) <= 0.05


@settings(deadline=None)
@given(st.lists(whole, min_size=6, max_size=9), st.integers(-9, 9), st.integers(1, 5))
def test_sign_flip_moves_and_scales_with_the_sample(differences, shift, factor):
    """Shifting and stretching the differences does the same to the estimate and its interval."""
    plain = sign_flip(differences)
    moved = sign_flip(factor * np.array(differences) + shift)
    expected = np.array([plain.value, plain.low, plain.high]) * factor + shift
    assert [moved.value, moved.low, moved.high] == pytest.approx(list(expected))


@settings(deadline=None)
@given(st.lists(whole, min_size=6, max_size=9))
def test_swapping_the_arms_mirrors_the_answer(differences):
    """The interval of the negated differences is the mirrored interval, with the same p."""
    plain, mirrored = sign_flip(differences), sign_flip([-d for d in differences])
    assert (mirrored.low, mirrored.high) == pytest.approx((-plain.high, -plain.low))
    assert mirrored.p_value == plain.p_value


def test_drawn_flips_agree_with_all_flips(monkeypatch):
    """Drawing the flips at n = 14 gives the exact interval to a tenth of its width."""
    differences = rng(5).normal(0.3, 1, 14)
    exact = sign_flip(differences)
    monkeypatch.setattr(stats, "EXACT_FLIPS", 0)
    drawn = sign_flip(differences, rng=rng(1))
    width = exact.high - exact.low
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.1 * width)
    assert drawn.p_value == pytest.approx(exact.p_value, rel=0.15)


def test_drawn_flips_are_the_same_every_time():
    """Without a generator the same sample gives the same interval."""
    differences = rng(2).normal(size=40)
    assert sign_flip(differences) == sign_flip(differences)


SYMMETRIC = {
    "normal": lambda shape: rng(11).normal(size=shape),
    "t3": lambda shape: rng(12).standard_t(3, shape),
    "two-point": lambda shape: rng(13).choice([-1.0, 1.0], shape) + rng(14).normal(0, 0.01, shape),
}


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize(("n", "level"), [(6, 2 / 64), (8, 12 / 256), (12, 204 / 4096)])
def test_sign_flip_interval_covers_at_its_exact_level(name, n, level):
    """2 000 samples: the interval covers a symmetric centre at exactly 1 - 2k / 2**n, tails or no tails."""
    estimates = flips_of(SYMMETRIC[name], n, 2_000)
    assert covered(estimates, 0.0) in likely(1 - level, 2_000)


def test_sign_flip_stays_quiet_on_nothing():
    """2 000 samples of 8 at 99%: false alarms at the exact level, 2 / 256."""
    estimates = flips_of(SYMMETRIC["normal"], 8, 2_000, confidence=0.99)
    assert rejected(estimates) in likely(2 / 256, 2_000)


def test_drawn_flips_cover():
    """300 samples of 20, flips drawn: the 95% interval covers 95%."""
    samples = rng(15).normal(size=(300, 20))
    assert covered([sign_flip(s, rng=rng(i)) for i, s in enumerate(samples)], 0.0) in likely(0.95, 300)


@pytest.mark.parametrize(("n", "confidence"), [(6, 0.95), (8, 0.95), (12, 0.95), (8, 0.99), (10, 0.99)])
def test_detectable_effect_is_detected_four_times_in_five(n, confidence):
    """1 500 samples: a true effect of the detectable size is found with 80% power, give or take 2 points."""
    effect = detectable_effect(1.0, n, confidence)
    hits = found_above(flips_of(lambda shape: rng(n).normal(size=shape), n, 1_500, effect, confidence))
    assert likely(0.78, 1_500)[0] <= hits <= likely(0.82, 1_500)[-1]


def test_sign_flip_reports_what_its_own_spread_could_show():
    """The estimate's detectable effect is that of its standard deviation and n."""
    differences = rng(4).normal(size=9)
    assert sign_flip(differences).detectable == detectable_effect(differences.std(ddof=1), 9)


@pytest.mark.parametrize(("n", "confidence", "needed"), [(5, 0.95, 6), (1, 0.95, 6), (5, 0.8, 6), (7, 0.99, 8)])
def test_too_few_pairs_are_refused(n, confidence, needed):
    """Fewer than 6 pairs, or than the confidence needs, raise and say how many would do."""
    with pytest.raises(TooFewSamples, match=f"{n} pairs, need at least {needed}") as caught:
        sign_flip(np.arange(n) + 1.0, confidence)
    assert (caught.value.n, caught.value.needed) == (n, needed)


def test_equal_differences_have_no_width_and_say_so():
    """Six equal differences: zero width, p = 2 / 64, flagged as constant."""
    estimate = sign_flip([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3])
    assert (estimate.low, estimate.high) == pytest.approx((0.3, 0.3))
    assert (estimate.p_value, estimate.constant, estimate.detectable) == (2 / 64, True, 0.0)


def test_zero_differences_are_no_effect():
    """Six zero differences: estimate 0, p = 1, flagged as constant."""
    estimate = sign_flip([0.0] * 6)
    assert (estimate.value, estimate.p_value, estimate.constant) == (0.0, 1.0, True)


# --- two samples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_a", "n_b"), [(4, 4), (6, 6), (4, 9), (8, 5)])
def test_two_sample_p_is_scipys_exact_permutation_p(n_a, n_b):
    """The p-value equals SciPy's over all relabellings, for equal and unequal arms."""
    a, b = rng(n_a).normal(0.7, 1, n_a), rng(n_b + 50).normal(0, 1, n_b)
    estimate = two_sample(a, b)
    # SciPy doubles the smaller tail too, and caps it at 1
    assert estimate.p_value == pytest.approx(scipy_p(a, b, kind="independent"))
    assert (estimate.value, estimate.n) == (pytest.approx(a.mean() - b.mean()), min(n_a, n_b))


def test_two_sample_interval_is_where_the_test_accepts():
    """Shifting one arm to just inside the interval is accepted by SciPy, to just outside is rejected."""
    a, b = rng(1).normal(1, 1, 5), rng(2).normal(0, 1, 6)
    estimate = two_sample(a, b)
    inner = [estimate.low + 1e-9, estimate.high - 1e-9]
    outer = [estimate.low - 1e-9, estimate.high + 1e-9]
    assert all(scipy_p(a - t, b, kind="independent") > 0.05 for t in inner)
    assert all(scipy_p(a - t, b, kind="independent") <= 0.05 for t in outer)


def test_drawn_relabellings_agree_with_all_of_them(monkeypatch):
    """Drawing the relabellings at 8 against 8 gives the exact interval to a tenth of its width."""
    a, b = rng(7).normal(0.5, 1, 8), rng(8).normal(0, 1, 8)
    exact = two_sample(a, b)
    monkeypatch.setattr(stats, "EXACT_RELABELLINGS", 0)
    drawn = two_sample(a, b, rng=rng(1))
    width = exact.high - exact.low
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.1 * width)


@pytest.mark.parametrize(("n_a", "n_b"), [(5, 5), (7, 4)])
def test_two_sample_covers_and_finds(n_a, n_b):
    """1 000 pairs of samples: exact coverage of the shift, and 80% power at the detectable one."""
    k = math.floor(0.025 * math.comb(n_a + n_b, n_a))
    level = 2 * k / math.comb(n_a + n_b, n_a)
    effect = stats._noncentrality(level, n_a + n_b - 2, 0.8) * math.sqrt(1 / n_a + 1 / n_b)
    a, b = rng(21).normal(effect, 1, (1_000, n_a)), rng(22).normal(0, 1, (1_000, n_b))
    estimates = [two_sample(x, y) for x, y in zip(a, b, strict=True)]
    assert covered(estimates, effect) in likely(1 - level, 1_000)
    assert likely(0.77, 1_000)[0] <= found_above(estimates) <= likely(0.83, 1_000)[-1]


def test_two_sample_holds_its_level_under_unequal_spread():
    """1 000 pairs of 8 against 8, spread 1 against 3, equal means: at most 7% false alarms at 5%."""
    a, b = rng(31).normal(0, 1, (1_000, 8)), rng(32).normal(0, 3, (1_000, 8))
    assert rejected(two_sample(x, y) for x, y in zip(a, b, strict=True)) <= likely(0.07, 1_000)[-1]


def test_two_constant_arms_are_answered_and_flagged():
    """Constant arms: the difference without width; equal constants give p = 1, distinct ones 2 / C(8, 4)."""
    apart, same = two_sample([1.0] * 4, [2.0] * 4), two_sample([2.0] * 4, [2.0] * 4)
    assert (apart.low, apart.high, apart.p_value, apart.constant) == (-1.0, -1.0, pytest.approx(2 / 70), True)
    assert (same.value, same.p_value) == (0.0, 1.0)


def test_two_sample_refuses_three_against_three():
    """3 against 3 has 20 relabellings, which no 95% interval can be read off."""
    with pytest.raises(TooFewSamples, match="need at least 4"):
        two_sample([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])


# --- bootstrap ---------------------------------------------------------------------------------------------


def scipy_bca(sample, statistic, seed):
    """SciPy's BCa interval from as many resamples."""
    keyword = "rng" if "rng" in inspect.signature(scipy_stats.bootstrap).parameters else "random_state"
    result = scipy_stats.bootstrap(
        (sample,), statistic, method="BCa", n_resamples=stats.RESAMPLES, **{keyword: rng(seed)}
    )
    return tuple(result.confidence_interval)


@pytest.mark.parametrize("statistic", [np.mean, np.std])
def test_bca_is_scipys_on_the_same_resamples(statistic):
    """With the same generator the interval is that of `scipy.stats.bootstrap`."""
    sample = rng(1).lognormal(size=25)
    estimate = bca(sample, statistic, rng=rng(9))
    assert (estimate.low, estimate.high) == pytest.approx(scipy_bca(sample, statistic, 9), rel=1e-6)


def test_bca_takes_a_statistic_without_an_axis():
    """A plain function of one sample gives the interval of its vectorised twin."""
    sample = rng(1).normal(size=15)
    plain, fast = bca(sample, lambda x: float(np.mean(x))), bca(sample)
    assert (plain.low, plain.high) == pytest.approx((fast.low, fast.high))


def test_bca_covers_a_mean_from_twelve_up():
    """500 normal samples of 12: nominal 95% covers between 90% and 95%, as bootstraps of that size do."""
    estimates = [bca(s, rng=rng(i)) for i, s in enumerate(rng(41).normal(size=(500, 12)))]
    assert likely(0.90, 500)[0] <= covered(estimates, 0.0) <= likely(0.95, 500)[-1]


def test_bca_finds_its_detectable_effect():
    """400 samples of 20 with a mean of the detectable size: found with 75 to 87% power."""
    effect = detectable_effect(1.0, 20)
    estimates = [bca(s, rng=rng(i)) for i, s in enumerate(rng(42).normal(effect, 1, (400, 20)))]
    assert likely(0.75, 400)[0] <= found_above(estimates) <= likely(0.87, 400)[-1]
    assert np.median([e.detectable for e in estimates]) == pytest.approx(effect, rel=0.1)


@pytest.mark.parametrize("statistic", [np.min, np.max, lambda x: 1.0])
def test_bca_refuses_what_no_bootstrap_covers(statistic):
    """An extreme value or a constant statistic is degenerate, not an interval of NaN."""
    with pytest.raises(Degenerate):
        bca(rng(1).normal(size=20), statistic)


def test_bca_refuses_a_constant_sample_and_a_short_one():
    """A constant sample is degenerate and 11 values are too few."""
    with pytest.raises(Degenerate, match="on every resample"):
        bca([2.5] * 20)
    with pytest.raises(TooFewSamples, match="need at least 12"):
        bca(np.arange(11.0))


def test_bca_refuses_a_statistic_that_is_not_finite():
    """A statistic that turns NaN on a resample is named."""
    with pytest.raises(BadSample, match="not finite"):
        bca(np.arange(20.0), lambda x: math.nan)


# --- spreads -----------------------------------------------------------------------------------------------


def spread_estimates(ratio, reps, replicates=8, m=5, seed=51):
    """Log spread ratios of normal replicates whose true ratio is known."""
    a = rng(seed).normal(0, ratio, (reps, replicates, m))
    b = rng(seed + 1).normal(0, 1, (reps, replicates, m))
    return [log_spread(list(x), list(y)) for x, y in zip(a, b, strict=True)]


def test_log_spread_covers_and_stays_quiet():
    """1 000 sets of 8 replicates of 5: coverage and false alarms at the exact level 12 / 256."""
    estimates = spread_estimates(1.0, 1_000)
    assert covered(estimates, 0.0) in likely(1 - 12 / 256, 1_000)


def test_log_spread_finds_a_threefold_spread():
    """300 sets of 8 replicates of 5: a true ratio of 3 is found in at least 95%."""
    estimates = spread_estimates(3.0, 300)
    assert found_above(estimates) >= likely(0.95, 300)[0]
    assert covered(estimates, math.log(3)) in likely(1 - 12 / 256, 300)


def test_log_spread_ignores_level_and_unit():
    """Moving and stretching both arms of a replicate leaves the ratio alone."""
    a, b = rng(1).normal(size=(6, 5)), rng(2).normal(size=(6, 5))
    plain, moved = log_spread(list(a), list(b)), log_spread(list(7 * a + 3), list(7 * b - 4))
    assert moved.value == pytest.approx(plain.value)


@pytest.mark.parametrize(
    ("a", "b", "error", "names"),
    [
        ([[1.0, 2.0]] * 6, [[1.0, 2.0]] * 5, BadSample, "replicates_b"),
        ([[1.0, 2.0]] * 6, [[1.0, 2.0]] * 5 + [[1.0, 2.0, 3.0]], BadSample, r"replicates_b\[5\]"),
        ([[1.0, 1.0]] * 6, [[1.0, 2.0]] * 6, Degenerate, r"replicates_a\[0\]"),
        ([[1.0]] * 6, [[1.0]] * 6, TooFewSamples, r"values in replicates_a\[0\]"),
        ([[1.0, 2.0]] * 5, [[1.0, 2.0]] * 5, TooFewSamples, "5 replicates"),
        ([[1.0, math.nan]] * 6, [[1.0, 2.0]] * 6, BadSample, r"replicates_a\[0\]"),
    ],
)
def test_log_spread_names_the_bad_replicate(a, b, error, names):
    """Unequal, constant, single and NaN replicates are refused by name."""
    with pytest.raises(error, match=names):
        log_spread(a, b)


def effect_estimates(ratio, reps, draw, n=8, m=20):
    """Effects of known mean over repeats of unit spread."""
    return [effect_over_spread(ratio + draw(n), draw(m), rng=rng(i)) for i in range(reps)]


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0, 2.0])
def test_effect_over_spread_covers_normal_errors(ratio):
    """500 sets of 8 effects and 20 repeats: the 95% interval covers at least 95%."""
    source = rng(61)
    estimates = effect_estimates(ratio, 500, lambda n: source.normal(size=n))
    assert covered(estimates, ratio) >= likely(0.95, 500)[0]


def test_effect_over_spread_seldom_calls_a_large_effect_small():
    """500 sets of t5 errors, effect as large as the spread: called smaller in at most 5%."""
    source = rng(62)
    estimates = effect_estimates(1.0, 500, lambda n: source.standard_t(5, n) / math.sqrt(5 / 3))
    assert sum(e.high < 1 for e in estimates) <= likely(0.05, 500)[-1]


def test_effect_over_spread_can_show_that_an_effect_is_small():
    """300 sets of 40 effects of a tenth of the spread, and 40 repeats: shown to be smaller in 95% or more."""
    source = rng(63)
    estimates = effect_estimates(0.1, 300, lambda n: source.normal(size=n), n=40, m=40)
    assert sum(e.high < 1 for e in estimates) >= likely(0.95, 300)[0]


def test_effect_over_spread_pools_repeats_inside_groups():
    """Levels that differ between groups do not count as repeat-to-repeat spread."""
    repeats = rng(1).normal(size=(6, 4))
    plain = effect_over_spread(np.arange(6.0), repeats)
    lifted = effect_over_spread(np.arange(6.0), repeats + 100 * np.arange(6)[:, None])
    assert lifted.value == pytest.approx(plain.value)


def test_spread_of_repeats_is_the_pooled_deviation():
    """Three repeats in each of six groups: the spread is the root of the mean variance within groups."""
    repeats, effects = rng(2).normal(size=(6, 3)), np.array([0.5, 0.7, 0.4, 0.6, 0.5, 0.6])
    expected = effects.mean() / math.sqrt(repeats.var(axis=1, ddof=1).mean())
    assert effect_over_spread(effects, repeats).value == pytest.approx(expected)


def test_heavy_tails_of_the_repeats_widen_the_interval():
    """Repeats of the same deviation say less about it where a few of them make it up."""
    light = np.tile([-1.0, 1.0], 15)
    heavy = np.where(np.arange(30) < 2, light, 0.0) * math.sqrt(15)
    widths = [e.high - e.low for e in (effect_over_spread([2.0, 2.1] * 4, r) for r in (light, heavy))]
    assert np.std(light) == pytest.approx(np.std(heavy))
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.parametrize(
    ("effects", "repeats", "error"),
    [
        ([1.0] * 5, [1.0, 2.0] * 5, TooFewSamples),
        ([1.0] * 6, [1.0, 2.0], TooFewSamples),
        ([1.0] * 6, [0.3] * 8, Degenerate),
        ([1.0] * 6, [[1.0, 2.0], [1.0]], BadSample),
    ],
)
def test_effect_over_spread_refuses_bad_input(effects, repeats, error):
    """Too few effects or repeats, constant and ragged repeats are refused."""
    with pytest.raises(error):
        effect_over_spread(effects, repeats)


# --- trends ------------------------------------------------------------------------------------------------


def slow_monotone(curve):
    """Never down, and up in the end."""
    return all(b >= a for a, b in itertools.pairwise(curve)) and curve[-1] > curve[0]


def slow_u(curve):
    """Some inner point splits the curve into a fall and a rise, both proper."""
    return any(slow_monotone(curve[i::-1]) and slow_monotone(curve[i:]) for i in range(1, len(curve) - 1))


curve_sets = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=6, max_size=7)


@settings(deadline=None)
@given(curve_sets)
def test_share_of_monotone_seeds_is_the_slow_one(curves):
    """The share counts the seeds that a point-by-point reading calls rising, or falling when mirrored."""
    expected = sum(map(slow_monotone, curves)) / len(curves)
    assert monotone(curves, "up").value == expected
    assert monotone(-np.array(curves), "down").value == expected


@settings(deadline=None)
@given(curve_sets)
def test_share_of_u_shaped_seeds_is_the_slow_one(curves):
    """The share counts the seeds with a proper fall, then a proper rise; a hill is the mirrored U."""
    expected = sum(map(slow_u, curves)) / len(curves)
    assert u_shaped(curves).value == expected
    assert u_shaped(-np.array(curves), "down").value == expected


def test_slack_forgives_small_steps_back():
    """A step back of 1 counts as level with slack 1, and a whole rise of 1 then counts as none."""
    assert monotone([[0, 3, 2, 5]] * 6, slack=1.0).value == 1.0
    assert monotone([[0, 0, 1, 1]] * 6, slack=1.0).value == 0.0
    assert u_shaped([[5, 1, 2, 1, 5]] * 6, slack=1.0).value == 1.0


def test_conserved_is_a_range_within_a_fraction_of_the_mean():
    """A range of 10% of the mean passes 0.1 and fails 0.09."""
    curves = [[9.5, 10.0, 10.5]] * 6
    assert (conserved(curves, 0.1).value, conserved(curves, 0.09).value) == (1.0, 0.0)


def test_six_seeds_lift_a_share_above_one_half():
    """Six of six seeds clear one half at 95%, five of six do not."""
    rising, falling = [0.0, 1.0], [1.0, 0.0]
    assert monotone([rising] * 6).low > 0.5
    assert monotone([rising] * 5 + [falling]).low < 0.5


@pytest.mark.parametrize(("hits", "n"), [(0, 6), (3, 6), (6, 6), (17, 40)])
def test_share_interval_and_p_are_scipys(hits, n):
    """Interval and p-value of a share equal `scipy.stats.binomtest` against one half."""
    expected = scipy_stats.binomtest(hits, n)
    estimate = monotone([[0.0, 1.0]] * hits + [[1.0, 0.0]] * (n - hits))
    interval = expected.proportion_ci(0.95, method="exact")
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high))
    assert estimate.p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("n", [6, 12, 30])
def test_detectable_share_is_detected_four_times_in_five(n):
    """Exact binomial sums: at the detectable share the interval clears one half with 80% power."""
    share = 0.5 + monotone([[0.0, 1.0]] * n).detectable
    hits = np.arange(n + 1)
    clears = np.array([binomial_interval(h, n)[0] > 0.5 for h in hits])
    assert scipy_stats.binom.pmf(hits[clears], n, share).sum() == pytest.approx(0.8)


def test_share_interval_covers():
    """2 000 sets of 10 seeds, 7 in 10 rising: Clopper-Pearson covers at least 95%."""
    hits = rng(71).binomial(10, 0.7, 2_000)
    intervals = [binomial_interval(h, 10) for h in hits]
    assert sum(low <= 0.7 <= high for low, high in intervals) >= likely(0.95, 2_000)[0]


def test_tendency_is_mean_kendall_tau():
    """The estimate is the mean over seeds of SciPy's Kendall tau against the order of the sweep."""
    curves = rng(2).normal(size=(7, 9))
    taus = [scipy_stats.kendalltau(np.arange(9), c).statistic for c in curves]
    assert tendency(curves).value == pytest.approx(np.mean(taus))
    assert tendency(curves, "down").value == pytest.approx(-np.mean(taus))


def test_tendency_stays_quiet_and_finds_a_slope():
    """500 sets of 8 seeds: flat noise alarms at 12 / 256 or, tau being discrete, less; a slope is found."""
    noise = rng(81).normal(size=(500, 8, 6))
    quiet = rejected(tendency(c) for c in noise)
    assert quiet <= likely(12 / 256, 500)[-1]
    assert found_above(tendency(c) for c in noise[:200] + np.arange(6)) >= likely(0.95, 200)[0]


@pytest.mark.parametrize("curves", [[[1.0]] * 6, [1.0, 2.0], [[1.0, 2.0], [1.0]], [[1.0, math.inf]] * 6, []])
@pytest.mark.parametrize("trend", [monotone, tendency, lambda c: conserved(c, 0.1), u_shaped])
def test_trends_refuse_bad_curves(curves, trend):
    """One point, one curve, ragged, infinite and empty curves are refused."""
    with pytest.raises(BadSample, match="curves"):
        trend(curves)


def test_trends_refuse_unknown_directions_and_negative_tolerance():
    """A direction other than up or down, and a negative tolerance, are named."""
    with pytest.raises(ValueError, match="'sideways'"):
        monotone([[1.0, 2.0]] * 6, "sideways")
    with pytest.raises(ValueError, match=r"-0\.1"):
        conserved([[1.0, 2.0]] * 6, -0.1)


# --- equivalence -------------------------------------------------------------------------------------------


def shown_equivalent(true, margin, n, reps, seed=91):
    """How many samples around `true` are shown to lie within the margin."""
    samples = rng(seed).normal(true, 1.0, (reps, n))
    return sum(inside(equivalence(s), -margin, margin) for s in samples)


@pytest.mark.parametrize("n", [8, 15])
def test_equivalence_is_seldom_claimed_at_the_margin(n):
    """1 000 samples whose true difference is the margin: called equivalent in at most 5%."""
    assert shown_equivalent(1.5, 1.5, n, 1_000) <= likely(0.05, 1_000)[-1]


@pytest.mark.parametrize("n", [6, 9, 14])
def test_detectable_margin_is_shown_four_times_in_five(n):
    """1 000 samples of equal arms: shown to lie within the detectable margin with 77 to 83% power."""
    hits = shown_equivalent(0.0, detectable_margin(1.0, n), n, 1_000)
    assert likely(0.77, 1_000)[0] <= hits <= likely(0.83, 1_000)[-1]


def test_equivalence_carries_its_interval_and_margin():
    """The confidence is 1 - 2 alpha and `detectable` is the margin this spread could have shown."""
    differences = rng(5).normal(size=9)
    estimate = equivalence(differences, alpha=0.01)
    assert estimate.confidence == pytest.approx(0.98)
    assert estimate.detectable == detectable_margin(differences.std(ddof=1), 9, 0.01)


def test_inside_and_outside_want_the_whole_interval():
    """An interval across the bound is neither inside nor outside."""
    across = Estimate(1.0, 0.5, 1.5, 0.95, 8, 0.1, "")
    assert (inside(across, 0.0, 2.0), outside(across, 2.0, 3.0)) == (True, True)
    assert (inside(across, 0.0, 1.0), outside(across, 0.0, 1.0)) == (False, False)


# --- multiple testing -- -----------------------------------------------------------------------


def naive_holm(p_values, alpha):
    """Holm through adjusted p-values: the running maximum of (m - rank) p."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.maximum.accumulate(np.asarray(p_values)[order] * factors)
    answer = np.zeros(len(p_values), dtype=bool)
    answer[order] = adjusted <= alpha
    return answer.tolist()


@settings(deadline=None)
@given(st.lists(st.integers(0, 100).map(lambda p: p / 512), min_size=1, max_size=12))
def test_holm_is_the_adjusted_form(p_values):
    """The step-down rule rejects what comparing adjusted p-values rejects, ties included."""
    assert holm(p_values, 0.0625) == naive_holm(p_values, 0.0625)


def test_holm_holds_the_family_error():
    """2 000 families of 10 true nulls and 2 real effects: any false rejection in at most 5%."""
    p_values = rng(111).random((2_000, 12))
    p_values[:, 10:] *= 1e-3
    false = sum(any(holm(list(p), 0.05)[:10]) for p in p_values)
    assert false <= likely(0.05, 2_000)[-1]


def test_holm_of_nothing_and_of_nonsense():
    """An empty family rejects nothing; NaN and 1.5 are refused."""
    assert holm([], 0.05) == []
    for bad in (math.nan, 1.5):
        with pytest.raises(BadSample, match="position 1"):
            holm([0.5, bad], 0.05)


# --- design ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spread", "effect"), [(1.0, 1.0), (0.02, 0.05), (1.0, 0.2)])
def test_samples_needed_is_the_smallest_n_that_detects(spread, effect):
    """At that n the effect is detectable, one pair fewer it is not (or would be below the floor)."""
    n = samples_needed(spread, effect)
    assert detectable_effect(spread, n) <= effect
    assert n == 6 or detectable_effect(spread, n - 1) > effect


def test_samples_needed_is_about_the_t_test():
    """A t-test needs 34 pairs for half a standard deviation at 95% and 80% power; so do we, within one."""
    assert abs(samples_needed(1.0, 0.5) - 34) <= 1


@pytest.mark.parametrize(("spread", "margin", "expected"), [(0.02, 0.05, 6), (0.05, 0.05, 11), (0.1, 0.05, 36)])
def test_samples_for_margin(spread, margin, expected):
    """Pairs to show equivalence with 80% power, from the normal formula to within two (never under 6)."""
    assert abs(samples_for_margin(spread, margin) - expected) <= 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: detectable_effect(-1.0, 10), r"-1\.0"),
        (lambda: detectable_effect(math.nan, 10), "nan"),
        (lambda: samples_needed(1.0, 0.0), r"0\.0"),
        (lambda: samples_for_margin(1.0, 0.0), r"0\.0"),
        (lambda: detectable_effect(1.0, 10, power=1.0), "power"),
        (lambda: sign_flip([1.0] * 6, confidence=1.0), "confidence"),
        (lambda: equivalence([1.0] * 6, alpha=0.5), "alpha"),
        (lambda: binomial_interval(3, 2), "3 of 2"),
    ],
)
def test_design_refuses_bad_numbers(call, message):
    """Negative or NaN spreads, effects and margins of 0, and probabilities of 0 or 1 are named."""
    with pytest.raises(ValueError, match=message):
        call()


# --- bad samples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sample",
    [
        [],
        [math.nan] * 12,
        [1.0, math.inf] * 6,
        [[1.0, 2.0]] * 12,
        ["a"] * 12,
        [None] * 12,
        [[1.0], [1.0, 2.0]],
        3.0,
    ],
    ids=["empty", "nan", "infinite", "2-d", "text", "none", "ragged", "scalar"],
)
@pytest.mark.parametrize("function", [sign_flip, bca, equivalence, lambda s: two_sample(s, np.arange(12.0))])
def test_bad_samples_are_refused_by_name(sample, function):
    """Empty, NaN, infinite, ragged, 2-d or non-numeric samples raise an error that names the sample."""
    with pytest.raises(BadSample, match=r"sample '(differences|samples|a)': got"):
        function(sample)


def test_a_bad_value_is_located():
    """The message gives the offending value and where it is."""
    with pytest.raises(BadSample, match="nan at position 2"):
        sign_flip([1.0, 2.0, math.nan, 4.0, 5.0, 6.0])


def test_pairs_of_unequal_length_are_refused():
    """Pairs need one value of each arm; the message counts both."""
    with pytest.raises(BadSample, match="sample 'new': got 2 values, need 3, one for each of 'old'"):
        paired_differences([1.0, 2.0, 3.0], [1.0, 2.0], names=("old", "new"))
    assert list(paired_differences([3.0, 2.0], [1.0, 5.0])) == [2.0, -3.0]
