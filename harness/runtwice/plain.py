"""A result as JSON gives it back, so that a fresh one and a kept one, a local one and a remote one are the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from runtwice.errors import EvidenceError


def through_json(function: Callable[[int], Any], seed: int) -> Any:
    """What a function returns for a seed, as plain values.

    Raises:
        EvidenceError: JSON cannot hold it.
    """
    value = function(seed)
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise EvidenceError(f"sweep({function.__qualname__}), seed {seed}: {error}; return plain values") from None
