"""Numbers as a reader wants them: four significant digits, ranges instead of long lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

LISTED = 8


def numeral(value: Any) -> str:
    """A number in four significant digits; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3e}".replace("e+0", "e").replace("e-0", "e−").replace("e+", "e").replace("e-", "e−")
    shown = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return shown.replace("-", "−")


def shown(value: Any) -> str:
    """A measured or printed value: a range as `mid (low to high)`, a long list by its ends and its length."""
    if isinstance(value, Mapping):
        return _range(value)
    if isinstance(value, list | tuple):
        items = [shown(item) for item in value]
        if len(items) <= LISTED:
            return ", ".join(items)
        return f"{', '.join(items[:3])}, …, {items[-1]} ({len(items)} values)"
    return numeral(value)


def printed(value: Any) -> str:
    """A figure as printed, without the sign that marks a stated number in the data."""
    return shown(_unmarked(value))


def _unmarked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _unmarked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    return value.removeprefix("=") if isinstance(value, str) else value


def measured(value: Any, printed: Any) -> str:
    """A measured value; behind a printed range the range of the runs."""
    if isinstance(printed, Mapping) and _are_numbers(value):
        found = {"mid": median(value), "low": min(value), "high": max(value)}
        return f"{_range({key: found[key] for key in printed})}, {len(value)} runs"
    return shown(value)


def seconds(value: float) -> str:
    """A duration: `12 ms`, `3.2 s`, `4 min`."""
    if value < 0.0995:
        return f"{1000 * value:.0f} ms" if value >= 0.0005 else "0 ms"
    return f"{value:.1f} s" if value < 99.5 else f"{value / 60:.0f} min"


def size(n_bytes: int) -> str:
    """A size: `340 kB`, `1.2 MB`, `8.3 GB`."""
    if n_bytes < 1e6:
        return f"{n_bytes / 1e3:.0f} kB"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.1f} GB"


def _range(value: Mapping[str, Any]) -> str:
    if {"low", "high"} <= set(value) <= {"mid", "low", "high"}:
        ends = f"{numeral(value['low'])} to {numeral(value['high'])}"
        return f"{numeral(value['mid'])} ({ends})" if "mid" in value else ends
    return ", ".join(f"{key} {shown(item)}" for key, item in value.items())


def _are_numbers(value: Any) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(one, int | float) for one in value)
