"""What changed between two runs of the same claims, and what may be behind it.

A run's claims are of three sorts. Those without a statistic (identities, single figures) and those over seeds repeat
themselves exactly in one environment, so that every change of theirs is one; for those over seeds it is said whether
chance alone could have done it. Timed ones do not repeat themselves: their changes count only beyond both intervals,
and where a permutation test, corrected by Holm over all such suspects, rejects that nothing changed.

Counted are changed verdicts, figures, effects and ratios, and on one machine claims that are no longer judged. Named
but not counted is what a changed measuring setting did, what chance may have done, and across machines every figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtwice import circumstances, stats
from runtwice.circumstances import Circumstances
from runtwice.errors import ClaimError, LedgerError
from runtwice.figure import Shift, parse, shift
from runtwice.ledger import Ledger
from runtwice.row import is_noisy
from runtwice.units import Units, units
from runtwice.verdict import Verdict

Row = Mapping[str, Any]
_Chance = Callable[[], float | None]

ALPHA = 0.05  # of any false alarm among the suspects of one comparison
MARGIN = 0.05  # ratios closer than this are the same, where the run's own control says nothing
_TIMED_KINDS = ("ratio", "record")


class Kind(StrEnum):
    """What of a claim changed."""

    VERDICT = "verdict"
    FIGURE = "figure"
    RATIO = "ratio"
    EFFECT = "effect"
    COVERAGE = "no longer judged"


class Standing(StrEnum):
    """Whether a change counts, and if not why."""

    COUNTED = "changed"
    SETTINGS = "measuring settings changed"
    CHANCE = "may be chance"
    MACHINE = "differs between the machines"
    SLIGHT = "below the printed precision"


@dataclass(frozen=True)
class Change:
    """One thing that a claim has different in the later run.

    Attributes:
        id: The claim.
        kind: What changed.
        before: How it was: a verdict, or a measured value.
        after: How it is.
        name: The figure's name; "" for what the claim has only one of.
        moved_by: Later minus earlier; of a ratio, later over earlier.
        printed_units: The same in units of the figure's last printed place.
        noise_units: The same in units of the wider interval's half width.
        timed: Whether the claim measures time, so that it does not repeat itself.
        p_value: That nothing changed, where a test says; None where repetition is exact.
        beyond_chance: False where the test does not reject that nothing changed.
        experiment_changed: Whether the claim's own code or data changed.
        causes: What differs around the two runs and may be behind it, likeliest first.
        standing: Whether it counts.
        nodeid: Where the claim's test stands.
    """

    id: str
    kind: Kind
    before: Any
    after: Any
    name: str = ""
    moved_by: float | None = None
    printed_units: float | None = None
    noise_units: float | None = None
    timed: bool = False
    p_value: float | None = None
    beyond_chance: bool = True
    experiment_changed: bool = False
    causes: tuple[str, ...] = ()
    standing: Standing = Standing.COUNTED
    nodeid: str = ""


@dataclass(frozen=True)
class Comparison:
    """What two ledgers have to say of each other.

    Attributes:
        old: The earlier (or first) ledger.
        new: The other.
        around: What differs around the two runs.
        changes: Everything that differs, counted or not, by claim.
        compared: Number of claims both ran.
        only_old: Claims that only the first ledger has.
        only_new: Claims that only the second has.
        regained: Claims that the second judged and the first did not.
        noisy: Claims that a noisy machine left undecided in either.
        warnings: Warnings by claim that only the second run gave.
    """

    old: Ledger
    new: Ledger
    around: Circumstances
    changes: tuple[Change, ...]
    compared: int
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    regained: tuple[str, ...] = ()
    noisy: tuple[str, ...] = ()
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def standing(self, standing: Standing) -> tuple[Change, ...]:
        """The changes of one standing."""
        return tuple(change for change in self.changes if change.standing is standing)

    @property
    def counted(self) -> tuple[Change, ...]:
        """The changes that count."""
        return self.standing(Standing.COUNTED)


def compare(old: Ledger, new: Ledger) -> Comparison:
    """Compare two ledgers over the claims both ran.

    Raises:
        LedgerError: they have no claim in common, or none at all.
    """
    before, after = old.rows, new.rows
    common = sorted(set(before) & set(after))
    for ledger in (old, new):
        if not ledger.rows:
            raise LedgerError(f"{ledger.path} has no claim to compare ({ledger.completeness})")
    if not common:
        raise LedgerError(f"{old.path} and {new.path} have no claim in common: they are ledgers of different suites")
    around = circumstances.between(old, new)
    margin = math.log1p(max(_margin(old), _margin(new)))
    benched = {entry["fullname"] for ledger in (old, new) for entry in ledger.document["benchmarks"]}
    changes = [
        change
        for id_ in common
        for change in _of_claim(before[id_], after[id_], around, margin, is_timed(before[id_], after[id_], benched))
    ]
    return Comparison(
        old=old,
        new=new,
        around=around,
        changes=tuple(_after_holm(changes)),
        compared=len(common),
        only_old=tuple(sorted(set(before) - set(after))),
        only_new=tuple(sorted(set(after) - set(before))),
        regained=tuple(id_ for id_ in common if _measured(after[id_]) and not _measured(before[id_])),
        noisy=tuple(id_ for id_ in common if is_noisy(before[id_]) or is_noisy(after[id_])),
        warnings=_new_warnings(before, after, common),
    )


def changes_between(before: Row, after: Row) -> list[Change]:
    """What differs between two rows of one claim that were made on one machine under the same settings."""
    around = Circumstances(("", ""), same_machine=True)
    return list(_of_claim(before, after, around, math.log1p(MARGIN), is_timed(before, after)))


def is_timed(before: Row, after: Row, benched: frozenset[str] | set[str] = frozenset()) -> bool:
    """True where a claim measures time, so that the same run twice does not give the same.

    Args:
        before: One row of the claim.
        after: Another.
        benched: Ids with durations in the ledgers; rows of the first releases do not say what they need.
    """
    return any(
        row.get("kind") in _TIMED_KINDS or "quiet-machine" in row.get("needs", ()) or row["id"] in benched
        for row in (before, after)
    )


# --- one claim -------------------------------------------------------------------------------------------------


def _of_claim(before: Row, after: Row, around: Circumstances, margin: float, timed: bool) -> Iterator[Change]:
    if is_noisy(before) or is_noisy(after):
        return
    if not (_measured(before) and _measured(after)):
        if _measured(before):
            lost = Change(before["id"], Kind.COVERAGE, before["verdict"], after["reason"], timed=timed)
            yield _placed(lost, before, after, around)
        return
    chance = cache(lambda: p_value_of(units(before), units(after), paired=not timed))
    found = [
        *_verdict(before, after, timed, chance),
        *_effect(before, after, margin, timed, chance),
        *_figures(before, after, timed),
    ]
    for change in found:
        yield _placed(change, before, after, around)


def _measured(row: Row) -> bool:
    """True where something was measured; a stand-in is `not run` and has figures all the same."""
    return row["verdict"] != Verdict.NOT_RUN or bool(row["figures"])


def _verdict(before: Row, after: Row, timed: bool, chance: _Chance) -> Iterator[Change]:
    if before["verdict"] == after["verdict"]:
        return
    statistical = before["statistic"] is not None and after["statistic"] is not None
    judged = Verdict.ERROR not in (before["verdict"], after["verdict"])
    p_value = chance() if statistical or (timed and judged) else None
    yield Change(before["id"], Kind.VERDICT, before["verdict"], after["verdict"], timed=timed, p_value=p_value)


def _effect(before: Row, after: Row, margin: float, timed: bool, chance: _Chance) -> Iterator[Change]:
    """An effect or ratio whose intervals have no point in common; closer than the margin, ratios are the same.

    A timed effect that is no ratio hangs on the machine's hour; what there is to say of it, its verdict says.
    """
    one, other = _interval(before), _interval(after)
    if one is None or other is None or before["verb"] != after["verb"]:
        return
    if max(one[0], other[0]) <= min(one[1], other[1]):
        return
    old, new = before["statistic"]["value"], after["statistic"]["value"]
    is_ratio = before["verb"] == "ratio"
    if timed and not is_ratio:
        return
    if is_ratio and (min(old, new) <= 0 or abs(math.log(new / old)) <= margin):
        return
    yield Change(
        before["id"],
        Kind.RATIO if is_ratio else Kind.EFFECT,
        old,
        new,
        moved_by=new / old if is_ratio else new - old,
        noise_units=_in_noise(new - old, before, after),
        timed=timed,
        p_value=chance(),
    )


def _figures(before: Row, after: Row, timed: bool) -> Iterator[Change]:
    """Figures that are not the same; timed ones only where a test can say so."""
    later = {figure["name"]: figure for figure in after["figures"]}
    for figure in before["figures"]:
        other = later.get(figure["name"])
        moved = None if other is None else _shift(before["id"], figure, other)
        if other is None or moved is None:
            continue
        slight = not moved.is_visible and figure["agreement"] == other["agreement"]
        p_value = _figure_p_value(figure, other) if timed else None
        if timed and (slight or p_value is None):
            continue
        yield Change(
            before["id"],
            Kind.FIGURE,
            figure["measured"],
            other["measured"],
            figure["name"],
            moved.by,
            moved.units,
            None if moved.by is None else _in_noise(moved.by, before, after),
            timed=timed,
            p_value=p_value,
            standing=Standing.SLIGHT if slight else Standing.COUNTED,
        )


def _shift(id_: str, figure: Mapping[str, Any], other: Mapping[str, Any]) -> Shift | None:
    if figure["measured"] == other["measured"]:
        return None
    try:
        printed = parse(other["printed"], id_)
        return shift(figure["name"], figure["measured"], other["measured"], printed, *(other.get("tolerance") or ()))
    except ClaimError:  # a figure that no data file could hold
        return Shift()


def _interval(row: Row) -> tuple[float, float] | None:
    found = row["statistic"]
    if found is None or found["value"] is None:
        return None
    low = -math.inf if found["low"] is None else found["low"]
    high = math.inf if found["high"] is None else found["high"]
    return low, high


def _in_noise(moved_by: float, before: Row, after: Row) -> float | None:
    """`moved_by` in half widths of the wider interval; None where an interval is missing or has no width."""
    widths = [(high - low) / 2 for low, high in filter(None, map(_interval, (before, after)))]
    widest = max(widths, default=0.0)
    return moved_by / widest if 0 < widest < math.inf else None


# --- chance ----------------------------------------------------------------------------------------------------


def p_value_of(before: Units, after: Units, *, paired: bool) -> float | None:
    """That nothing changed in any of the samples both have (Bonferroni over them); None where no test can say.

    Args:
        before: Units by name.
        after: The same of the other run.
        paired: Whether unit i of both is the same seed, and anything but the change left it as it was.
    """
    found = [
        p_value
        for name in before
        if name in after
        for p_value in [_one_p_value(before[name], after[name], paired=paired)]
        if p_value is not None
    ]
    return min(1.0, min(found) * len(found)) if found else None


def _one_p_value(before: NDArray[np.float64], after: NDArray[np.float64], *, paired: bool) -> float | None:
    try:
        if paired and len(before) == len(after):
            if not (after - before).any():
                return 1.0
            return stats.sign_flip(after - before).p_value
        return stats.two_sample(after, before).p_value
    except (stats.TooFewSamples, stats.BadSample, stats.Degenerate):
        return None


def _figure_p_value(figure: Mapping[str, Any], other: Mapping[str, Any]) -> float | None:
    """Of a timed figure: where it is a range of runs, that both are runs of the same; None of a single value."""
    both = figure["measured"], other["measured"]
    if isinstance(figure["printed"], dict) and all(isinstance(one, list) for one in both):
        return _one_p_value(*(np.asarray(one, dtype=float) for one in both), paired=False)
    return None


def _after_holm(changes: list[Change]) -> Iterator[Change]:
    """The changes, those that a test speaks of corrected for their number.

    Where repetition is exact a change stands, and is only said to be within chance; a timed one does not count.
    """
    # A verdict and the ratio behind it rest on the same samples: one suspect.
    suspects = {(change.id, change.name): change.p_value for change in changes if change.p_value is not None}
    rejected = dict(zip(suspects, stats.holm(list(suspects.values()), ALPHA), strict=True))
    for change in changes:
        if rejected.get((change.id, change.name), True):
            yield change
        elif not change.timed or change.standing is not Standing.COUNTED:
            yield replace(change, beyond_chance=False)
        elif change.kind is not Kind.FIGURE:  # a timed figure is a little different every time
            yield replace(change, beyond_chance=False, standing=Standing.CHANCE)


# --- what is behind it -----------------------------------------------------------------------------------------


def _placed(change: Change, before: Row, after: Row, around: Circumstances) -> Change:
    """The change with what may be behind it, and whether it counts."""
    settings = _changed_settings(before, after)
    run_settings = tuple(circumstances.spelled(name, pair) for name, pair in around.settings.items())
    experiment = _differs(before, after, "code")
    own = (*(("the experiment",) if experiment else ()), *_packages(before, after))
    if not own and around.same_processor:
        own = _all_packages(around)
    others = (*own, *_processor(around))
    causes = (*settings, *others, *run_settings)
    by_settings = (
        bool(settings) or "first seed" in around.settings or bool(run_settings and (change.timed or not others))
    )
    standing = change.standing
    if by_settings and not experiment:
        standing = Standing.SETTINGS
    elif not around.same_machine and change.kind not in (Kind.VERDICT, Kind.RATIO) and standing is Standing.COUNTED:
        standing = Standing.MACHINE
    return replace(
        change, experiment_changed=experiment, causes=causes, standing=standing, nodeid=after.get("nodeid", "")
    )


def _changed_settings(before: Row, after: Row) -> tuple[str, ...]:
    """Measuring settings both rows have and have differently; a claim that crashed had no time to record them."""
    one, other = (row["fingerprint"].get("settings") or {} for row in (before, after))
    names = [name for name in one if name in other and one[name] != other[name]]
    return tuple(f"setting {name!r}" for name in names)


def _differs(before: Row, after: Row, part: str) -> bool:
    one, other = (row["fingerprint"].get(part) for row in (before, after))
    return one is not None and other is not None and one != other


def _packages(before: Row, after: Row) -> tuple[str, ...]:
    """Changed packages that the experiment imports."""
    one, other = (row["fingerprint"].get("distributions") or {} for row in (before, after))
    own = circumstances.changed(one, other) if one and other else {}
    return tuple(circumstances.spelled(name, pair) for name, pair in own.items())


def _all_packages(around: Circumstances) -> tuple[str, ...]:
    """All changed packages: some import that nobody wrote down may lie behind what nothing else explains."""
    return tuple(circumstances.spelled(name, pair) for name, pair in around.packages.items())


def _processor(around: Circumstances) -> tuple[str, ...]:
    if around.features_off or around.features_on:
        return ("processor features",)
    if around.kernels:
        return (f"BLAS kernel {around.kernels[0]} → {around.kernels[1]}",)
    return () if around.same_machine else ("the machine",)


def _margin(ledger: Ledger) -> float:
    """What the run's own control calls no difference."""
    control = (ledger.block.get("controls") or {}).get("a_a") or {}
    margin = control.get("margin")
    return float(margin) if isinstance(margin, int | float) and margin > 0 else MARGIN


def _new_warnings(before: Mapping[str, Row], after: Mapping[str, Row], ids: list[str]) -> dict[str, tuple[str, ...]]:
    found = {id_: set(after[id_].get("warnings", ())) - set(before[id_].get("warnings", ())) for id_ in ids}
    return {id_: tuple(sorted(texts)) for id_, texts in found.items() if texts}
