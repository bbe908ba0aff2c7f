"""Sequential evidence, by exact sums and by simulation.

Every simulation has a fixed seed and states its size. `likely(rate, n)` is the range of counts that a binomial of
that rate leaves with probability 1e-4 on either side.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from runtwice import sequential
from runtwice.sequential import SignEProcess, SignSequence, sign_sequence, values_needed, win_rate_decided
from runtwice.stats import BadSample, TooFewSamples


def rng(seed=0):
    return np.random.default_rng(seed)


def likely(rate, n):
    low, high = scipy_stats.binom.ppf([1e-4, 1 - 1e-4], n, rate)
    return range(int(low), int(high) + 1)


def run_process(tosses):
    """The process after these tosses."""
    process = SignEProcess()
    for win in tosses:
        process.update(bool(win))
    return process


def test_e_process_is_a_martingale():
    """Averaged over all 2**10 sequences of a fair coin, E is exactly 1."""
    values = [run_process(tosses).value for tosses in itertools.product((0, 1), repeat=10)]
    assert np.mean(values) == pytest.approx(1.0, abs=1e-12)


def test_e_process_is_the_likelihood_integrated_over_jeffreys_prior():
    """E equals 2**n times the integral of p**k (1 - p)**(n - k) under Beta(1/2, 1/2)."""
    process = run_process([1, 1, 0, 1, 1, 1, 0, 1])
    p = scipy_stats.beta(0.5, 0.5)
    assert process.value == pytest.approx(2**8 * p.expect(lambda x: x**6 * (1 - x) ** 2), rel=1e-4)


@pytest.mark.parametrize(("alpha", "straight"), [(0.05, 7), (0.01, 10)])
def test_straight_wins_needed(alpha, straight):
    """Seven wins in a row decide at 5%, ten at 1%, and no fewer."""
    assert run_process([1] * straight).decided(alpha)
    assert not run_process([1] * (straight - 1)).decided(alpha)


def decided_at(tosses, alpha):
    """(runs, n) -> (runs,): the toss at which E reached 1/alpha, or infinity; E in its predictive form."""
    wins = np.cumsum(tosses, axis=1)
    seen = np.arange(tosses.shape[1])
    before = wins - tosses
    bet = np.where(tosses, before + 0.5, seen - before + 0.5) / (seen + 1)
    reached = np.cumsum(np.log(2 * bet), axis=1) >= -math.log(alpha)
    return np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, np.inf)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_looking_after_every_toss_does_not_inflate_the_error(alpha):
    """4 000 fair coins of 1 000 tosses, looked at after each: at most alpha are ever decided."""
    tosses = rng(101).random((4_000, 1_000)) < 0.5
    assert np.isfinite(decided_at(tosses, alpha)).sum() <= likely(alpha, 4_000)[-1]


def test_predictive_form_is_the_process():
    """The vectorised form used above decides the same runs as the class."""
    tosses = rng(102).random((100, 60)) < 0.7
    assert list(np.isfinite(decided_at(tosses, 0.05))) == [run_process(t).decided(0.05) for t in tosses]


@pytest.mark.parametrize(("rate", "low", "high"), [(0.9, 9, 14), (0.8, 18, 26), (0.7, 40, 54)])
def test_e_process_decides_in_the_expected_number_of_pairs(rate, low, high):
    """2 000 runs: the median tosses to decide at 5% are about 12, 22 and 47 at win rates .9, .8 and .7."""
    tosses = rng(103).random((2_000, 400)) < rate
    assert low <= np.median(decided_at(tosses, 0.05)) <= high


def test_e_process_stays_decided_and_finite():
    """Once decided it stays so, and thousands of wins do not overflow the log."""
    process = run_process([1] * 10 + [0] * 10)
    assert process.decided(0.01)
    assert math.isfinite(run_process([1] * 3_000).log_value)


# --- the interval ------------------------------------------------------------------------------------------


def slow_interval(values, alpha, candidates):
    """The centres that a process fed with `value > centre` never decides against, one candidate at a time."""
    kept = [c for c in candidates if not run_process([v > c for v in values if v != c]).decided(alpha)]
    return min(kept), max(kept)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_sign_sequence_is_the_process_turned_inside_out(alpha):
    """Centres inside the interval were never decided against, those just outside it were."""
    values = rng(1).normal(0.3, 1, 24)
    estimate = sign_sequence(values, 1 - alpha)
    candidates = np.concatenate([values - 1e-9, values, values + 1e-9])
    assert slow_interval(values, alpha, candidates) == pytest.approx((estimate.low, estimate.high), abs=2e-9)


def ever_missed(samples, centre, confidence):
    """How many sequences have an interval without the centre at any of their lengths."""
    missed = 0
    for sample in samples:
        sequence, spans = SignSequence(confidence), []
        for value in sample:
            sequence.update(value)
            spans.append((sequence.low, sequence.high))
        missed += any(not low <= centre <= high for low, high in spans)
    return missed


def test_sign_sequence_covers_a_skewed_median_at_every_length():
    """1 000 exponential sequences of 40, looked at after each value: the median is ever missed in at most 5%."""
    samples = rng(2).exponential(size=(1_000, 40))
    assert ever_missed(samples, math.log(2), 0.95) <= likely(0.05, 1_000)[-1]


def test_sign_sequence_narrows_only():
    """A longer prefix never has the wider interval."""
    values = rng(3).normal(size=30)
    spans = [sign_sequence(values[:n]) for n in range(7, 31)]
    assert all(a.low <= b.low and b.high <= a.high for a, b in itertools.pairwise(spans))


def test_a_centre_once_excluded_stays_excluded():
    """Ten values above 0 exclude it for good, though ten below follow."""
    sequence = SignSequence(0.99)
    for value in [1.0 + i / 100 for i in range(10)] + [-1.0 - i / 100 for i in range(10)]:
        sequence.update(value)
    assert sequence.low > 0.0


def test_sign_sequence_decides_with_the_process():
    """The interval leaves out 0 exactly when the process on the signs has decided; p is 1 over its peak."""
    for shift in (0.0, 0.7, -1.5):
        values = rng(4).normal(shift, 1, 20)
        process = run_process(values > 0)
        estimate = sign_sequence(values, 0.99)
        assert (estimate.low > 0 or estimate.high < 0) == process.decided(0.01)
        assert estimate.p_value == pytest.approx(math.exp(-process.log_peak))


def test_sign_sequence_of_equal_values_says_so():
    """Equal values give an interval without width, flagged as constant."""
    estimate = sign_sequence([0.2] * 7)
    assert (estimate.low, estimate.high, estimate.constant, estimate.detectable) == (0.2, 0.2, True, 0.0)


def test_sign_sequence_refuses_what_cannot_decide():
    """Nine values cannot decide at 99%; NaN is refused by name."""
    with pytest.raises(TooFewSamples, match="need at least 10"):
        sign_sequence(np.arange(9.0), 0.99)
    with pytest.raises(BadSample, match="values"):
        sign_sequence([math.nan] * 10)


# --- design ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.7, 0.9, 0.99])
def test_probability_of_deciding_is_what_is_seen(rate):
    """4 000 runs of 30 tosses: the computed probability of deciding for the wins at 1% is the share that do."""
    tosses = rng(5).random((4_000, 30)) < rate
    seen = np.isfinite(decided_at(tosses, 0.01)).sum()
    assert seen in likely(win_rate_decided(rate, 30, 0.01), 4_000)


@pytest.mark.parametrize("n", [10, 16, 25])
def test_detectable_shift_is_detected_four_times_in_five(n):
    """2 000 sequences: normal values shifted by the detectable size are told from 0 with 80% power."""
    shift = sequential._median_shift(n, 0.01)
    tosses = rng(n).normal(shift, 1, (2_000, n)) > 0
    assert np.isfinite(decided_at(tosses, 0.01)).sum() in likely(0.8, 2_000)


def test_values_needed_is_the_smallest_number_that_decides():
    """At that number the probability of deciding is 80%, one value fewer has less."""
    rate = scipy_stats.norm.cdf(0.05 / 0.04)
    n = values_needed(0.04, 0.05, 0.01)
    assert win_rate_decided(rate, n, 0.01) >= 0.8 > win_rate_decided(rate, n - 1, 0.01)


def test_values_needed_at_the_edges():
    """No spread needs unanimity, a vanishing effect at least the most that is counted, no effect is refused."""
    assert values_needed(0.0, 0.1, 0.01) == 10
    assert values_needed(1.0, 1e-6, 0.01, most=100) == 100
    with pytest.raises(ValueError, match="not 0"):
        values_needed(1.0, 0.0, 0.01)
