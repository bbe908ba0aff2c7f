"""What a ledger looks like, key by key: everything that a command relies on, and nothing it does not."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from runtwice.figure import Agreement
from runtwice.shape import (
    Shape,
    count,
    duration,
    each_maybe,
    listing,
    mapping,
    matching,
    maybe,
    measure,
    number,
    numbers,
    one_of,
    table,
    text,
    truth,
)
from runtwice.verdict import Verdict

# A topic is a folder and its pages are files, so that no id may lead anywhere else.
_ID = re.compile(r"[^\x00-\x1f\x7f/\\.][^\x00-\x1f\x7f/\\]*")


def _is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def value(found: Any, where: str) -> str:
    """A measured value or a setting: whatever JSON holds, of numbers only finite ones."""
    if isinstance(found, list):
        return listing(value)(found, where)
    if isinstance(found, dict):
        return mapping(value)(found, where)
    return "" if isinstance(found, str | bool) or found is None else number(found, where)


claim_id = matching(_ID.fullmatch, "the id of a claim")
verdict = one_of(set(map(str, Verdict)), "a verdict")
_texts = mapping(text)
_range = table({"low": text, "high": text}, {"mid": text}, closed=True)


def printed(found: Any, where: str) -> str:
    """A printed figure: a text, a range, or a list of them."""
    if isinstance(found, list):
        return listing(printed)(found, where)
    return _range(found, where) if isinstance(found, dict) else text(found, where)


_STATISTIC = table(
    {**dict.fromkeys(("value", "low", "high"), maybe(number)), "n": count},
    each_maybe({**dict.fromkeys(("confidence", "detectable", "p_value"), number), "method": text}),
)
_FIGURE = table(
    {
        "name": text,
        "printed": printed,
        "measured": value,
        "agreement": one_of(set(map(str, Agreement)), "an agreement"),
        **dict.fromkeys(("moved_by", "moved_units"), maybe(measure)),
    },
    {"tolerance": maybe(listing(measure, 2))},
)
_FINGERPRINT = table({}, each_maybe({"hash": text, "code": text, "settings": mapping(value), "distributions": _texts}))
ROW = table(
    {
        "id": claim_id,
        "verdict": verdict,
        "reason": text,
        "verb": text,
        "declared": verdict,
        "because": text,
        "as_declared": truth,
        "statistic": maybe(_STATISTIC),
        "figures": listing(_FIGURE),
        "samples": mapping(numbers),
        "seconds": duration,
        "fingerprint": _FINGERPRINT,
    },
    {
        "kind": text,
        "tier": text,
        "needs": listing(text),
        "capped": mapping(count),
        "examples": maybe(count),
        "settings": mapping(value),
        "warnings": listing(text),
        "nodeid": text,
        "timings": listing(table({"name": text, "seconds": numbers}, {"group": maybe(text)})),
    },
)
_ENVIRONMENT = table(
    {},
    each_maybe(
        {
            **dict.fromkeys(("python", "platform"), text),
            **dict.fromkeys(("cores", "memory_bytes"), count),
            **dict.fromkeys(("cpu_features", "gpus"), listing(text)),
            "blas": listing(mapping(value)),
            "variables": mapping(maybe(text)),
            "distributions": _texts,
        }
    ),
)
_CONTROL = table({}, each_maybe(dict.fromkeys(("log_ratio", "low", "high", "margin"), measure)))
_CONTROLS = table({}, each_maybe({"a_a": _CONTROL, "ceilings": mapping(value)}))
# Its rows are checked one by one, so that a fault says which.
BLOCK = table(
    {
        "created": matching(_is_time, "a date and time of ISO 8601"),
        "partial": truth,
        "selection": listing(claim_id),
        "environment": _ENVIRONMENT,
    },
    {"controls": maybe(_CONTROLS), "first_seed": number, "accepted": listing(mapping(value))},
)
_BENCHMARK = table(
    {"fullname": text, "extra_info": table({"figure": text}), "stats": table({"data": numbers})}, {"group": maybe(text)}
)
_CPU = table({}, each_maybe({"brand_raw": text, "count": count, "flags": listing(text)}))
DOCUMENT = table(
    {"benchmarks": listing(_BENCHMARK)},
    each_maybe(
        {
            "machine_info": table({}, each_maybe({"system": text, "machine": text, "cpu": _CPU})),
            "commit_info": table({}, each_maybe({"id": text, "dirty": truth})),
        }
    ),
)

__all__ = ["BLOCK", "DOCUMENT", "ROW", "Shape", "claim_id", "value", "verdict"]
