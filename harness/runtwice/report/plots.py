"""Which plots a topic has, and the numbers they show: declared beside its claims, read from the ledger alone.

`claims/<topic>/plots.toml` holds a table a plot. Nothing is computed for a plot: what a ledger does not keep is not
drawn.

    [ladder]
    title = "Gaps along the ladder of fixes"
    kind = "ranges"                            # bars, stack, curves, ranges or roofline
    claim = "itl.ladder-table"
    x = ["baseline", "heap frozen"]            # or { given = NAME }, { sample = NAME }, { figure = NAME }
    keys = ["baseline", "gcfreeze"]            # what {} in a source stands for, one an x (default: x itself)
    x_label = "fix"
    y_label = "gap (ms)"
    y_scale = "log"                            # and x_scale; linear by default
    caption = "…"
    [ladder.series]
    "p99" = { figures = "{}_p99" }             # a figure an x
    # { figure = NAME }: one figure, a value an x;  { sample = NAME }: a value an x;
    # { samples = GLOB }: a curve a sample, a value an x each;  { samples = "… {} …" }: a sample an x, a value a unit
    # part = N takes the Nth value of each figure; claim = ID another claim's; x = … the series' own places.

A stack with `share = true` is drawn in percent of each bar; ranges with `connected = false` have no line from place to
place. A roofline has also
`roof = { bandwidth = SOURCE, peak = SOURCE }`, in the units of its axes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

from runtwice import shape
from runtwice.claim import Claim
from runtwice.errors import ClaimError
from runtwice.report.environments import Row

DATA_FILE = "plots.toml"
KINDS = ("bars", "stack", "curves", "ranges", "roofline")
SCALES = ("linear", "log")
_FIELDS = {
    *(
        "title",
        "kind",
        "claim",
        "x",
        "keys",
        "x_label",
        "y_label",
        "x_scale",
        "y_scale",
        "caption",
        "share",
        "connected",
    ),
    *("series", "roof"),
}
_SOURCES = ("figures", "figure", "sample", "samples")
_AXES = ("given", "sample", "figure")

Units = list[float]


def _place(found: Any, where: str) -> str:
    """A place along an axis: a number, or a name."""
    return shape.text(found, where) if isinstance(found, str) else shape.number(found, where)


_SHAPE = shape.table(
    {"title": shape.text, "claim": shape.text, "series": shape.mapping(shape.anything)},
    {
        **dict.fromkeys(("x_label", "y_label", "caption"), shape.text),
        **dict.fromkeys(("share", "connected"), shape.truth),
        "keys": shape.listing(shape.text),
        "roof": shape.mapping(shape.anything),
    },
)
_SOURCE = shape.table({}, {**dict.fromkeys((*_SOURCES, "claim"), shape.text), "part": shape.count})


class Lacking(Exception):
    """A ledger that does not hold a plot's numbers; the message names what it lacks."""


@dataclass(frozen=True)
class Plot:
    """A plot as it is declared."""

    id: str
    title: str
    kind: str
    claim: str
    x: Any
    series: Mapping[str, Mapping[str, Any]]
    keys: tuple[str, ...] = ()
    x_label: str = ""
    y_label: str = ""
    x_scale: str = "linear"
    y_scale: str = "linear"
    caption: str = ""
    share: bool = False
    connected: bool = True
    roof: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def claims(self) -> set[str]:
        """Every claim whose row it reads."""
        sources = [*self.series.values(), *self.roof.values()]
        axes = [one for one in (self.x, *(source.get("x") for source in sources)) if isinstance(one, dict)]
        return {one.get("claim", self.claim) for one in (*sources, *axes)}


@dataclass(frozen=True)
class Data:
    """The numbers of one plot.

    Attributes:
        x: Names or numbers along the axis.
        series: By name, for each x the values of the units that were repeated; none where a series lacks that place.
        roof: Bandwidth and peak of a roofline, in the units of its axes; empty otherwise.
    """

    x: list[str] | list[float]
    series: dict[str, list[Units]]
    roof: dict[str, float] = field(default_factory=dict)

    @property
    def numeric(self) -> bool:
        """True where x has a scale."""
        return all(isinstance(one, float) for one in self.x)


def load(folder: Path) -> list[Plot]:
    """The plots of one topic, in the order of its file; none where it has no file.

    Raises:
        ClaimError: the file breaks the rules; the message names the plot and the field.
    """
    path = folder / DATA_FILE
    if not path.is_file():
        return []
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise ClaimError(f"{path}: cannot be read: {error}") from None
    return [_plot(f"{path}: {name}", name, table) for name, table in document.items()]


def _plot(where: str, name: str, table: Any) -> Plot:
    if not isinstance(table, dict):
        raise ClaimError(f"{where}: {table!r} is no table; a plot is written [{name}]")
    if unknown := set(table) - _FIELDS:
        raise ClaimError(f"{where}: unknown field {sorted(unknown)[0]!r}; the fields are {' '.join(sorted(_FIELDS))}")
    for one in ("title", "claim", "x", "series"):
        if not table.get(one):
            raise ClaimError(f"{where}: `{one}` is missing")
    if table.get("kind") not in KINDS:
        raise ClaimError(f"{where}: `kind` is {table.get('kind')!r}; it must be one of {', '.join(KINDS)}")
    for scale in ("x_scale", "y_scale"):
        if table.get(scale, "linear") not in SCALES:
            raise ClaimError(f"{where}: `{scale}` is {table[scale]!r}; it must be linear or log")
    if fault := _SHAPE(table, ""):
        raise ClaimError(f"{where}: {fault}")
    roof = table.get("roof", {})
    if (table["kind"] == "roofline") != (set(roof) == {"bandwidth", "peak"}):
        raise ClaimError(f"{where}: a roofline, and nothing else, has roof = {{ bandwidth = …, peak = … }}")
    _check_axis(f"{where}: x", table["x"])
    for label, source in [*table["series"].items(), *roof.items()]:
        _check_source(f"{where}: {label!r}", source)
        _check_axis(f"{where}: {label!r}: x", source.get("x", table["x"]))
    return Plot(id=name, **{**table, "keys": tuple(table.get("keys", ()))})


def _check_source(where: str, source: Any) -> None:
    kinds = [kind for kind in _SOURCES if isinstance(source, dict) and kind in source]
    if len(kinds) != 1 or set(source) - {*kinds, "part", "claim", "x"}:
        raise ClaimError(f"{where} is {source!r}; it must name one of {', '.join(_SOURCES)}")
    if fault := _SOURCE(source, ""):
        raise ClaimError(f"{where}: {fault}")


def _check_axis(where: str, axis: Any) -> None:
    named = isinstance(axis, dict) and len(set(axis) & set(_AXES)) == 1 and set(axis) <= {*_AXES, "claim"}
    if not named and not (isinstance(axis, list) and axis):
        raise ClaimError(f"{where} is {axis!r}; it must be a list, or name one of {', '.join(_AXES)}")
    if fault := (shape.mapping(shape.text) if named else shape.listing(_place))(axis, "x"):
        raise ClaimError(f"{where}: {fault}")


def read(plot: Plot, rows: Mapping[str, Row], claims: Mapping[str, Claim]) -> Data:
    """The numbers of a plot.

    Raises:
        Lacking: some of them are not in the ledger, or do not fit together.
    """
    found: dict[str, dict[Any, Units]] = {}
    for name, source in plot.series.items():
        x = _axis(source.get("x", plot.x), plot.claim, rows, claims)
        keys = plot.keys or tuple(map(str, x))
        values = _values(source, plot.claim, keys, rows)
        if not len(values) == len(keys) == len(x):
            raise Lacking(f"{name!r}: {len(values)} values and {len(keys)} keys for {len(x)} places")
        found[name] = dict(zip(x, values))
    places: list[Any] = list(dict.fromkeys(x for values in found.values() for x in values))
    if plot.kind == "roofline" and not all(isinstance(one, float) for one in places):
        raise Lacking("the places of a roofline are numbers")
    if all(isinstance(one, float) for one in places):
        places.sort()
    roof = {name: median(_flat(_values(one, plot.claim, (), rows))) for name, one in plot.roof.items()}
    _check_scales(plot, places, [one for values in found.values() for units in values.values() for one in units], roof)
    return Data(places, {name: [values.get(x, []) for x in places] for name, values in found.items()}, roof)


def _check_scales(plot: Plot, places: Sequence[Any], values: Units, roof: Mapping[str, float]) -> None:
    """Refuse what an axis cannot show: nothing up to 0 is on a logarithmic one, nothing below it is a share."""
    log_x, log_y = (plot.kind == "roofline" or scale == "log" for scale in (plot.x_scale, plot.y_scale))
    numeric_x = plot.kind in ("curves", "roofline") and all(isinstance(one, float) for one in places)
    shown = [places if log_x and numeric_x else [], values if log_y else [], *([one] for one in roof.values())]
    if any(axis and max(axis) <= 0 for axis in shown):
        raise Lacking(f"{plot.claim}: nothing above 0, for a logarithmic scale")
    if plot.share and any(one < 0 for one in values):
        raise Lacking(f"{plot.claim}: a value of less than 0, as a share")


def _axis(declared: Any, claim: str, rows: Mapping[str, Row], claims: Mapping[str, Claim]) -> list[str] | list[float]:
    values: Iterable[Any] = declared
    if isinstance(declared, dict) and "given" in declared:
        values = _given(claims, declared.get("claim", claim), declared["given"])
    elif isinstance(declared, dict):
        values = [median(units) for units in _values(declared, claim, (), rows)]
    listed = list(values)
    if all(isinstance(one, int | float) for one in listed):
        return [float(one) for one in listed]
    return [str(one) for one in listed]


def _given(claims: Mapping[str, Claim], id_: str, name: str) -> list[Any]:
    given = claims[id_].given.get(name) if id_ in claims else None
    if not isinstance(given, list):
        raise Lacking(f"{id_} gives no list {name!r}")
    return given


def _values(source: Mapping[str, Any], claim: str, keys: Sequence[str], rows: Mapping[str, Row]) -> list[Units]:
    """For each place the values of its units."""
    id_ = source.get("claim", claim)
    if id_ not in rows:
        raise Lacking(f"no row of {id_}")
    row = rows[id_]
    if "samples" in source and "{}" in source["samples"]:
        return [_sample(row, source["samples"].replace("{}", key)) for key in keys]
    if "samples" in source:
        return _curves(row, source["samples"])
    if "sample" in source:
        return [[value] for value in _sample(row, source["sample"])]
    part = source.get("part")
    if "figures" in source:
        return [_units(_figure(row, source["figures"].replace("{}", key)), part) for key in keys]
    found = _figure(row, source["figure"])
    return [_units(one, part) for one in (found if isinstance(found, list) else [found])]


def _sample(row: Row, name: str) -> Units:
    if name not in row["samples"]:
        raise Lacking(f"{row['id']} keeps no sample {name!r}")
    return _numbers(row, name, row["samples"][name])


def _curves(row: Row, glob: str) -> list[Units]:
    names = sorted((name for name in row["samples"] if fnmatchcase(name, glob)), key=_natural)
    curves = [_sample(row, name) for name in names]
    if not curves or len({len(curve) for curve in curves}) > 1:
        raise Lacking(f"{row['id']} keeps no samples {glob!r} of one length")
    return [list(column) for column in zip(*curves)]


def _figure(row: Row, name: str) -> Any:
    found = next((one["measured"] for one in row["figures"] if one["name"] == name), None)
    if found is None:
        raise Lacking(f"{row['id']} measured no figure {name!r}")
    return found


def _units(value: Any, part: int | None) -> Units:
    if part is not None:
        if not isinstance(value, list) or part >= len(value):
            raise Lacking(f"a figure has no value number {part}")
        value = value[part]
    if isinstance(value, Mapping):
        value = list(value.values())
    return _numbers({"id": "a figure"}, "", value if isinstance(value, list) else [value])


def _numbers(row: Row, name: str, values: Iterable[Any]) -> Units:
    listed = list(values)
    if not listed or not all(isinstance(one, int | float) for one in listed):
        raise Lacking(f"{row['id']}: {name!r} is no list of finite numbers")
    return [float(one) for one in listed]


def _flat(values: Iterable[Units]) -> Units:
    return [one for units in values for one in units]


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts `curve 2` before `curve 10`."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]
