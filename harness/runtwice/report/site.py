"""Puts the pages together: one of all claims, and one a topic with the evidence of each claim and the topic's plots.

Each page stands alone: its style, script and plots are in it, and it asks the network for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from runtwice import __version__, catalogue
from runtwice.catalogue import Catalogue
from runtwice.claim import Claim
from runtwice.figure import as_printed
from runtwice.ledger import Ledger
from runtwice.report import charts, entries, marks, numerals, plots
from runtwice.report.entries import AGREEMENTS, Entry
from runtwice.report.environments import Environment, Row, environments, machine, python

# Figures of a claim that the table of all claims shows; its own section shows every one.
SHOWN_FIGURES = 3


@dataclass(frozen=True)
class Drawn:
    """A plot as it stands on a page: the drawing, and its numbers as text."""

    plot: plots.Plot
    place: str
    drawing: Markup
    header: list[str]
    numbers: list[list[str]]


@dataclass(frozen=True)
class Site:
    """What was written.

    Attributes:
        pages: Path and size in bytes of each page, that of all claims first.
        lacking: Plots that are declared and not drawn, with what the ledgers lack for them.
    """

    pages: dict[Path, int] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)


def write_site(ledgers: Sequence[Ledger], found: Catalogue, root: Path, out: Path, title: str = "") -> Site:
    """Write the pages.

    Args:
        ledgers: What was measured; the first one's environment leads.
        found: The claims and their tests; may be empty, then a page shows what the ledgers alone know.
        root: The `claims/` folder, whose topics may declare plots.
        out: The folder to write to.
        title: The heading of the first page.

    Raises:
        ClaimError: a topic's plots are not declared as they should be.
        OSError: nothing can be written there.
    """
    places = environments(ledgers)
    everything = entries.entries(found, places)
    topics = sorted({one.topic for one in everything})
    by_topic = {topic: [one for one in everything if one.topic == topic] for topic in topics}
    shared = {
        "title": title or "Which figures hold",
        "version": __version__,
        "environments": places,
        "topics": by_topic,
        "style": Markup(_text("style.css")),
        "script": Markup(_text("table.js")),
    }
    site, templates = Site(), _templates()
    out.mkdir(parents=True, exist_ok=True)
    _write(site, out / "index.html", templates.get_template("index.html"), {**shared, "entries": everything})
    for topic in topics:
        drawn, lacking = _drawings(root / topic, places, found.claims)
        if any(one.found for one in by_topic[topic]):
            site.lacking.update({f"{topic}.{name}": reason for name, reason in lacking.items()})
        page = {**shared, "topic": topic, "entries": by_topic[topic], "drawn": drawn}
        _write(site, out / page_of(topic), templates.get_template("topic.html"), page)
    return site


def write_page(ledger: Ledger, out: Path, root: Path = Path("claims")) -> None:
    """Write the pages of one ledger, with the claims of the project where it is run.

    Raises:
        ClaimError: the claims or their plots are not declared as they should be.
        OSError: nothing can be written there.
    """
    write_site([ledger], known_claims(root), root, out)


def known_claims(root: Path) -> Catalogue:
    """The claims below a folder; none where it is not there."""
    return catalogue.read(root) if root.is_dir() else Catalogue({}, {})


def _write(site: Site, path: Path, template: Any, values: Mapping[str, Any]) -> None:
    data = template.render(values).encode("utf-8")
    path.write_bytes(data)
    site.pages[path] = len(data)


def _drawings(
    folder: Path, places: Sequence[Environment], claims: Mapping[str, Claim]
) -> tuple[list[Drawn], dict[str, str]]:
    """Each plot of a topic for each environment that has its numbers, and what is lacking where none has."""
    drawn: list[Drawn] = []
    lacking: dict[str, str] = {}
    for plot in plots.load(folder):
        for i, place in enumerate(places):
            try:
                data = plots.read(plot, place.rows, claims)
            except plots.Lacking as reason:
                lacking.setdefault(plot.id, str(reason))
                continue
            drawing = charts.draw(plot, data, f"{folder.name}.{plot.id}.{i}")
            drawn.append(Drawn(plot, place.name, drawing, *_numbers(plot, data)))
    seen = {one.plot.id for one in drawn}
    return drawn, {id_: reason for id_, reason in lacking.items() if id_ not in seen}


def _numbers(plot: plots.Plot, data: plots.Data) -> tuple[list[str], list[list[str]]]:
    """The table of a plot's numbers: a line a place, medians and ranges."""
    header = [plot.x_label or "", *data.series]
    rows = [[numerals.numeral(x), *(_units(units[i]) for units in data.series.values())] for i, x in enumerate(data.x)]
    roof = [[name, *(numerals.numeral(value) for _ in data.series)] for name, value in data.roof.items()]
    return header, rows + roof


def _units(values: Sequence[float]) -> str:
    if len(values) <= 1:
        return numerals.numeral(values[0]) if values else "–"
    return numerals.shown({"mid": median(values), "low": min(values), "high": max(values)})


def page_of(topic: str) -> str:
    """The file of a topic's page; `index.html` is that of all claims."""
    return f"topic-{topic}.html" if topic == "index" else f"{topic}.html"


# --- what the templates call ------------------------------------------------------------------------------------


def reference(row: Row) -> float:
    """The value of no effect: 0, and for a ratio what it was promised to exceed."""
    promised = [_promised(settings) for settings in (row.get("settings") or {}).values()]
    found = [one for one in promised if isinstance(one, int | float)]
    return float(max(found, default=1.0 if row["verb"] == "ratio" else 0.0))


def _promised(settings: Any) -> Any:
    """The ratio that a timing's settings name; None of other settings, which may hold anything."""
    rule = settings.get("rule") if isinstance(settings, dict) else None
    return rule.get("promised") if isinstance(rule, dict) else None


def margin(row: Row, claim: Claim | None) -> float:
    """Half the width of the band of no effect."""
    if row["verb"] == "smaller_than_noise":
        return 1.0
    return claim.margin if claim and row["verb"] != "ratio" else 0.0


def interval(row: Row, claim: Claim | None) -> Markup:
    """The small plot of a row's estimate; empty where it has none."""
    found = row["statistic"]
    if not found or found.get("value") is None:
        return Markup()
    return marks.interval(found, reference(row), margin(row, claim))


def figures(entry: Entry) -> list[dict[str, str]]:
    """Printed beside measured, figure by figure, as the first environment has it."""
    return row_figures(entry.row, entry.claim)


def row_figures(row: Row | None, claim: Claim | None) -> list[dict[str, str]]:
    """Printed beside measured; what a post prints stands also where nothing was measured, with the reason."""
    found = [
        _figure(one["name"], one["printed"], claim)
        | {
            "measured": numerals.measured(one["measured"], one["printed"]),
            "agreement": one["agreement"],
            "by": _by(one),
        }
        for one in (row["figures"] if row else ())
    ]
    compared = {one["name"] for one in found}
    rest = claim.figures if claim else {}
    return found + [_figure(name, as_printed(one), claim) for name, one in rest.items() if name not in compared]


def _figure(name: str, printed: Any, claim: Claim | None) -> dict[str, str]:
    why = claim.exempt_figures.get(name, "") if claim else ""
    nothing = {"measured": "", "agreement": "", "by": ""}
    return {"name": name, "origin": _origin(name, claim), "printed": numerals.printed(printed), "why": why, **nothing}


def _origin(name: str, claim: Claim | None) -> str:
    """Whether the post prints a figure, or it is right without being printed."""
    return "required" if claim and name in claim.required else "printed"


def _by(comparison: Mapping[str, Any]) -> str:
    moved = comparison["moved_by"]
    if comparison["agreement"] == "exact" or not isinstance(moved, int | float):
        return ""
    return f"{'+' if moved > 0 else ''}{numerals.numeral(float(moved))}"


def strips(row: Row) -> list[marks.Strip]:
    """The samples of a row."""
    return marks.strips(row["samples"], row.get("capped") or {}, curves=row["verb"] == "trend")


def facts(place: Environment) -> dict[str, str]:
    """What an environment is, in words."""
    ledger = place.latest
    about = ledger.block["environment"]
    blas = [f"{one.get('internal_api')} {one.get('version')}" for one in about.get("blas") or []]
    threads = (about.get("variables") or {}).get("OMP_NUM_THREADS")
    memory = about.get("memory_bytes")
    found = {
        "machine": machine(ledger),
        "system": str(about.get("platform") or ""),
        "memory": numerals.size(memory) if memory else "",
        "Python": python(ledger),
        "BLAS": ", ".join(blas) + (f", {threads} thread{'s' if threads != '1' else ''}" if threads else ""),
        "libraries": ", ".join(f"{name} {version}" for name, version in sorted(place.libraries.items())),
        "NumPy dispatches to": ", ".join(about.get("cpu_features") or []),
        "control of the machine": _control(ledger),
    }
    return {name: text for name, text in found.items() if text}


def _control(ledger: Ledger) -> str:
    control = (ledger.block.get("controls") or {}).get("a_a") or {}
    if any(control.get(name) is None for name in ("log_ratio", "low", "high")):
        return ""
    low, high = (numerals.numeral(float(control[end])) for end in ("low", "high"))
    return f"an arm against itself: log ratio {numerals.numeral(float(control['log_ratio']))} ({low} to {high})"


@cache
def _templates() -> Templates:
    templates = Templates(
        loader=PackageLoader("runtwice.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(numeral=numerals.numeral, shown=numerals.shown, seconds=numerals.seconds)
    templates.globals.update(
        page_of=page_of,
        figures=figures,
        row_figures=row_figures,
        interval=interval,
        strips=strips,
        facts=facts,
        counts=entries.counts,
        described=marks.described,
        AGREEMENTS=list(map(str, AGREEMENTS)),
        SHOWN_FIGURES=SHOWN_FIGURES,
    )
    return templates


def _text(name: str) -> str:
    return Path(__file__).with_name("templates").joinpath(name).read_text(encoding="utf-8")
