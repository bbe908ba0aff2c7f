"""What an observer can say of workers from their heartbeats: one rule for each thing a beat may carry.

Follows: the rule that a worker is well while its last beat is younger than two intervals, and what has to be added to
it before the light means more than "a process is sending". The table of workers is keyed by identity where the beats
carry no instance, as in a scheduler that takes the hash of the options for a name.
Leaves out: what to do about a complaint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from implementations.scheduling.heartbeat import Beat, is_late
from implementations.scheduling.training_script import Loaded

# Beats in a row without a step before a running job counts as hung.
PATIENCE_BEATS = 3


@dataclass
class _Seen:
    """One entry of the table: the first and the last beat, and how often the running job showed the same step."""

    first: Beat
    last: Beat
    idle_beats: int = 0


@dataclass
class StatusLight:
    """Takes beats and says what is wrong.

    Args:
        interval_s: How often a worker beats.
        checkout: The script as the observer has it, where there is one to compare with.

    Raises:
        ValueError: an interval that is not above 0 seconds.
    """

    interval_s: float
    checkout: Loaded | None = None
    _table: dict[object, _Seen] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.interval_s > 0:
            raise ValueError(f"an interval of {self.interval_s} s; it must be above 0")

    def see(self, beat: Beat, sender: object = None) -> None:
        """Take a beat.

        Args:
            beat: The beat.
            sender: Where it came from, known by the connection; entries are kept by instance, else by identity, and by
                the sender only where a beat carries neither.
        """
        key = self._key(beat, sender)
        seen = self._table.setdefault(key, _Seen(beat, beat))
        stands_still = beat.running is not None and beat.running == seen.last.running
        seen.idle_beats = seen.idle_beats + 1 if stands_still else 0
        seen.last = beat

    @staticmethod
    def _key(beat: Beat, sender: object) -> object:
        if beat.instance is not None:
            return beat.instance
        return beat.identity if beat.identity is not None else sender

    @property
    def entries(self) -> int:
        """How many workers the table has."""
        return len(self._table)

    def complaints(self, now_s: float) -> set[str]:
        """What is wrong now, each as one word; empty means green."""
        found = {word for seen in self._table.values() for word in self._of(seen, now_s)}
        identities = [seen.last.identity for seen in self._table.values() if seen.last.instance is not None]
        if len(set(identities)) < len(identities):
            found.add("duplicate")
        if len({one for one in self._table if isinstance(one, str)}) > 1:
            found.add("new identity")
        return found

    def _of(self, seen: _Seen, now_s: float) -> Iterator[str]:
        beat, ours = seen.last, self.checkout
        if is_late(beat, now_s, self.interval_s):
            yield "late"
        if seen.idle_beats >= PATIENCE_BEATS:
            yield "hung"
        if beat.identity != seen.first.identity:
            yield "new identity"
        if beat.code is not None and beat.code.stale:
            yield "stale"
        if ours is not None and beat.code is not None and beat.code.on_disk != ours.digest:
            yield "other code"
        if ours is not None and beat.parameters is not None and beat.parameters != ours.parameters:
            yield "other options"
