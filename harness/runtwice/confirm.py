"""Whether what a night's run changed is there when one looks again.

What repeats itself exactly is run again as it was, in both environments. What rests on seeds is run on seeds it has not
seen, the same in both environments, a dozen or more; where the experiment fixes its own seeds the exact repetition has
to do. What is timed is timed again in new processes. Those that a test decides are corrected by Holm for their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from runtwice import stats
from runtwice.compare import ALPHA, Change, Kind, Row, changes_between, p_value_of
from runtwice.oracle import Observation
from runtwice.row import is_noisy
from runtwice.units import Units, units

FEWEST_SEEDS = 12
SEED_STEP = 1000  # further apart than any sweep is long
MOST_RERUNS = 4

Side = Literal["old", "new"]
Rerun = Callable[[Side, str, int, int], Observation]


@dataclass(frozen=True)
class Confirmation:
    """What looking again showed of one claim.

    Attributes:
        id: The claim.
        confirmed: Whether the change is there again.
        how: What was done, and what came of it.
        p_value: That nothing changed; None where the repetition is exact.
    """

    id: str
    confirmed: bool
    how: str
    p_value: float | None = None


def confirm(
    suspects: Mapping[str, Sequence[Change]], before: Mapping[str, Row], after: Mapping[str, Row], rerun: Rerun
) -> list[Confirmation]:
    """Look again at every suspect.

    Args:
        suspects: The counted changes of each claim.
        before: Rows of the last good ledger.
        after: Rows of the night's.
        rerun: Runs a claim in the `old` or the `new` environment: side, id, attempt, first seed.
    """
    looked = [_look(id_, changes, before[id_], after[id_], rerun) for id_, changes in suspects.items()]
    tested = [one for one in looked if one.p_value is not None]
    survivors = {
        one.id
        for one, rejected in zip(tested, stats.holm([one.p_value or 0.0 for one in tested], ALPHA), strict=True)
        if rejected
    }
    return [
        one
        if one.p_value is None
        else Confirmation(one.id, one.confirmed and one.id in survivors, one.how, one.p_value)
        for one in looked
    ]


def _look(id_: str, changes: Sequence[Change], before: Row, after: Row, rerun: Rerun) -> Confirmation:
    if any(change.timed for change in changes):
        return _timed_again(id_, rerun)
    if any(change.kind in (Kind.VERDICT, Kind.EFFECT) for change in changes) and _is_statistical(before, after):
        return _on_new_seeds(id_, before, after, rerun) or _exactly(id_, before, after, rerun, ", its seeds are fixed")
    return _exactly(id_, before, after, rerun)


def _is_statistical(before: Row, after: Row) -> bool:
    return before["statistic"] is not None and after["statistic"] is not None


def _exactly(id_: str, before: Row, after: Row, rerun: Rerun, remark: str = "") -> Confirmation:
    for side, kept in (("old", before), ("new", after)):
        seen = rerun(side, id_, 1, 0)  # type: ignore[arg-type] # the pairs are typed as texts
        if seen.row is None:
            return Confirmation(id_, False, f"could not be run again in the {side} environment: it {seen.fault}")
        if found := changes_between(kept, seen.row):
            what = f"{found[0].name or found[0].kind.value} was {found[0].before}, is {found[0].after}"
            return Confirmation(id_, False, f"the {side} environment does not repeat itself: {what}")
    return Confirmation(id_, True, f"the same again in both environments{remark}")


def _on_new_seeds(id_: str, before: Row, after: Row, rerun: Rerun) -> Confirmation | None:
    """The two environments on the same new seeds, pair by pair; None where no new seed reaches the experiment."""
    known = units(before), units(after)
    old: dict[str, list[NDArray[np.float64]]] = {}
    new: dict[str, list[NDArray[np.float64]]] = {}
    verdicts: list[str] = []
    for go in range(1, MOST_RERUNS + 1):
        pair = [rerun(side, id_, 1, go * SEED_STEP) for side in ("old", "new")]
        fault = next((seen.fault for seen in pair if seen.row is None), "")
        rows = [seen.row for seen in pair if seen.row is not None]
        if fault or len(rows) < 2:
            return Confirmation(id_, False, f"could not be run on new seeds: it {fault}")
        fresh = [units(row) for row in rows]
        if go == 1 and any(_same(seen, was) for seen, was in zip(fresh, known)):
            return None
        for into, found in zip((old, new), fresh):
            for name, values in found.items():
                into.setdefault(name, []).append(values)
        verdicts.append(rows[1]["verdict"])
        if min((sum(map(len, parts)) for parts in old.values()), default=0) >= FEWEST_SEEDS:
            break
    joined: list[Units] = [{name: np.concatenate(parts) for name, parts in side.items()} for side in (old, new)]
    p_value = p_value_of(*joined, paired=True)
    n = min((len(values) for values in joined[0].values()), default=0)
    how = f"{n} new seeds in both environments, p = {1.0 if p_value is None else p_value:.2g}"
    if not set(verdicts) - {before["verdict"]}:
        return Confirmation(id_, False, f"{how}; on them it is {before['verdict']} as it was", p_value)
    return Confirmation(id_, p_value is not None, f"{how}; on them it is {verdicts[-1]}", p_value)


def _same(one: Units, other: Units) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def _timed_again(id_: str, rerun: Rerun) -> Confirmation:
    seen = {side: rerun(side, id_, 1, 0) for side in ("old", "new")}
    for side, one in seen.items():
        if one.row is None:
            return Confirmation(id_, False, f"could not be timed again in the {side} environment: it {one.fault}")
        if is_noisy(one.row):
            return Confirmation(id_, False, f"the machine was too noisy to time it again: {one.row['reason']}")
    old, new = seen["old"].row or {}, seen["new"].row or {}
    found = changes_between(old, new)
    if not found:
        return Confirmation(id_, False, "timed again in new processes, it is the same in both environments")
    p_value = next((change.p_value for change in found if change.p_value is not None), None)
    what = f"{found[0].kind.value} {_short(found[0].before)} → {_short(found[0].after)}"
    return Confirmation(id_, True, f"timed again in new processes: {what}", p_value)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
