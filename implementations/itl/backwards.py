"""Emissions of a request that run backwards in time, told from lines that are merely out of order.

Follows: the refusal of `event_order.py`. A request is refused if its stamps fall along the lines and also along the
ends of the steps that emitted, where those are on record.
Leaves out: emissions that need no second look; those of most logs are in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from implementations.itl.event_tables import Table
from implementations.itl.runs import Rows

Key = tuple[float, int]
NOTHING: Key = (-math.inf, -1)


class Backwards:
    """Watches the emissions of all requests go by, in the order of their lines; requests by number from 0."""

    def __init__(self) -> None:
        self._latest_s = np.full(1024, -np.inf)
        self._suspects: dict[int, tuple[str, float]] = {}  # the line to name, and its stamp

    def falls(self, request: NDArray[np.int64], time_s: NDArray[np.float64]) -> NDArray[np.intp]:
        """Places of the emissions that are earlier than the one listed before them of the same request."""
        self._make_room(int(request.max()) + 1)
        order = np.argsort(request, kind="stable")
        who, when = request[order], time_s[order]
        changes = who[1:] != who[:-1]
        head, tail = np.append(True, changes), np.append(changes, True)
        before = np.where(head, self._latest_s[who], np.append(-np.inf, when[:-1]))
        self._latest_s[who[tail]] = when[tail]
        return order[when < before]

    def suspect(self, request: int, name: str, time_s: float) -> None:
        """Remembers a line that is earlier than the one before it; the first of a request is the one to name."""
        self._suspects.setdefault(request, (name, time_s))

    def refuse(self, buckets: Iterable[Rows], steps: Table, ids: list[int | str]) -> None:
        """Refuses a suspect if the steps do not explain its order.

        Sorted by time, a later emission must not have an earlier key of (end of its step, line).

        Args:
            buckets: all emissions in order of time, with their step and their place among the lines.
            steps: the steps, by the number that emissions give.
            ids: the requests by number.

        Raises:
            ValueError: there is one; the message names its first line out of order.
        """
        latest: dict[int, tuple[float, Key, Key]] = {}  # time, greatest key at that time, greatest key before it
        for request, time_s, step, place in self._suspicious(buckets):
            when, top, before = latest.get(request, (-math.inf, NOTHING, NOTHING))
            if time_s > when:
                when, top, before = time_s, NOTHING, max(top, before)
            on_record = 0 <= step < len(steps)
            key = (float(steps["end_s"][step]), place) if on_record else NOTHING
            if not on_record or key < before:
                name, listed_s = self._suspects[request]
                raise ValueError(f"{name}: request {ids[request]} emits at {listed_s} s, before its predecessor")
            latest[request] = (when, max(top, key), before)

    def _suspicious(self, buckets: Iterable[Rows]) -> Iterator[tuple[int, float, int, int]]:
        if not self._suspects:
            return
        suspects = np.array(sorted(self._suspects))
        for rows in buckets:
            yield from rows[np.isin(rows["request"], suspects)][["request", "time_s", "step", "place"]].tolist()

    def _make_room(self, requests: int) -> None:
        if requests > len(self._latest_s):
            grown = np.full(2 * requests, -np.inf)
            grown[: len(self._latest_s)] = self._latest_s
            self._latest_s = grown
