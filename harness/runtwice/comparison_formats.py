"""A comparison in words: a table for a terminal, Markdown for a summary, annotations for GitHub, JSON for tools.

All four say the same in the same order: what was compared, what changed, what differs without counting, what only one
ledger has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from runtwice import foreign
from runtwice.circumstances import spelled
from runtwice.compare import Change, Comparison, Kind, Standing
from runtwice.ledger import Ledger, finite

FEW = 8  # names on a line before the rest is only counted


def table(found: Comparison) -> str:
    """Lines for a terminal."""
    lines = [_named(found.old), f"→ {_named(found.new)}", f"compared {_count(found.compared, 'claim')} {_where(found)}"]
    lines += [f"  {line}" for line in around(found)]
    for standing in Standing:
        changes = found.standing(standing)
        if not changes:
            continue
        if standing is Standing.SLIGHT:
            claims = {change.id for change in changes}
            lines.append(f"{standing.value}: {_count(len(changes), 'figure')} of {_count(len(claims), 'claim')}")
            continue
        lines.append(f"{_title(standing)} ({len(changes)})")
        width = max(len(change.id) for change in changes)
        lines += [f"  {change.id:{width}}  {sentence(change)}" for change in changes]
    lines += remarks(found)
    if not found.counted:
        lines.append("nothing changed")
    return "\n".join(map(foreign.line, lines))


def markdown(found: Comparison) -> str:
    """A section for a summary page."""
    lines = [f"**{_verdict(found)}** over {_count(found.compared, 'claim')} {foreign.markdown(_where(found))}.", ""]
    lines += [f"- {foreign.markdown(line)}" for line in around(found)]
    for standing in Standing:
        changes = found.standing(standing)
        if not changes or standing is Standing.SLIGHT:
            continue
        lines += [
            "",
            f"### {_title(standing)} ({len(changes)})",
            "",
            "| claim | what | may be behind it |",
            "|---|---|---|",
        ]
        lines += [
            f"| {foreign.code(change.id)} | {foreign.markdown(_moved(change))} | {foreign.markdown(_causes(change))} |"
            for change in changes
        ]
    extra = remarks(found)
    return "\n".join([*lines, *([""] if extra else []), *(f"- {foreign.markdown(line)}" for line in extra)])


def github(found: Comparison) -> str:
    """Workflow commands: an error a change, a warning a doubt, a notice for what only deserves to be known."""
    lines = []
    for change in found.changes:
        level = {Standing.COUNTED: "error", Standing.CHANCE: "warning"}.get(change.standing, "notice")
        if change.standing is not Standing.SLIGHT:
            place = f"file={_property(change.nodeid.partition('::')[0])}," if change.nodeid else ""
            title = f"{change.id}: {change.standing.value}"
            lines.append(f"::{level} {place}title={_property(title)}::{_data(sentence(change))}")
    lines += [f"::notice title=runtwice diff::{_data(line)}" for line in remarks(found)]
    return "\n".join([*lines, f"::notice title=runtwice diff::{_data(f'{_verdict(found)} {_where(found)}')}"])


def as_json(found: Comparison) -> str:
    """Everything, for other tools."""
    document = {
        "old": _described(found.old),
        "new": _described(found.new),
        "changed": bool(found.counted),
        "compared": found.compared,
        "around": asdict(found.around),
        "changes": [asdict(change) for change in found.changes],
        "only_old": found.only_old,
        "only_new": found.only_new,
        "regained": found.regained,
        "noisy": found.noisy,
        "warnings": found.warnings,
    }
    return json.dumps(finite(document), indent=1, allow_nan=False, ensure_ascii=False)


FORMATS: dict[str, Callable[[Comparison], str]] = {
    "table": table,
    "json": as_json,
    "markdown": markdown,
    "github": github,
}


def sentence(change: Change) -> str:
    """What changed and what may be behind it, on one line."""
    causes = _causes(change)
    return f"{_moved(change)}  [{causes}]" if causes else _moved(change)


def around(found: Comparison) -> Iterator[str]:
    """What differs around the two runs, a line a sort."""
    about = found.around
    if about.packages:
        yield f"packages: {_listed([spelled(name, pair) for name, pair in about.packages.items()], 20)}"
    if about.settings:
        yield f"settings: {_listed([spelled(name, pair) for name, pair in about.settings.items()])}"
    if about.features_off:
        yield f"processor features NumPy no longer uses: {_listed(about.features_off, 60)}"
    if about.features_on:
        yield f"processor features NumPy uses now: {_listed(about.features_on, 60)}"
    if about.kernels:
        yield f"BLAS kernels: {about.kernels[0] or 'none'} → {about.kernels[1] or 'none'}"
    if not about.same_machine:
        for name, (old, new) in about.ceilings.items():
            yield f"{name}: {_or_unknown(old)} beside {_or_unknown(new)}"
    if not (about.packages or about.settings or not about.same_processor) and about.same_machine:
        yield "same packages, settings and processor"


def remarks(found: Comparison) -> list[str]:
    """What neither counts nor is silent."""
    lines = []
    if found.noisy:
        lines.append(f"left undecided by a noisy machine in one of them: {_listed(found.noisy)}")
    for ledger, ids in ((found.old, found.only_old), (found.new, found.only_new)):
        if ids:
            lines.append(f"only in {ledger.path.name} ({len(ids)}): {_listed(ids)}")
        if ledger.partial:
            lines.append(f"{ledger.path.name} is {ledger.completeness}")
    if found.regained:
        lines.append(f"judged now and not before ({len(found.regained)}): {_listed(found.regained)}")
    for id_, texts in found.warnings.items():
        lines += [f"new warning in {id_}: {text}" for text in texts]
    return lines


def _moved(change: Change) -> str:
    text = f"{_value(change.before)} → {_value(change.after)}"
    if change.kind is Kind.COVERAGE:
        text = f"{change.before}, and no longer judged: {foreign.line(str(change.after))}"
    elif change.kind in (Kind.RATIO, Kind.EFFECT):
        text = f"{change.kind.value} {text}"
    elif change.name:
        text = f"{change.name} {text}"
    amounts = [
        f"× {change.moved_by:.3g}" if change.kind is Kind.RATIO and change.moved_by else "",
        f"{change.printed_units:+.3g} printed units" if change.printed_units is not None else "",
        f"{change.noise_units:+.2g} × noise" if change.noise_units is not None else "",
        "" if change.beyond_chance else f"within chance, p = {change.p_value:.2g}",
    ]
    shown = ", ".join(amount for amount in amounts if amount)
    return f"{text} ({shown})" if shown else text


def _causes(change: Change) -> str:
    return _listed(change.causes, 4)


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "[" + _listed([_value(item) for item in value], 6) + "]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    return str(value)


def _listed(names: Sequence[str], few: int = FEW) -> str:
    shown = ", ".join(names[:few])
    return shown if len(names) <= few else f"{shown} and {len(names) - few} more"


def _title(standing: Standing) -> str:
    return standing.value if standing is Standing.COUNTED else f"not counted: {standing.value}"


def _verdict(found: Comparison) -> str:
    number = len(found.counted)
    return f"{_count(number, 'change')}" if number else "nothing changed"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _where(found: Comparison) -> str:
    one, other = found.around.machines
    return f"on one machine: {one}" if found.around.same_machine else f"across machines: {one}, and {other}"


def _named(ledger: Ledger) -> str:
    return f"{ledger.path} ({ledger.block['created'][:19]}, {ledger.completeness})"


def _described(ledger: Ledger) -> dict[str, Any]:
    return {"path": str(ledger.path), "created": ledger.block["created"], "completeness": ledger.completeness}


def _or_unknown(value: Any) -> str:
    return "not measured" if value is None else str(value)


def _data(text: str) -> str:
    return foreign.visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
