"""What one engine run leaves behind: every step, segment, collection, emission, eviction and request.

During the run numbers go into flat arrays, which the garbage collector does not look into: an engine that is
to show what collections cost must not be the one that causes them.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from implementations.itl.config import EngineConfig
from implementations.itl.events import EAGER, KINDS, NO_GRAPH, EventLog, table_dtype
from implementations.itl.scheduler import Refused, Request, StepPlan

Captured = int | Literal["eager"] | None
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

STEP_COLUMNS = (
    "start_s",
    "end_s",
    "n_decode",
    "captured",  # captured size, or EAGER or NO_GRAPH of the event log
    "context_tokens",  # cached tokens that the decodes attend to
    "prefill_tokens",
    "prefill_pairs",  # pairs of a prompt token and a token it attends to
    "prefill_chunks",
    "preempted",  # evictions and restarts
    "restarted",  # of these, back to the queue from the middle of prefill
    "readmitted",
    "swapped_blocks",  # copied out or in
    "tokenized_texts",
    "tokenized_chars",
    "free_blocks",  # at the end of the step, as are the next three
    "running",
    "waiting",
    "evicted",
)
SEGMENT_COLUMNS = ("step", "kind", "start_s", "end_s", "cpu_s")


class AdmissionEvent(NamedTuple):
    """A request given blocks, for the first time or again."""

    step: int
    request: int
    free_blocks: int  # before
    granted_blocks: int


class PreemptionEvent(NamedTuple):
    """A request that lost its blocks."""

    step: int
    victim: int
    requester: int
    restarted: bool
    free_blocks: int  # before


class ChunkEvent(NamedTuple):
    """A stretch of a prompt that was computed."""

    step: int
    request: int
    start: int
    n_tokens: int


class RequestRow(NamedTuple):
    """One request of the run; a time is None where it did not come."""

    request: int
    arrival_s: float
    prompt_tokens: int
    max_new: int
    first_token_s: float | None
    finished_s: float | None


@dataclass
class RunLog:
    """The record of one run. Times are seconds since the clock was started.

    Args:
        config: settings of the run.
        step: one array a column of ``STEP_COLUMNS``, each (steps,).
        segment: one array a column of ``SEGMENT_COLUMNS``, each (segments,).
        collections: (start, end, generation) of each garbage collection.
        emission: arrays ``request``, ``time_s`` and ``step``, each (tokens,), in order of time.
        evictions: (request, evicted, readmitted or None), in order of eviction.
        requests: one row a request accepted.
        tokens: what each request emitted.
        admissions: first admissions, and those after a restart.
        readmissions: returns of evicted requests.
        preemptions: evictions and restarts.
        chunks: stretches of prefill.
        refusals: requests turned away, and why.
        drained: whether everything that arrived was served; False where the run was stopped.
        worker_cpu_s: processor seconds of the tokenizer's own process.
    """

    config: EngineConfig
    step: dict[str, FloatArray]
    segment: dict[str, FloatArray]
    collections: list[tuple[float, float, int]]
    emission: dict[str, FloatArray]
    evictions: list[tuple[int, float, float | None]]
    requests: list[RequestRow]
    tokens: dict[int, list[int]]
    admissions: list[AdmissionEvent]
    readmissions: list[AdmissionEvent]
    preemptions: list[PreemptionEvent]
    chunks: list[ChunkEvent]
    refusals: list[tuple[int, Refused]]
    drained: bool
    worker_cpu_s: float = 0.0

    @cached_property
    def steps(self) -> list[tuple[float, float, int, Captured]]:
        """(start, end, decodes, captured size | "eager" | None) of each step."""
        columns = (self.step[name].tolist() for name in ("start_s", "end_s", "n_decode", "captured"))
        return [(start, end, int(decodes), _captured(int(code))) for start, end, decodes, code in zip(*columns)]

    @cached_property
    def segments(self) -> list[tuple[int, str, float, float, float]]:
        """(step, kind, start, end, processor seconds) of each segment."""
        columns = (self.segment[name].tolist() for name in SEGMENT_COLUMNS)
        return [(int(step), KINDS[int(kind)], start, end, cpu) for step, kind, start, end, cpu in zip(*columns)]

    @cached_property
    def emissions(self) -> list[tuple[int, float, int]]:
        """(request, time, step) of each token, in order of time."""
        columns = (self.emission[name].tolist() for name in ("request", "time_s", "step"))
        return [(int(request), time_s, int(step)) for request, time_s, step in zip(*columns)]

    def event_log(self) -> EventLog:
        """The run as the partitioner reads it, without the detour over a tuple for each record."""
        # NaN is how both logs write a time that did not come.
        evictions = np.array(self.evictions, np.float64).reshape(-1, 3)
        requests = np.array([row[:5] for row in self.requests], np.float64).reshape(-1, 5)
        collections = np.array(self.collections, np.float64).reshape(-1, 3)
        return EventLog(
            _table("steps", [self.step[name] for name in STEP_COLUMNS[:4]]),
            _table("segments", [self.segment[name] for name in SEGMENT_COLUMNS]),
            _table("collections", collections.T),
            _table("emissions", [self.emission[name] for name in ("request", "time_s", "step")]),
            _table("evictions", evictions.T),
            _table("requests", requests.T),
        )

    def gaps_s(self) -> FloatArray:
        """Every gap between two tokens of one request, in seconds, request by request."""
        order = np.argsort(self.emission["request"], kind="stable")
        times, requests = self.emission["time_s"][order], self.emission["request"][order]
        gaps: FloatArray = np.diff(times)[np.diff(requests) == 0]
        return gaps

    def ttft_s(self) -> FloatArray:
        """Seconds from arrival to first token of each request that got one, in order of arrival."""
        return np.array([row.first_token_s - row.arrival_s for row in self.requests if row.first_token_s is not None])

    def gap_percentiles_ms(self, *percents: float) -> list[float]:
        """Percentiles of the gaps, in milliseconds."""
        return [float(value) for value in np.percentile(self.gaps_s() * 1e3, percents)]

    @property
    def n_preemptions(self) -> int:
        """Evictions and restarts together."""
        return len(self.preemptions)

    @property
    def n_fallback_steps(self) -> int:
        """Steps that decoded one sequence at a time."""
        return int((self.step["captured"] == EAGER).sum())

    @property
    def tokens_per_s(self) -> float:
        """Tokens emitted a second, from the first step's start to the last one's end."""
        return len(self.emission["time_s"]) / float(self.step["end_s"][-1] - self.step["start_s"][0])


@dataclass
class Recorder:
    """Takes the numbers down while the engine runs."""

    step: "array[float]" = field(default_factory=lambda: array("d"))
    segment: "array[float]" = field(default_factory=lambda: array("d"))
    emitter: "array[int]" = field(default_factory=lambda: array("q"))
    emitted: "array[float]" = field(default_factory=lambda: array("d"))  # time and count, a step
    evictions: list[list[Any]] = field(default_factory=list)
    admissions: list[AdmissionEvent] = field(default_factory=list)
    readmissions: list[AdmissionEvent] = field(default_factory=list)
    preemptions: list[PreemptionEvent] = field(default_factory=list)
    chunks: list[ChunkEvent] = field(default_factory=list)
    n_steps: int = 0
    _open: dict[int, list[Any]] = field(default_factory=dict)

    def add_segment(self, kind: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A segment of the step under way, from (time, processor time) to (time, processor time)."""
        self.segment.extend((self.n_steps, KINDS.index(kind), start[0], end[0], max(0.0, end[1] - start[1])))

    def evict(self, request: int, time_s: float) -> None:
        """A request stops running."""
        self._open[request] = [request, time_s, None]
        self.evictions.append(self._open[request])

    def readmit(self, request: int, time_s: float) -> None:
        """An evicted request runs again."""
        self._open.pop(request)[2] = time_s

    def emit(self, requests: Sequence[int], time_s: float) -> None:
        """These requests emit a token each."""
        self.emitter.extend(requests)
        self.emitted.extend((time_s, len(requests), self.n_steps))

    def add_plan(self, plan: StepPlan) -> None:
        """The decisions of the step under way."""
        step = self.n_steps
        if not (plan.chunks or plan.preemptions or plan.readmissions):
            return  # most steps only decode
        for request, free in plan.admissions:
            self.admissions.append(AdmissionEvent(step, request.number, free, len(request.blocks)))
        for request, free in plan.readmissions:
            self.readmissions.append(AdmissionEvent(step, request.number, free, len(request.blocks)))
        for lost in plan.preemptions:
            who = (lost.victim.number, lost.requester.number)
            self.preemptions.append(PreemptionEvent(step, *who, lost.restarted, lost.free_blocks))
        for request, start, n_tokens in plan.chunks:
            self.chunks.append(ChunkEvent(step, request.number, start, n_tokens))

    def end_step(self, *columns: float) -> None:
        """Close the step under way with its ``STEP_COLUMNS``."""
        self.step.extend(columns)
        self.n_steps += 1

    def finish(
        self,
        config: EngineConfig,
        requests: Sequence[Request],
        collections: list[tuple[float, float, int]],
        refusals: list[tuple[int, Refused]],
        drained: bool,
        worker_cpu_s: float,
    ) -> RunLog:
        """Everything as a log."""
        times, counts, steps = np.array(self.emitted, np.float64).reshape(-1, 3).T
        repeats = counts.astype(np.int64)
        emission = {
            "request": np.array(self.emitter, np.float64),
            "time_s": np.repeat(times, repeats),
            "step": np.repeat(steps, repeats),
        }
        stamps: dict[int, list[float]] = defaultdict(list)
        for request, time_s in zip(self.emitter, emission["time_s"].tolist()):
            stamps[request].append(time_s)
        return RunLog(
            config=config,
            step=_columns(STEP_COLUMNS, self.step),
            segment=_columns(SEGMENT_COLUMNS, self.segment),
            collections=collections,
            emission=emission,
            evictions=[(request, evicted, back) for request, evicted, back in self.evictions],
            requests=[_request_row(request, stamps[request.number]) for request in requests],
            tokens={request.number: request.tokens[request.prompt_tokens :] for request in requests},
            admissions=self.admissions,
            readmissions=self.readmissions,
            preemptions=self.preemptions,
            chunks=self.chunks,
            refusals=refusals,
            drained=drained,
            worker_cpu_s=worker_cpu_s,
        )


def _table(name: str, columns: Iterable[FloatArray]) -> NDArray[np.void]:
    """Columns as a structured table of an event log."""
    columns = list(columns)
    table = np.empty(len(columns[0]), table_dtype(name))
    for field_name, column in zip(table.dtype.names or (), columns, strict=True):
        table[field_name] = column
    return table


def _columns(names: tuple[str, ...], rows: "array[float]") -> dict[str, FloatArray]:
    table = np.array(rows, np.float64).reshape(-1, len(names))
    return {name: table[:, number].copy() for number, name in enumerate(names)}


def _captured(code: int) -> Captured:
    if code == NO_GRAPH:
        return None
    return "eager" if code == EAGER else code


def _request_row(request: Request, stamps: list[float]) -> RequestRow:
    first = stamps[0] if stamps else None
    last = stamps[-1] if len(stamps) == request.max_new else None
    return RequestRow(request.number, request.arrival_s, request.prompt_tokens, request.max_new, first, last)
