"""The evidence a claim's test produces, and the one conclusion that is drawn from it.

A test reads its conditions (`given`), reports what it measured (`figure`, and one verb) and returns; it names no
bound and decides nothing. `Evidence.conclude` decides, once, when the test has ended.

Several calls of the *same* verb are one conclusion, the worst of them; a second verb is an error. A test that only
calls `figure` concludes from the agreement of its figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runtwice import stats
from runtwice.claim import Claim
from runtwice.derived import reachable
from runtwice.difference import difference, short
from runtwice.errors import EvidenceError
from runtwice.figure import Agreement, Comparison, Printed, PrintedNumber, PrintedText, compare
from runtwice.properties import run_property, search_settings
from runtwice.stopwatch import Stopwatch
from runtwice.timing import Arm
from runtwice.verdict import (
    NOISY_MACHINE,
    Conclusion,
    Verdict,
    decide_effect,
    decide_equivalence,
    decide_ratio,
)

# More samples than this are thinned out in the ledger, which says so.
SAMPLE_CAP = 200
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_WORST_FIRST = (
    Verdict.ERROR,
    Verdict.REFUTED,
    Verdict.UNDECIDED,
    Verdict.NOT_RUN,
    Verdict.WITHIN_NOISE,
    Verdict.RECORDED,
    Verdict.HOLDS,
)


_Estimator = Callable[[], stats.Estimate]
_Decision = Callable[[stats.Estimate, float, int | None], Conclusion]


@dataclass(frozen=True)
class _Plan:
    """How much n units of a spread can show, and how many units would show so much."""

    detectable: Callable[[float, int], float]
    needed: Callable[[float, float], int]


_EFFECTS = _Plan(stats.detectable_effect, stats.samples_needed)
_MARGINS = _Plan(stats.detectable_margin, stats.samples_for_margin)


class GivenFloat(float):
    """A number that came from the claim's data and must not be reported as measured."""


class GivenInt(int):
    """A whole number that came from the claim's data and must not be reported as measured."""


class GivenStr(str):
    """A text that came from the claim's data and must not be reported as measured."""

    __slots__ = ()


_FROM_DATA = (GivenFloat, GivenInt, GivenStr, PrintedNumber, PrintedText)


@dataclass
class Timing:
    """Durations for the ledger's benchmark list: seconds, in the order they were taken."""

    name: str
    seconds: list[float]
    group: str | None = None


@dataclass
class Evidence:
    """What one claim's test measured; handed to the test as the fixture `evidence`."""

    claim: Claim
    others: Mapping[str, Claim] = field(default_factory=dict)
    comparisons: list[Comparison] = field(default_factory=list)
    conclusions: list[Conclusion] = field(default_factory=list)
    samples: dict[str, list[Any]] = field(default_factory=dict)
    capped: dict[str, int] = field(default_factory=dict)
    timings: list[Timing] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    measuring: dict[str, Any] = field(default_factory=dict)
    examples: int | None = None
    stopwatch: Stopwatch | None = None

    # --- what the data say -------------------------------------------------------------------------------------

    def given(self, name: str) -> Any:
        """One of the claim's conditions, as its data file states it.

        Raises:
            EvidenceError: the claim has no such condition.
        """
        return _tagged(_look_up(self.claim.given, name, f"{self.claim.id} gives no"))

    def printed(self, name: str, of: str | None = None) -> Any:
        """A printed figure: a number that knows its rounding interval, a list of them, or {mid, low, high}.

        Args:
            name: The figure.
            of: The id of another claim of the same topic; this claim by default.

        Raises:
            EvidenceError: no such claim or figure.
        """
        source = self.claim if of is None else _look_up(self.others, of, "this topic has no claim")
        if of is None:
            self.used.add(name)
        return _look_up(source.figures, name, f"{source.id} prints no figure")

    def settings(self, **values: Any) -> None:
        """Record measuring settings (threads, rates, sizes); they enter the fingerprint."""
        self.measuring.update(values)

    def keep(self, name: str, values: ArrayLike) -> None:
        """Keep numbers in the ledger that no conclusion rests on.

        Raises:
            EvidenceError: none, or one that is not finite.
        """
        self._sample(name, values)

    # --- what was measured -------------------------------------------------------------------------------------

    def figure(self, name: str, measured: Any) -> None:
        """Hold a measured value against the figure printed (or required) under `name`.

        Raises:
            EvidenceError: no such figure, it was compared before, or `measured` is the claim's own data.
        """
        printed = _look_up(self.claim.figures, name, f"{self.claim.id} has no figure")
        if any(comparison.name == name for comparison in self.comparisons):
            raise EvidenceError(f"figure {name!r} is compared twice")
        _refuse_own_data(name, measured)
        comparison = compare(name, measured, printed, self.claim.tolerance_of(name))
        if self.claim.stand_in:
            comparison = replace(comparison, agreement=Agreement.NOT_COMPARABLE)
        self.comparisons.append(comparison)

    def identical(self, actual: Any, expected: Any, *, label: str = "") -> None:
        """Conclude that two values are the same, to the tolerance the data give for `label` (or the claim).

        Args:
            actual: A number, array, text, or (nested) list or table of them.
            expected: The same shape.
            label: Names the case where a claim has several.

        Raises:
            EvidenceError: `actual` is `expected`, or the claim's own data; a NaN, or nothing, on both sides.
        """
        if actual is expected and isinstance(actual, list | tuple | dict | np.ndarray):
            raise EvidenceError(f"{label or 'identical'}: both sides are one object; it was compared with itself")
        if _is_own_data(actual):
            raise EvidenceError(f"{label or 'identical'}: {short(actual)} came from the claim's own data; measure it")
        found = difference(actual, expected, *self._bounds(label))
        prefix = f"{label}: " if label else ""
        verdict = Verdict.REFUTED if found else Verdict.HOLDS
        self._conclude("identical", Conclusion(verdict, prefix + (found or "identical")))

    def every(self, check: Callable[[], None], *, label: str = "") -> None:
        """Conclude that a property holds for every input hypothesis tries.

        Args:
            check: A function under `@given` (and `@example`) that raises AssertionError where the property fails.
            label: Names the property where a claim has several.
        """
        conclusion, examples = run_property(check)
        self.settings(hypothesis=search_settings())
        self.examples = (self.examples or 0) + examples
        prefix = f"{label}: " if label else ""
        self._conclude("every", replace(conclusion, reason=prefix + conclusion.reason))

    def procedure(self, *, wrong: Any, right: Any, correct: Any, label: str = "") -> None:
        """Conclude that the wrong procedure goes wrong where the right one does not, on the same input.

        Args:
            wrong: What the wrong procedure gave.
            right: What the right procedure gave.
            correct: The true answer, or a predicate that says whether an outcome is right.
            label: Names the case where a claim has several.
        """
        bounds = self._bounds(label)

        def is_right(outcome: Any) -> bool:
            return bool(correct(outcome)) if callable(correct) else not difference(outcome, correct, *bounds)

        faults = []
        if not _holds_nan(wrong) and is_right(wrong):
            faults.append(f"the wrong procedure came out right ({short(wrong)})")
        if not is_right(right):
            faults.append(f"the right procedure came out wrong ({short(right)})")
        prefix = f"{label}: " if label else ""
        reason = "; ".join(faults) or f"wrong gave {short(wrong)}, right gave {short(right)}"
        self._conclude("procedure", Conclusion(Verdict.REFUTED if faults else Verdict.HOLDS, prefix + reason))

    def derived(self, name: str, function: Callable[..., Any], *inputs: Printed) -> None:
        """Conclude that a printed figure can follow from other printed figures, given how those were rounded.

        Args:
            name: The derived figure.
            function: Computes it from the inputs, as numbers (or lists of numbers).
            inputs: What `printed` returned.
        """
        target = _look_up(self.claim.figures, name, f"{self.claim.id} has no figure")
        if any(one is target for one in inputs):
            raise EvidenceError(f"figure {name!r} was derived from itself")
        self.used.add(name)
        verdict, reason = reachable(target, function, inputs)
        self._conclude("derived", Conclusion(verdict, f"{name}: {reason}"))

    def recorded(self, name: str, values: ArrayLike, *, unit: str, group: str | None = None) -> None:
        """Keep an absolute figure of this machine; durations also become a benchmark entry of the ledger.

        Args:
            name: What was measured.
            values: One or more measurements.
            unit: `s`, `ms`, `us` or `ns` for a duration, else any word.
            group: The benchmark group, for durations that belong together.

        Raises:
            EvidenceError: no value, or one that is not finite (for durations: negative).
        """
        sample = self._sample(name, values)
        if unit in _UNITS:
            if (sample < 0).any():
                raise EvidenceError(f"sample {name!r}: a duration of {sample.min():g} {unit}")
            self.timings.append(Timing(name, (sample * _UNITS[unit]).tolist(), group))
        reason = f"{name}: median {np.median(sample):.4g} {unit} of {len(sample)}"
        self._conclude("recorded", Conclusion(Verdict.RECORDED, reason))

    def above(self, a: ArrayLike, b: ArrayLike | float, *, paired: bool = False, label: str = "") -> None:
        """Conclude that `a` lies above `b` on average, over the units that would be repeated (runs, seeds).

        Args:
            a: One value a unit, shape (n,).
            b: One value a unit, shape (n,) if `paired`, else (m,); or a single bound.
            paired: Whether a[i] and b[i] belong to the same unit.
            label: Names the comparison where a claim has several.
        """
        if paired or np.ndim(b) == 0:
            differences = self._differences(label or "a", a, b)
            self._effect("above", label, lambda: stats.sign_flip(differences))
            return
        upper, lower = self._sample(f"{label or 'a'} (above)", a), self._sample(f"{label or 'a'} (below)", b)
        _refuse_frozen(label or "a", np.concatenate([np.diff(upper), np.diff(lower)]))
        self._effect("above", label, lambda: stats.two_sample(upper, lower))

    def narrower(self, a: Sequence[ArrayLike], b: Sequence[ArrayLike], *, label: str = "") -> None:
        """Conclude that `a` spreads less than `b`, over independent replicates (data sets, splits).

        Args:
            a: One sample a replicate; each becomes one log(spread b / spread a).
            b: As many samples, each as long as its partner.
            label: Names the comparison where a claim has several.
        """
        upper, lower = self._replicates(f"{label or 'a'} (narrower)", a), self._replicates(f"{label or 'a'} (wider)", b)
        if len(upper) != len(lower):
            raise EvidenceError(f"{len(upper)} replicates against {len(lower)}; give as many of each")
        self._effect("narrower", label, lambda: stats.log_spread(lower, upper))

    def equivalent(self, a: ArrayLike, b: ArrayLike | float, *, label: str = "") -> None:
        """Conclude that paired values are the same to within the claim's margin (interval of 90%).

        Args:
            a: One value a unit, shape (n,).
            b: The other value of each unit, shape (n,), or a single value.
            label: Names the comparison where a claim has several.

        Raises:
            EvidenceError: the claim declares no margin, or the lengths differ.
        """
        if self.claim.margin == 0:
            raise EvidenceError("equivalence needs a margin; declare `margin` in claims.toml")
        differences = self._differences(label or "a", a, b)
        found = _estimated(lambda: stats.equivalence(differences), self.claim.margin, decide_equivalence, _MARGINS)
        self._conclude("equivalent", _labelled(label, found))

    def smaller_than_noise(self, effects: ArrayLike, repeats: ArrayLike, *, label: str = "") -> None:
        """Conclude that an effect is smaller than the spread of one arm against itself.

        Args:
            effects: One value of the effect a unit, shape (n,).
            repeats: Repeats of one arm, shape (m,), or (groups, m) with the spread taken within groups.
            label: Names the comparison where a claim has several.
        """
        effect = self._sample(f"{label or 'effect'}", effects)
        self._sample(f"{label or 'effect'} (repeats)", np.ravel(np.asarray(repeats, dtype=float)))
        found = _estimated(lambda: stats.effect_over_spread(effect, repeats), 1.0, decide_equivalence)
        self._conclude("smaller_than_noise", _labelled(label, found))

    def trend(self, curves: ArrayLike, shape: str, *, slack: float = 0.0, label: str = "") -> None:
        """Conclude how a quantity moves along a sweep, curve by curve, then over the curves (seeds).

        Args:
            curves: One curve a seed, shape (seeds, points), in the order of the sweep.
            shape: `rises` or `falls` (Kendall's tau, averaged over seeds, above 0); `valley`, `hill` or `constant`
                (more than half of the seeds have it; `slack` is the relative range a constant may have).
            slack: See `shape`; for a valley or hill, the size of a step back that is overlooked.
            label: Names the comparison where a claim has several.
        """
        table = np.asarray(curves, dtype=float)
        for i, curve in enumerate(np.atleast_2d(table)):
            self._sample(f"{label or 'curve'} {i}", curve)
        _refuse_frozen(label or "curves", np.diff(table, axis=0))
        if shape in ("rises", "falls"):
            direction: Literal["up", "down"] = "up" if shape == "rises" else "down"
            self._effect("trend", label, lambda: stats.tendency(table, direction))
            return
        shares: dict[str, _Estimator] = {
            "valley": lambda: stats.u_shaped(table, "up", slack),
            "hill": lambda: stats.u_shaped(table, "down", slack),
            "constant": lambda: stats.conserved(table, slack),
        }
        share = _look_up(shares, shape, "trend knows rises, falls and")
        self._effect("trend", label, lambda: _above_half(share()))

    def ratio(self, *, slow: Arm, fast: Arm, promised: float = 1.0, label: str = "") -> None:
        """Conclude that one arm takes longer than another, by more than the promised ratio.

        Args:
            slow: The arm that should take longer.
            fast: The other. Both are timed interleaved, in several fresh processes, until it is decided or 10 s are
                up, but not before there are as many as can decide.
            promised: What slow / fast must exceed.
            label: Names the comparison where a claim has several.

        Raises:
            EvidenceError: an arm cannot be timed, or the session has no stopwatch.
        """
        if self.stopwatch is None:
            raise EvidenceError("nothing to time with: evidence.ratio works in a claim's test only")
        result, noise = self.stopwatch.compare(slow, fast, promised=float(promised), margin=self.claim.margin or None)
        name = label or "log ratio"
        self.settings(**{name: result.settings()})
        self._keep(name, list(result.log_ratios))
        for arm, which in ((slow, "slow"), (fast, "fast")):
            medians = [float(np.median(getattr(one, f"{which}_s"))) for one in result.processes]
            self.timings.append(Timing(f"{which}: {arm.target}", medians, group=f"{self.claim.id} {label}".strip()))
        self._conclude("ratio", _labelled(label, decide_ratio(result, noise)))

    # --- the conclusion ----------------------------------------------------------------------------------------

    def conclude(self) -> Conclusion:
        """The one conclusion of this claim.

        Raises:
            EvidenceError: the test measured nothing, or left a figure uncompared.
        """
        compared = {comparison.name for comparison in self.comparisons} | self.used
        if left := set(self.claim.figures) - compared - set(self.claim.exempt_figures):
            raise EvidenceError(
                f"figure {sorted(left)[0]!r} was never compared; compare it with evidence.figure, "
                "or exempt it with a reason in claims.toml"
            )
        if stray := set(self.claim.tolerance) - {"", *self.claim.figures, *self.labels}:
            raise EvidenceError(
                f"tolerance {sorted(stray)[0]!r} belongs to no figure and to no label that was compared"
            )
        if self.conclusions:
            worst = min(self.conclusions, key=lambda one: _WORST_FIRST.index(one.verdict))
            return worst if len(self.conclusions) == 1 else replace(worst, reason=self._joined(worst))
        if not self.comparisons:
            raise EvidenceError("the test drew no conclusion; call one verb of evidence, or compare a figure")
        return self._from_figures()

    def _joined(self, worst: Conclusion) -> str:
        like = [one for one in self.conclusions if one.verdict is worst.verdict]
        return f"{worst.reason} ({len(like)} of {len(self.conclusions)} such)"

    def _from_figures(self) -> Conclusion:
        if self.claim.stand_in:
            return Conclusion(Verdict.NOT_RUN, f"not comparable: {self.claim.stand_in}", "figure")
        moved = [one for one in self.comparisons if one.agreement is Agreement.MOVED]
        if moved:
            names = ", ".join(f"{one.name} {short(one.measured)} for {short(one.printed)}" for one in moved)
            return Conclusion(Verdict.REFUTED, f"moved: {names}", "figure")
        counts = [f"{sum(one.agreement is kind for one in self.comparisons)} {kind}" for kind in Agreement]
        return Conclusion(Verdict.HOLDS, ", ".join(text for text in counts if text[0] != "0"), "figure")

    def _bounds(self, label: str) -> tuple[float, float]:
        """How far values under `label` may lie apart, absolutely and relatively."""
        self.labels.add(label)
        tolerance = self.claim.tolerance_of(label)
        return (tolerance.abs, tolerance.rel) if tolerance else (0.0, 0.0)

    def _conclude(self, verb: str, conclusion: Conclusion) -> None:
        if self.conclusions and self.conclusions[0].verb != verb:
            raise EvidenceError(
                f"a second conclusion: {verb!r} after {self.conclusions[0].verb!r}; one claim, one verb"
            )
        self.conclusions.append(replace(conclusion, verb=verb))

    def _effect(self, verb: str, label: str, estimate: _Estimator) -> None:
        """Conclude on a claimed effect above zero; too few samples are undecided and say how many are needed."""
        self._conclude(verb, _labelled(label, _estimated(estimate, self.claim.margin, decide_effect)))

    def _sample(self, name: str, values: ArrayLike) -> NDArray[np.float64]:
        try:
            sample = np.atleast_1d(np.asarray(values, dtype=float))
        except (TypeError, ValueError) as error:
            raise EvidenceError(f"sample {name!r}: not a sequence of numbers ({error})") from None
        if sample.ndim != 1 or sample.size == 0:
            raise EvidenceError(f"sample {name!r}: shape {sample.shape}; give one number a unit, at least one")
        if not np.isfinite(sample).all():
            raise EvidenceError(f"sample {name!r}: {sample[~np.isfinite(sample)][0]} among {sample.size} values")
        self._keep(name, sample.tolist())
        return sample

    def _differences(self, name: str, a: ArrayLike, b: ArrayLike | float) -> NDArray[np.float64]:
        upper = self._sample(name, a)
        lower = np.full(len(upper), b, dtype=float) if np.ndim(b) == 0 else self._sample(f"{name} (against)", b)
        if len(lower) != len(upper):
            raise EvidenceError(f"sample {name!r}: {len(upper)} values against {len(lower)}; pairs need as many")
        differences = np.subtract(upper, lower)
        _refuse_frozen(name, np.diff(differences))
        return differences

    def _replicates(self, name: str, samples: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        return [self._sample(f"{name} {i}", sample) for i, sample in enumerate(samples)]

    def _keep(self, name: str, values: list[float]) -> None:
        again = sum(one == name or one.startswith(f"{name} #") for one in self.samples)
        name = f"{name} #{again + 1}" if again else name
        step = -(-len(values) // SAMPLE_CAP)
        self.samples[name] = values[::step]
        if step > 1:
            self.capped[name] = len(values)


def _refuse_frozen(name: str, changes: NDArray[np.float64]) -> None:
    """Refuse units that are all the same: they are one observation, however often it was repeated."""
    if changes.size and not changes.any():
        raise EvidenceError(
            f"sample {name!r}: every unit gave the same; either no seed reaches the experiment, "
            "or nothing in it is random and evidence.identical says more"
        )


def _estimated(estimate: _Estimator, margin: float, decide: _Decision, plan: _Plan = _EFFECTS) -> Conclusion:
    try:
        found = estimate()
    except stats.TooFewSamples as error:
        return Conclusion(Verdict.UNDECIDED, str(error))
    except (stats.BadSample, stats.Degenerate) as error:
        raise EvidenceError(str(error)) from error
    distance = abs(margin - abs(found.value)) if decide is decide_equivalence else abs(found.value)
    return decide(found, margin, _more(found, distance, plan))


def _more(estimate: stats.Estimate, distance: float, plan: _Plan) -> int | None:
    """How many further samples would settle a `distance`, were the estimate the truth; None where none would."""
    unit = plan.detectable(1.0, estimate.n)
    spread = estimate.detectable / unit if unit > 0 else 0.0
    if distance <= 0 or spread <= 0 or not math.isfinite(spread):
        return None
    return max(1, plan.needed(spread, distance) - estimate.n)


def _above_half(share: stats.Estimate) -> stats.Estimate:
    """The share of seeds as an effect above zero: how far it lies above one half."""
    return replace(share, value=share.value - 0.5, low=share.low - 0.5, high=share.high - 0.5)


def _labelled(label: str, conclusion: Conclusion) -> Conclusion:
    if not label:
        return conclusion
    if conclusion.noisy:  # what the machine did stays in front, where it is looked for
        said = conclusion.reason.removeprefix(f"{NOISY_MACHINE}: ")
        return replace(conclusion, reason=f"{NOISY_MACHINE}: {label}: {said}")
    return replace(conclusion, reason=f"{label}: {conclusion.reason}")


_Value = TypeVar("_Value")


def _look_up(table: Mapping[str, _Value], name: str, lack: str) -> _Value:
    if name not in table:
        raise EvidenceError(f"{lack} {name!r}; it has {', '.join(sorted(table)) or 'none'}")
    return table[name]


def _tagged(value: Any) -> Any:
    """`value` with every number and text marked as the claim's own data."""
    if isinstance(value, bool):
        return value
    for plain, tagged in ((int, GivenInt), (float, GivenFloat), (str, GivenStr)):
        if isinstance(value, plain):
            return tagged(value)
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, dict):
        return {key: _tagged(item) for key, item in value.items()}
    return value


def _is_own_data(value: Any) -> bool:
    """True where nothing in `value` was measured."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_own_data, value))
    return isinstance(value, _FROM_DATA)


def _holds_nan(value: Any) -> bool:
    try:
        return bool(np.isnan(np.asarray(value, dtype=float)).any())
    except (TypeError, ValueError):
        return False


def _refuse_own_data(name: str, measured: Any) -> None:
    if isinstance(measured, _FROM_DATA):
        raise EvidenceError(f"figure {name!r}: {measured!r} came from the claim's own data; measure it")
    if isinstance(measured, Mapping):
        measured = list(measured.values())
    if isinstance(measured, Sequence) and not isinstance(measured, str):
        for item in measured:
            _refuse_own_data(name, item)
