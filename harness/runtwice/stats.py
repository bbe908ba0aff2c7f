"""The statistics behind verdicts: pure functions from samples to an estimate with its interval.

Follows: sign-flip and permutation tests with the interval by inversion (Hartigan 1969, typical values); BCa
bootstrap (Efron 1987); Clopper-Pearson; Holm 1979.
Leaves out: stopping early (`sequential.py`), what an estimate means for a claim (`verdict.py`), and every clock,
file and global seed.

Each entry of a sample is one independent unit: a seed, a data split, a process, a run. Rounds of one process
are not units; averaging them first is the caller's business. Where `rng` is None a fixed generator is used,
so that the same samples always give the same interval.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Statistic = Callable[..., Any]

MIN_PAIRS = 6
MIN_BOOTSTRAP = 12
POWER = 0.8
EXACT_FLIPS = 16  # up to 2**16 sign vectors are enumerated, beyond that they are drawn
EXACT_RELABELLINGS = 2**16
SIMULATED_REACH = 10  # pairs up to which the detectable effect is simulated, not approximated
DRAWS = 19_999
RESAMPLES = 9_999
_CHUNK_CELLS = 4_000_000
_TIE = 1e-12  # relative to the largest value: closer than this is a tie, not rounding in the last bit


class BadSample(ValueError):
    """A sample no statistic can be computed from; the message names it and the offending value."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(f"sample {name!r}: got {value}, need {wanted}")
        self.name = name
        self.value = value


class TooFewSamples(ValueError):
    """Fewer independent units than any answer at this confidence needs."""

    def __init__(self, n: int, needed: int, what: str = "independent units") -> None:
        super().__init__(f"{n} {what}, need at least {needed}")
        self.n = n
        self.needed = needed


class Degenerate(ValueError):
    """A sample without spread where a spread is what the statistic is made of."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"sample {name!r} is degenerate: {why}")
        self.name = name


@dataclass(frozen=True)
class Estimate:
    """An estimate, its interval, and what the data could have shown.

    Args:
        value: the estimate.
        low: lower end of the interval.
        high: upper end of the interval.
        confidence: coverage of the interval, in (0, 1).
        n: number of independent units (the smaller arm where there are two).
        detectable: the smallest effect that this n and spread would have told from none with 80% power.
        method: the procedure, in words.
        p_value: two-sided, against no effect; None where the procedure has none.
        constant: every unit gave the same value, so that the interval has no width. It is still valid if the
            units are independent; a seed that never reached the experiment looks the same.
    """

    value: float
    low: float
    high: float
    confidence: float
    n: int
    detectable: float
    method: str
    p_value: float | None = None
    constant: bool = False


# --- validation --------------------------------------------------------------------------------------------


def as_sample(values: ArrayLike, name: str) -> Floats:
    """A one-dimensional, non-empty, finite float array.

    Args:
        values: shape (n,).
        name: how an error calls it.

    Returns:
        The values, float64 of shape (n,).

    Raises:
        BadSample: not numeric, ragged, not one-dimensional, empty, NaN or infinite.
    """
    array = _as_floats(values, name)
    if array.ndim != 1:
        raise BadSample(name, f"shape {array.shape}", "one value per independent unit, shape (n,)")
    return array


def paired_differences(a: ArrayLike, b: ArrayLike, names: tuple[str, str] = ("a", "b")) -> Floats:
    """a - b, unit by unit.

    Raises:
        BadSample: unequal lengths, or what `as_sample` refuses.
    """
    left, right = as_sample(a, names[0]), as_sample(b, names[1])
    if left.size != right.size:
        raise BadSample(names[1], f"{right.size} values", f"{left.size}, one for each of {names[0]!r}")
    return left - right


def _as_floats(values: ArrayLike, name: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise BadSample(name, f"{values!r:.80}", f"numbers in one rectangular array ({problem})") from None
    if array.size == 0:
        raise BadSample(name, "nothing", "at least one value")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise BadSample(name, f"{array.flat[bad[0]]} at position {bad[0]}", "finite values")
    return array


def _as_curves(curves: ArrayLike, points: int) -> Floats:
    array = _as_floats(curves, "curves")
    if array.ndim != 2 or array.shape[1] < points:
        raise BadSample("curves", f"shape {array.shape}", f"(seeds, points) with at least {points} points")
    return array


def check_fraction(name: str, value: float) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")


def is_constant(sample: Floats) -> bool:
    """Whether all values are the same up to rounding in the last bits."""
    return bool(np.ptp(sample) <= _TIE * np.abs(sample).max())


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng(0) if rng is None else rng


# --- permutation tests, inverted ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Permutations:
    """Every relabelling but the identity, each as the shift at which it ties with what was observed.

    A relabelling counts against the shift t from above exactly where its tie lies at or below t. So the ties
    sorted are the test for all shifts at once, and the interval is read off at the k-th from either end.
    """

    ties: Floats
    total: int  # relabellings, the identity included

    def cut(self, alpha: float) -> int:
        # 1e-9 keeps alpha = 1 - 0.95 = 0.050000000000000044 and its like on the intended side
        return math.floor(alpha / 2 * self.total + 1e-9) - (self.total - 1 - self.ties.size)

    def interval(self, alpha: float) -> tuple[float, float]:
        k = self.cut(alpha)
        last = self.ties.size - k
        ordered = np.partition(self.ties, sorted({k - 1, last}))
        return float(ordered[k - 1]), float(ordered[last])

    def p_value(self, scale: float) -> float:
        unseen = self.total - self.ties.size  # the identity counts on both sides
        below = unseen + int(np.count_nonzero(self.ties <= _TIE * scale))
        above = unseen + int(np.count_nonzero(self.ties >= -_TIE * scale))
        return min(1.0, 2 * min(below, above) / self.total)


def sign_flip(differences: ArrayLike, confidence: float = 0.95, rng: np.random.Generator | None = None) -> Estimate:
    """Mean of paired differences by sign flips, with the interval by inversion.

    Exact (all 2**n flips) up to n = 16, 19 999 drawn flips and the identity beyond. Valid where the
    differences are independent and symmetric about their centre; equal spreads or normality are not asked
    for. Differences that are all equal get an interval without width and `constant=True`: under symmetry
    about any other centre that outcome has probability at most 2**-n a side, which is what the p-value says.

    Args:
        differences: shape (n,), one per pair.
        confidence: coverage of the interval.
        rng: draws the flips for n > 16.

    Returns:
        The mean difference, with p-value and smallest detectable mean difference.

    Raises:
        TooFewSamples: fewer than 6 pairs, or than 2 / 2**n <= 1 - confidence asks for.
        BadSample: what `as_sample` refuses.
    """
    sample = as_sample(differences, "differences")
    _require_pairs(sample.size, confidence)
    if is_constant(sample):
        return _constant_flip(sample, confidence)
    flips = _sign_flips(sample, _generator(rng))
    low, high = flips.interval(1 - confidence)
    return Estimate(
        value=float(sample.mean()),
        low=low,
        high=high,
        confidence=confidence,
        n=sample.size,
        detectable=detectable_effect(float(sample.std(ddof=1)), sample.size, confidence),
        method="sign-flip permutation",
        p_value=flips.p_value(float(np.abs(sample).max())),
    )


def _constant_flip(sample: Floats, confidence: float) -> Estimate:
    value = float(sample[0])
    p_value = 1.0 if value == 0.0 else 2.0 ** (1 - sample.size)
    method = "sign-flip permutation, all differences equal"
    return Estimate(value, value, value, confidence, sample.size, 0.0, method, p_value, constant=True)


def _sign_flips(sample: Floats, rng: np.random.Generator) -> _Permutations:
    if sample.size <= EXACT_FLIPS:
        return _Permutations(_subset_means(sample), 2**sample.size)
    ties = []
    for rows in _chunks(DRAWS, sample.size):
        flipped = rng.integers(0, 2, size=(rows, sample.size), dtype=np.int8)  # (rows, n)
        sizes = flipped.sum(axis=1, dtype=np.int64)
        moved = sizes > 0
        ties.append((flipped @ sample)[moved] / sizes[moved])
    return _Permutations(np.concatenate(ties), DRAWS + 1)


def _subset_means(samples: Floats) -> Floats:
    """The mean of every non-empty subset: where flipping it ties with flipping none. (..., n) -> (..., 2**n - 1)."""
    sums, sizes = np.zeros((*samples.shape[:-1], 1)), np.zeros(1)
    for value in np.moveaxis(samples, -1, 0):
        sums = np.concatenate([sums, sums + value[..., None]], axis=-1)
        sizes = np.concatenate([sizes, sizes + 1.0])
    means: Floats = sums[..., 1:] / sizes[1:]
    return means


def _chunks(rows: int, width: int) -> Iterable[int]:
    step = max(1, _CHUNK_CELLS // width)
    for start in range(0, rows, step):
        yield min(step, rows - start)


def _pairs_needed(confidence: float) -> int:
    check_fraction("confidence", confidence)
    return max(MIN_PAIRS, math.ceil(math.log2(2 / (1 - confidence)) - 1e-9))


def _require_pairs(n: int, confidence: float, what: str = "pairs") -> None:
    needed = _pairs_needed(confidence)
    if n < needed:
        raise TooFewSamples(n, needed, what)


def two_sample(
    a: ArrayLike, b: ArrayLike, confidence: float = 0.95, rng: np.random.Generator | None = None
) -> Estimate:
    """Difference of the means of two unpaired samples by relabelling, with the interval by inversion.

    Tests a pure shift: arms of unequal spread *and* unequal length break it, arms of equal length barely.
    Exact where there are at most 65 536 relabellings (9 against 9), 19 999 drawn ones and the identity
    beyond.

    Args:
        a: shape (n_a,).
        b: shape (n_b,).
        confidence: coverage of the interval.
        rng: draws the relabellings where they are too many.

    Returns:
        mean(a) - mean(b), with n = min(n_a, n_b).

    Raises:
        TooFewSamples: too few relabellings for this confidence (below 4 against 4 at 95%).
        BadSample: what `as_sample` refuses.
    """
    left, right = as_sample(a, "a"), as_sample(b, "b")
    _require_arms(left.size, right.size, confidence)
    n, value = min(left.size, right.size), float(left.mean() - right.mean())
    pooled = _pooled_deviation(left, right)
    scale = float(max(np.abs(left).max(), np.abs(right).max()))
    if pooled <= _TIE * scale:
        p_value = 1.0 if abs(value) <= _TIE * scale else 2 / min(math.comb(left.size + right.size, n), DRAWS + 1)
        method = "two-sample permutation, both arms constant"
        return Estimate(value, value, value, confidence, n, 0.0, method, min(1.0, p_value), constant=True)
    relabelled = _relabellings(left, right, rng)
    low, high = relabelled.interval(1 - confidence)
    level = 2 * relabelled.cut(1 - confidence) / relabelled.total
    factor = _noncentrality(level, left.size + right.size - 2, POWER)
    detectable = factor * pooled * math.sqrt(1 / left.size + 1 / right.size)
    p_value = relabelled.p_value(scale)
    return Estimate(value, low, high, confidence, n, detectable, "two-sample permutation", p_value)


def _require_arms(n_a: int, n_b: int, confidence: float) -> None:
    check_fraction("confidence", confidence)
    alpha = 1 - confidence
    if n_a < 2 or n_b < 2 or math.comb(n_a + n_b, n_a) * alpha / 2 < 1 - 1e-9:
        needed = next(n for n in range(2, 1100) if math.comb(2 * n, n) * alpha / 2 >= 1 - 1e-9)
        raise TooFewSamples(min(n_a, n_b), needed, "values in the smaller arm")


def _pooled_deviation(a: Floats, b: Floats) -> float:
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    return math.sqrt(squares / (a.size + b.size - 2))


def _relabellings(a: Floats, b: Floats, rng: np.random.Generator | None) -> _Permutations:
    n_a, n_b = a.size, b.size
    total = math.comb(n_a + n_b, n_a)
    if total <= EXACT_RELABELLINGS:
        return _Permutations(_swap_ties(_all_memberships(n_a, n_b), a, b), total)
    chunks = list(_chunks(DRAWS, n_a + n_b))
    if rng is None and len(chunks) == 1:
        return _Permutations(_swap_ties(_fixed_memberships(n_a, n_b), a, b), DRAWS + 1)
    generator = _generator(rng)
    ties = [_swap_ties(_drawn_memberships(rows, n_a, n_b, generator), a, b) for rows in chunks]
    return _Permutations(np.concatenate(ties), DRAWS + 1)


def _drawn_memberships(rows: int, n_a: int, n_b: int, rng: np.random.Generator) -> Flags:
    first = np.arange(n_a + n_b) < n_a
    return rng.permuted(np.tile(first, (rows, 1)), axis=1)  # (rows, n_a + n_b)


@lru_cache(maxsize=8)
def _fixed_memberships(n_a: int, n_b: int) -> Flags:
    """What the fixed generator draws: the same for all samples of these lengths, and most of the work."""
    return _drawn_memberships(DRAWS, n_a, n_b, _generator(None))


@lru_cache(maxsize=8)
def _all_memberships(n_a: int, n_b: int) -> Flags:
    chosen = np.array(list(combinations(range(n_a + n_b), n_a)), dtype=np.intp)  # (C(n, n_a), n_a)
    member = np.zeros((len(chosen), n_a + n_b), dtype=np.bool_)
    np.put_along_axis(member, chosen, True, axis=1)
    return member


def _swap_ties(member: Flags, a: Floats, b: Floats) -> Floats:
    """Mean of the values that leave `a` minus mean of those that enter; the identity is dropped."""
    leave, enter = ~member[:, : a.size], member[:, a.size :]  # (rows, n_a), (rows, n_b)
    swapped = enter.sum(axis=1)
    moved = swapped > 0
    ties: Floats = (leave[moved] @ a - enter[moved] @ b) / swapped[moved]
    return ties


# --- bootstrap ---------------------------------------------------------------------------------------------


def bca(
    samples: ArrayLike,
    statistic: Statistic = np.mean,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """Bias-corrected and accelerated bootstrap of any smooth statistic, from 9 999 resamples.

    Args:
        samples: shape (n,), n >= 12: below that a 95% interval of a mean covers 80-86%.
        statistic: maps an array to one number; used along `axis=-1` where it takes an axis.
        confidence: coverage of the interval.
        rng: draws the resamples.

    Returns:
        The statistic of the samples; no p-value.

    Raises:
        TooFewSamples: n < 12.
        Degenerate: the statistic barely varies over resamples, or is an extreme value, which no bootstrap
            covers.
        BadSample: what `as_sample` refuses, or a statistic that is not finite.
    """
    sample = as_sample(samples, "samples")
    check_fraction("confidence", confidence)
    if sample.size < MIN_BOOTSTRAP:
        raise TooFewSamples(sample.size, MIN_BOOTSTRAP)
    along = _vectorised(statistic)
    value = float(along(sample[None, :])[0])
    replicates = _resampled(sample, along, _generator(rng))
    _require_variation(value, replicates)
    low, high = np.quantile(replicates, _bca_levels(sample, along, value, replicates, 1 - confidence))
    error = float(replicates.std(ddof=1))
    detectable = _noncentrality(1 - confidence, sample.size - 1, POWER) * error
    return Estimate(value, float(low), float(high), confidence, sample.size, detectable, "BCa bootstrap")


def _vectorised(statistic: Statistic) -> Callable[[Floats], Floats]:
    try:
        takes_axis = "axis" in inspect.signature(statistic).parameters
    except ValueError:  # some C callables have no signature
        takes_axis = False
    if takes_axis:
        return lambda rows: np.asarray(statistic(rows, axis=-1), dtype=np.float64)
    return lambda rows: np.array([float(statistic(row)) for row in rows])


def _resampled(sample: Floats, along: Callable[[Floats], Floats], rng: np.random.Generator) -> Floats:
    parts = []
    for rows in _chunks(RESAMPLES, sample.size):
        parts.append(along(sample[rng.integers(0, sample.size, (rows, sample.size))]))
    return np.concatenate(parts)


def _require_variation(value: float, replicates: Floats) -> None:
    if not (math.isfinite(value) and np.isfinite(replicates).all()):
        raise BadSample("samples", "a statistic that is not finite", "a statistic defined on every resample")
    scale = max(abs(value), float(np.abs(replicates).max()))
    if np.ptp(replicates) <= _TIE * scale:
        raise Degenerate("samples", f"the statistic is {value!r} on every resample")
    below = np.count_nonzero(replicates < value)
    if below == 0 or np.count_nonzero(replicates > value) == 0:
        raise Degenerate("samples", f"the statistic {value!r} is the most extreme of its resamples")


def _bca_levels(
    sample: Floats, along: Callable[[Floats], Floats], value: float, replicates: Floats, alpha: float
) -> Floats:
    share = (np.count_nonzero(replicates < value) + np.count_nonzero(replicates <= value)) / (2 * replicates.size)
    bias = special.ndtri(share)
    kept = ~np.eye(sample.size, dtype=np.bool_)
    left_out = along(np.broadcast_to(sample, kept.shape)[kept].reshape(sample.size, -1))  # (n, n - 1) -> (n,)
    pull = left_out.mean() - left_out
    spread = float((pull**2).sum())
    acceleration = (pull**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    z = bias + special.ndtri(np.array([alpha / 2, 1 - alpha / 2]))
    levels: Floats = special.ndtr(bias + z / (1 - acceleration * z))
    return levels


# --- spreads -----------------------------------------------------------------------------------------------


def log_spread(
    replicates_a: Sequence[ArrayLike],
    replicates_b: Sequence[ArrayLike],
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """log(spread A / spread B), one value per replicate, by sign flips over the replicates.

    The spread is the standard deviation. A replicate is a data set or split, inside which both arms were run
    equally often; seeds on one data set are one replicate.

    Args:
        replicates_a: one array a replicate, each of shape (m,), m >= 2.
        replicates_b: the same replicates under the other arm, each of the same length.
        confidence: coverage of the interval.
        rng: draws the flips for more than 16 replicates.

    Returns:
        Mean log ratio: below 0 means that A is the narrower.

    Raises:
        TooFewSamples: fewer than 6 replicates, or a replicate of one value.
        Degenerate: a replicate without spread.
        BadSample: unequal numbers of replicates, or of values inside one.
    """
    if len(replicates_a) != len(replicates_b):
        raise BadSample("replicates_b", f"{len(replicates_b)} replicates", f"{len(replicates_a)}, as in A")
    _require_pairs(len(replicates_a), confidence, "replicates")
    ratios = [_log_ratio(i, a, b) for i, (a, b) in enumerate(zip(replicates_a, replicates_b, strict=True))]
    estimate = sign_flip(ratios, confidence, rng)
    return _renamed(estimate, "log spread ratio, " + estimate.method)


def _log_ratio(index: int, a: ArrayLike, b: ArrayLike) -> float:
    names = f"replicates_a[{index}]", f"replicates_b[{index}]"
    left, right = as_sample(a, names[0]), as_sample(b, names[1])
    if left.size != right.size:
        # the log of a standard deviation is biased by its length, so unequal lengths would fake a ratio
        raise BadSample(names[1], f"{right.size} values", f"{left.size}, as in {names[0]}")
    return math.log(_deviation(left, names[0]) / _deviation(right, names[1]))


def _deviation(sample: Floats, name: str) -> float:
    if sample.size < 2:
        raise TooFewSamples(sample.size, 2, f"values in {name}")
    if is_constant(sample):
        raise Degenerate(name, f"every value is {float(sample[0])!r}")
    return float(sample.std(ddof=1))


def _renamed(estimate: Estimate, method: str) -> Estimate:
    return replace(estimate, method=method)


def effect_over_spread(
    effects: ArrayLike, repeats: ArrayLike, confidence: float = 0.95, rng: np.random.Generator | None = None
) -> Estimate:
    """|mean effect| over the repeat-to-repeat spread: below 1, the effect is smaller than its own noise.

    The interval propagates a t-distributed mean and a chi-squared variance, its degrees of freedom cut down
    by the sample's excess kurtosis, through the ratio, and then folds at 0. Meant for errors not far from
    normal.

    Args:
        effects: shape (n,), one effect a unit (say, the difference of two arms at one seed).
        repeats: shape (m,), the same thing repeated, or (groups, m), repeats inside several groups whose
            levels may differ; their pooled standard deviation is the spread.
        confidence: coverage of the interval.
        rng: draws the 20 000 propagated values.

    Returns:
        The ratio (>= 0); `detectable` is the smallest ratio that would have been told from 0.

    Raises:
        TooFewSamples: fewer than 6 effects or 6 repeats.
        Degenerate: repeats without spread.
        BadSample: NaN, infinite, ragged or empty input.
    """
    sample, repeated = as_sample(effects, "effects"), _as_floats(repeats, "repeats")
    _require_pairs(sample.size, confidence, "effects")
    spread, freedom = _repeat_spread(repeated)
    mean, error = float(sample.mean()), float(sample.std(ddof=1)) / math.sqrt(sample.size)
    generator = _generator(rng)
    means = mean - error * generator.standard_t(sample.size - 1, DRAWS)
    spreads = spread * np.sqrt(freedom / generator.chisquare(freedom, DRAWS))
    low, high = _folded(*np.quantile(means / spreads, [(1 - confidence) / 2, (1 + confidence) / 2]))
    detectable = detectable_effect(float(sample.std(ddof=1)), sample.size, confidence) / spread
    method = "effect over spread, propagated t and chi-squared"
    ratio, still = abs(mean) / spread, is_constant(sample)
    return Estimate(ratio, low, high, confidence, sample.size, detectable, method, constant=still)


def _repeat_spread(repeats: Floats) -> tuple[float, float]:
    """Pooled standard deviation and its effective degrees of freedom."""
    groups = np.atleast_2d(repeats)
    freedom = groups.size - groups.shape[0]
    if groups.ndim != 2 or freedom + 1 < MIN_PAIRS:
        raise TooFewSamples(groups.size, MIN_PAIRS - 1 + groups.shape[0], "repeats")
    within = groups - groups.mean(axis=1, keepdims=True)
    variance = float((within**2).sum()) / freedom
    if variance <= (_TIE * float(np.abs(groups).max())) ** 2:
        raise Degenerate("repeats", f"every repeat is {float(groups.flat[0])!r}")
    kurtosis = max(0.0, float((within**4).mean()) / float((within**2).mean()) ** 2 - 3.0)
    # var(s**2) / sigma**4 = 2 / freedom + kurtosis / n: the chi-squared with that variance
    return math.sqrt(variance), 2.0 / (2.0 / freedom + kurtosis / groups.size)


def _folded(low: float, high: float) -> tuple[float, float]:
    nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return float(nearest), float(max(abs(low), abs(high)))


# --- trends: a property of each seed's curve, then the share of seeds that have it -------------------------


def monotone(
    curves: ArrayLike,
    direction: Literal["up", "down"] = "up",
    slack: float = 0.0,
    confidence: float = 0.95,
) -> Estimate:
    """Share of seeds whose curve goes one way, steps back of at most `slack` set aside.

    A constant curve goes neither way: its ends must differ by more than `slack`.

    Args:
        curves: shape (seeds, points), points along the sweep.
        direction: "up" or "down".
        slack: a step back this small counts as level, in the units of the curves.
        confidence: coverage of the Clopper-Pearson interval of the share.

    Returns:
        The share, `p_value` against one half; `detectable` is how far above one half the true share must lie.

    Raises:
        TooFewSamples: fewer than 6 seeds, or than could lift the interval above one half.
        BadSample: not two-dimensional, fewer than 2 points, NaN or infinite.
    """
    rises = _oriented(_as_curves(curves, 2), direction)
    forward = (np.diff(rises, axis=1) >= -slack).all(axis=1)
    return _share(forward & (rises[:, -1] - rises[:, 0] > slack), confidence, f"monotone {direction}")


def u_shaped(
    curves: ArrayLike,
    direction: Literal["up", "down"] = "up",
    slack: float = 0.0,
    confidence: float = 0.95,
) -> Estimate:
    """Share of seeds whose curve has one valley inside the sweep (`direction="up"`), or one hill ("down").

    The extreme point is inside, both ends lie more than `slack` beyond it, and no step on either side goes
    the wrong way by more than `slack`.

    Args:
        curves: shape (seeds, points), at least 3 points.
        direction: which way the arms of the U point.
        slack: a step this small counts as level.
        confidence: coverage of the Clopper-Pearson interval of the share.

    Returns:
        The share, as `monotone` does.

    Raises:
        TooFewSamples: as `monotone`.
        BadSample: as `monotone`.
    """
    valleys = _oriented(_as_curves(curves, 3), direction)
    bottom = valleys.argmin(axis=1)  # (seeds,)
    floor = valleys.min(axis=1)
    steps = np.diff(valleys, axis=1)
    after = np.arange(steps.shape[1]) >= bottom[:, None]
    one_bend = np.where(after, steps >= -slack, steps <= slack).all(axis=1)
    arms = (valleys[:, 0] - floor > slack) & (valleys[:, -1] - floor > slack)
    return _share(one_bend & arms, confidence, "U-shaped" if direction == "up" else "hill-shaped")


def conserved(curves: ArrayLike, rel: float, confidence: float = 0.95) -> Estimate:
    """Share of seeds whose curve stays put: its range is at most `rel` times the size of its mean.

    Args:
        curves: shape (seeds, points), at least 2 points.
        rel: allowed range, as a fraction of |mean|.
        confidence: coverage of the Clopper-Pearson interval of the share.

    Returns:
        The share, as `monotone` does.

    Raises:
        TooFewSamples: as `monotone`.
        BadSample: as `monotone`.
        ValueError: rel is negative or not finite.
    """
    if not (math.isfinite(rel) and rel >= 0.0):
        raise ValueError(f"rel must be a finite fraction >= 0, got {rel!r}")
    totals = _as_curves(curves, 2)
    return _share(np.ptp(totals, axis=1) <= rel * np.abs(totals.mean(axis=1)), confidence, f"conserved to {rel:g}")


def tendency(
    curves: ArrayLike,
    direction: Literal["up", "down"] = "up",
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """Mean over seeds of Kendall's tau of each curve against its order, by sign flips over the seeds.

    For sweeps whose single steps are noisy: asks whether the curve tends one way, not whether each step goes
    it.

    Args:
        curves: shape (seeds, points), at least 2 points.
        direction: which way counts as positive.
        confidence: coverage of the interval.
        rng: draws the flips for more than 16 seeds.

    Returns:
        Mean tau in [-1, 1]; steps that are level count as 0.

    Raises:
        TooFewSamples: fewer than 6 seeds.
        BadSample: as `monotone`.
    """
    rises = _oriented(_as_curves(curves, 2), direction)
    _require_pairs(len(rises), confidence, "seeds")
    first, second = np.triu_indices(rises.shape[1], k=1)
    taus = np.sign(rises[:, second] - rises[:, first]).mean(axis=1)  # (seeds, pairs) -> (seeds,)
    estimate = sign_flip(taus, confidence, rng)
    return _renamed(estimate, f"Kendall's tau ({direction}), {estimate.method}")


def _oriented(curves: Floats, direction: str) -> Floats:
    if direction not in ("up", "down"):
        raise ValueError(f"direction must be 'up' or 'down', got {direction!r}")
    return curves if direction == "up" else -curves


def _share(shown: Flags, confidence: float, what: str) -> Estimate:
    n, hits = shown.size, int(np.count_nonzero(shown))
    _require_pairs(n, confidence, "seeds")
    low, high = binomial_interval(hits, n, confidence)
    p_value = min(1.0, 2 * float(special.bdtr(min(hits, n - hits), n, 0.5)))
    method = f"share of seeds {what}, Clopper-Pearson"
    return Estimate(hits / n, low, high, confidence, n, _detectable_share(n, confidence) - 0.5, method, p_value)


def binomial_interval(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of a proportion.

    Raises:
        ValueError: not 0 <= hits <= n with n >= 1.
    """
    if not 0 <= hits <= n or n < 1:
        raise ValueError(f"need 0 <= hits <= n and n >= 1, got {hits!r} of {n!r}")
    check_fraction("confidence", confidence)
    tail = (1 - confidence) / 2
    low = float(special.betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(special.betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


def _detectable_share(n: int, confidence: float) -> float:
    """The share whose Clopper-Pearson interval clears one half with 80% power."""
    needed = next(hits for hits in range(n + 1) if binomial_interval(hits, n, confidence)[0] > 0.5)
    return float(special.betaincinv(needed, n - needed + 1, POWER))


# --- equivalence -------------------------------------------------------------------------------------------


def equivalence(differences: ArrayLike, alpha: float = 0.05, rng: np.random.Generator | None = None) -> Estimate:
    """Mean of paired differences with the interval that decides equivalence at level alpha.

    Two one-sided tests at alpha reject exactly where the 1 - 2 alpha interval lies inside the margin: ask
    `inside(estimate, -margin, margin)`.

    Args:
        differences: shape (n,), one per pair.
        alpha: probability of calling arms equivalent that differ by the margin, below 1/2.
        rng: draws the flips for more than 16 pairs.

    Returns:
        As `sign_flip`, but `detectable` is the smallest margin that equal arms of this spread would have been
        shown to lie within, with 80% power.

    Raises:
        TooFewSamples: fewer than 6 pairs.
        BadSample: what `as_sample` refuses.
    """
    check_fraction("2 * alpha", 2 * alpha)
    estimate = sign_flip(differences, 1 - 2 * alpha, rng)
    spread = float(as_sample(differences, "differences").std(ddof=1))
    margin = 0.0 if estimate.constant else detectable_margin(spread, estimate.n, alpha)
    return replace(estimate, detectable=margin, method="equivalence, " + estimate.method)


def inside(estimate: Estimate, low: float, high: float) -> bool:
    """Whether the whole interval lies in [low, high]."""
    return low <= estimate.low and estimate.high <= high


def outside(estimate: Estimate, low: float, high: float) -> bool:
    """Whether the whole interval lies clear of [low, high], on one side of it."""
    return estimate.high < low or estimate.low > high


# --- multiple testing ----------------------------------------------------------------------------------------


def holm(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Which hypotheses fall under Holm's step-down rule, in the order given.

    Args:
        p_values: one a hypothesis of the declared family, each in [0, 1]; may be empty.
        alpha: probability of any false rejection.

    Raises:
        BadSample: a p-value that is NaN or outside [0, 1].
    """
    check_fraction("alpha", alpha)
    for position, p in enumerate(p_values):
        if not 0.0 <= p <= 1.0:
            raise BadSample("p_values", f"{p} at position {position}", "a probability")
    rejected = [False] * len(p_values)
    for step, position in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[position] > alpha / (len(p_values) - step):
            break
        rejected[position] = True
    return rejected


# --- design ------------------------------------------------------------------------------------------------


def detectable_effect(spread: float, n: int, confidence: float = 0.95, power: float = POWER) -> float:
    """The smallest mean difference that n pairs of this spread tell from 0.

    For normal differences.

    Args:
        spread: standard deviation of the differences.
        n: pairs.
        confidence: of the interval that must clear 0.
        power: probability that it does.

    Raises:
        TooFewSamples: n pairs cannot decide at this confidence.
        ValueError: spread negative or not finite, power outside (0, 1).
    """
    check_spread(spread)
    check_fraction("power", power)
    _require_pairs(n, confidence)
    if n > SIMULATED_REACH:
        return _noncentrality(1 - confidence, n - 1, power) * spread / math.sqrt(n)
    below, _ = _standard_reaches(n, confidence)
    return float(np.quantile(below, power)) * spread


def samples_needed(spread: float, effect: float, confidence: float = 0.95, power: float = POWER) -> int:
    """How many pairs of this spread tell an effect of this size from 0.

    Args:
        spread: standard deviation of the differences.
        effect: size of the mean difference, its sign ignored.
        confidence: of the interval that must clear 0.
        power: probability that it does.

    Raises:
        ValueError: effect 0 or not finite, spread negative or not finite.
    """
    check_spread(spread)
    if not math.isfinite(effect) or effect == 0.0:
        raise ValueError(f"effect must be finite and not 0, got {effect!r}")
    return _smallest_n(lambda n: detectable_effect(spread, n, confidence, power) <= abs(effect), confidence)


def detectable_margin(spread: float, n: int, alpha: float = 0.05, power: float = POWER) -> float:
    """The smallest margin within which n pairs of equal arms are shown to lie.

    Args:
        spread: standard deviation of the differences.
        n: pairs.
        alpha: level of the equivalence test, whose interval has confidence 1 - 2 alpha.
        power: probability that the interval lies inside the margin where the true difference is 0.

    Raises:
        TooFewSamples: n pairs cannot decide at this level.
        ValueError: spread negative or not finite, alpha or power out of range.
    """
    check_spread(spread)
    check_fraction("power", power)
    check_fraction("2 * alpha", 2 * alpha)
    _require_pairs(n, 1 - 2 * alpha)
    if n > SIMULATED_REACH:
        reach = special.stdtrit(n - 1, 1 - alpha) + special.stdtrit(n - 1, (1 + power) / 2)
        return float(reach) * spread / math.sqrt(n)
    below, above = _standard_reaches(n, 1 - 2 * alpha)
    return float(np.quantile(np.maximum(below, above), power)) * spread


def samples_for_margin(spread: float, margin: float, alpha: float = 0.05, power: float = POWER) -> int:
    """How many pairs of this spread show equal arms to lie within the margin.

    Raises:
        ValueError: margin not positive and finite, spread negative or not finite.
    """
    check_spread(spread)
    if not (math.isfinite(margin) and margin > 0.0):
        raise ValueError(f"margin must be positive and finite, got {margin!r}")
    return _smallest_n(lambda n: detectable_margin(spread, n, alpha, power) <= margin, 1 - 2 * alpha)


def check_spread(spread: float) -> None:
    """Refuse a standard deviation that is negative or not finite."""
    if not (math.isfinite(spread) and spread >= 0.0):
        raise ValueError(f"spread must be finite and >= 0, got {spread!r}")


@lru_cache(maxsize=32)
def _standard_reaches(n: int, confidence: float) -> tuple[Floats, Floats]:
    """How far the sign-flip interval reaches below and above 0, for 4 000 samples of n standard normals.

    The interval moves with the sample, so a shift by more than `below` is what clears 0. Up to n = 10 this
    beats the t approximation, which is blind to the steps of 2 / 2**n (at n = 8 and 99% it promises 80% and
    gives 67%).
    """
    samples = np.random.default_rng(0).standard_normal((4_000, n))
    k = math.floor((1 - confidence) / 2 * 2**n + 1e-9)
    ties = np.partition(_subset_means(samples), (k - 1, 2**n - 1 - k), axis=1)  # (4 000, 2**n - 1)
    return -ties[:, k - 1], ties[:, 2**n - 1 - k]


def _noncentrality(level: float, freedom: int, power: float) -> float:
    """The noncentrality at which a two-sided t-test of this level has this power, the far tail left out."""
    critical = float(special.stdtrit(freedom, 1 - level / 2))
    low, high = 0.0, critical + 10.0
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if float(special.nctdtr(freedom, middle, critical)) > 1 - power:
            low = middle
        else:
            high = middle
    return high


def _smallest_n(enough: Callable[[int], bool], confidence: float) -> int:
    low = _pairs_needed(confidence)
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
