"""The independent units behind a claim's verdict, as its row kept them: what two runs of it are compared by.

A unit is what would be repeated. Of values taken in pairs it is the difference, of a sweep the direction of its curve,
of two spreads the ratio of a replicate's; everything else is a unit as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Units = Mapping[str, NDArray[np.float64]]

_NUMBERED = re.compile(r"(?P<label>.*) \d+")


def units(row: Mapping[str, Any]) -> Units:
    """The units of a row, by the name of the sample; thinned-out samples have none."""
    whole = {
        name: np.asarray(values, dtype=float)
        for name, values in row["samples"].items()
        if name not in row.get("capped", {})
    }
    if row["verb"] == "trend":
        return _by_label({name: _direction(curve) for name, curve in whole.items()})
    if row["verb"] == "narrower":
        return _by_label(_spreads(whole))
    return {
        name: values - whole[f"{name} (against)"] if f"{name} (against)" in whole else values
        for name, values in whole.items()
        if not name.endswith(" (against)")
    }


def _direction(curve: NDArray[np.float64]) -> float:
    """Share of pairs of points that rise less share that fall (Kendall's tau, ties at 0)."""
    earlier, later = np.triu_indices(len(curve), k=1)
    return float(np.sign(curve[later] - curve[earlier]).mean()) if len(earlier) else 0.0


def _spreads(whole: Units) -> dict[str, float]:
    """log(spread of the wider / spread of the narrower), a replicate."""
    found = {}
    for name, values in whole.items():
        other = whole.get(name.replace("(narrower)", "(wider)"))
        if "(narrower)" in name and other is not None and values.std() > 0 and other.std() > 0:
            found[name] = float(np.log(other.std() / values.std()))
    return found


def _by_label(single: Mapping[str, float]) -> Units:
    """One sample of what was one value a numbered name."""
    joined: dict[str, list[float]] = {}
    for name, value in single.items():
        numbered = _NUMBERED.fullmatch(name)
        joined.setdefault(numbered["label"] if numbered else name, []).append(value)
    return {label: np.asarray(values) for label, values in joined.items()}
