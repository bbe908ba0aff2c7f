"""How claims are spread over the workers of pytest-xdist: a topic stays on one, so that its experiments run once.

xdist's own `--dist loadgroup` marks the group in an item's node id, which pytest 9.2 no longer lets it rewrite; and its
scheduler hands a dead worker's finished tests out again, upon which the run waits for ever (as of xdist 3.8).
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling


class TopicScheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types here
    """A unit of work is a folder; claims that a dead worker left are taken up by another."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0].rpartition("/")[0]

    def remove_node(self, node: Any) -> str | None:
        """Give back what a worker left, and return the test it died of, which is not tried again."""
        units = self.assigned_work[node]
        left = [(unit, nodeid) for unit in units.values() for nodeid, done in unit.items() if not done]
        fatal: str | None = None
        if left:
            unit, fatal = left[0]
            unit[fatal] = True
        for folder in [folder for folder, unit in units.items() if all(unit.values())]:
            del units[folder]
        super().remove_node(node)
        return fatal
