"""Garbage collection as the engine meets it: the interpreter's, timed, or a model of its thresholds.

Follows: CPython's generational collector (``Modules/gcmodule.c`` of 3.11 to 3.13): three generations, a
threshold on allocations for the youngest and on collections for the others, and no full collection before the
objects that survived since the last one are a quarter of those that survived it.
Leaves out: the incremental collector of 3.14.0 to 3.14.4.
"""

import gc
import threading
from types import TracebackType
from typing import Protocol, Self

from implementations.itl.clock import Clock, VirtualClock

CONTAINERS_PER_HEAP_ENTRY = 2  # each dictionary of the start-up heap holds a list
THRESHOLDS = (700, 10, 10)
OldHeap = list[dict[str, object]]


class Collector(Protocol):
    """Logs collections between entering and leaving.

    ``pauses`` are (start, end, generation) in seconds of the clock; ``cpu_s`` is the processor time that they have
    taken from the thread that entered.
    """

    pauses: list[tuple[float, float, int]]
    cpu_s: float

    def __enter__(self) -> Self:
        """Begin to log, freezing the heap first if that is wanted."""

    def __exit__(self, *raised: object) -> None:
        """Stop logging."""


class RealCollector:
    """Times the interpreter's own collections by ``gc.callbacks``: a reading of both clocks at either end.

    Args:
        clock: read at both ends of a collection.
        freeze: whether to collect and then freeze the heap on entering.

    Attributes:
        pauses: (start, end, generation) of each collection, in seconds of the clock.
        cpu_s: processor seconds of those that ran on the thread that entered.
    """

    def __init__(self, clock: Clock, freeze: bool = False) -> None:
        self.pauses: list[tuple[float, float, int]] = []
        self.cpu_s = 0.0
        self._clock = clock
        self._freeze = freeze
        self._began_s = self._began_cpu_s = 0.0
        self._thread = threading.get_ident()

    def __enter__(self) -> Self:
        self._thread = threading.get_ident()
        gc.callbacks.append(self._observe)
        if self._freeze:
            gc.collect()
            gc.freeze()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.callbacks.remove(self._observe)
        if self._freeze:
            gc.unfreeze()

    def _observe(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began_s, self._began_cpu_s = self._clock.now(), self._clock.cpu()
            return
        self.pauses.append((self._began_s, self._clock.now(), info["generation"]))
        if threading.get_ident() == self._thread:
            self.cpu_s += self._clock.cpu() - self._began_cpu_s


class ModelledCollector:
    """Decides by CPython's rules when a collection would run, and advances a virtual clock by what it would
    take.

    Args:
        clock: advanced by each collection.
        object_s: seconds a collection takes for each object it examines.
        startup_objects: tracked objects alive before the run, in the oldest generation.
        freeze: whether they are collected once and then left out.
        thresholds: of the three generations.

    Attributes:
        pauses: (start, end, generation) of each collection, in virtual seconds.
        cpu_s: virtual seconds spent in them.
    """

    def __init__(
        self,
        clock: VirtualClock,
        object_s: float,
        startup_objects: int,
        freeze: bool = False,
        thresholds: tuple[int, int, int] = THRESHOLDS,
    ) -> None:
        self.pauses: list[tuple[float, float, int]] = []
        self.cpu_s = 0.0
        self._clock = clock
        self._object_s = object_s
        self._freeze = freeze
        self._thresholds = thresholds
        self._objects = [0, 0, 0]  # by generation; everything survives
        self._collections = [0, 0]  # of generation 0 since one of 1, and of 1 since a full one
        self._waiting = 0  # objects that reached generation 2 since the last full collection
        self._survived = 0  # objects that the last full collection left
        self._serving = False
        self.allocated(startup_objects)  # leaves the counters as building the heap does

    def __enter__(self) -> Self:
        self._serving = True
        if self._freeze:
            self._collect(2)
            self._objects = [0, 0, 0]
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing was registered."""

    def allocated(self, count: int) -> None:
        """So many tracked objects were made, all of them to stay."""
        threshold = self._thresholds[0]
        while count:
            until_collection = min(count, threshold + 1 - self._objects[0])
            self._objects[0] += until_collection
            count -= until_collection
            if self._objects[0] > threshold:
                self._collect(self._due())

    def _due(self) -> int:
        """The oldest generation whose turn it is."""
        if self._collections[1] > self._thresholds[2] and self._waiting >= self._survived / 4:
            return 2
        return 1 if self._collections[0] > self._thresholds[1] else 0

    def _collect(self, generation: int) -> None:
        examined = sum(self._objects[: generation + 1])
        self._objects[: generation + 1] = [0] * (generation + 1)
        self._objects[min(generation + 1, 2)] += examined
        self._collections[:generation] = [0] * generation
        if generation < 2:
            self._collections[generation] += 1
        if generation == 1:
            self._waiting += examined
        if generation == 2:
            self._waiting, self._survived = 0, examined
        if self._serving:
            began_s = self._clock.now()
            self._clock.advance(examined * self._object_s)
            self.cpu_s += examined * self._object_s
            self.pauses.append((began_s, self._clock.now(), generation))


def startup_heap(entries: int = 400_000) -> OldHeap:
    """Long-lived objects, as a server's registries are: dictionaries that hold a list each."""
    return [{"number": number, "name": f"entry {number}", "fields": [number, str(number)]} for number in range(entries)]
