"""Seconds by part: every moment between start and stop belongs to the part marked last.

Follows: the post's stopwatch around each product, made without gaps, so that the parts add up to the whole.
Leaves out: the cost of looking at the clock (about 50 ns a mark), which falls to the part that ends.
"""

from time import perf_counter


class PartClock:
    """A stopwatch with one hand a part.

    Attributes:
        seconds: by part, added up since the clock was made.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._part: str | None = None
        self._since = 0.0

    def mark(self, part: str) -> None:
        """What runs from here on belongs to `part`."""
        now = perf_counter()
        if self._part is not None:
            self.seconds[self._part] = self.seconds.get(self._part, 0.0) + now - self._since
        self._part, self._since = part, now

    def stop(self) -> None:
        """End the part marked last; nothing is counted until the next mark."""
        self.mark("")
        self._part = None

    @property
    def total(self) -> float:
        """Seconds of all parts."""
        return sum(self.seconds.values())
