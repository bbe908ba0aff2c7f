"""What each operation of the engine takes, fitted to a run, and a model that takes exactly that on a virtual clock.

Follows: non-negative least squares per kind of operation, relative to its length, on steps that no collection fell
into; repeated without the segments that something else held up.
Leaves out: caches, memory traffic of other processes, and the competition of a tokenizer process for the cores.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from implementations.itl.clock import VirtualClock
from implementations.itl.config import blocks_for
from implementations.itl.events import EAGER, KINDS
from implementations.itl.run_log import RunLog
from implementations.itl.trace import Arrival

FloatArray = NDArray[np.float64]
Terms = dict[str, FloatArray]

OUTLIER_FACTOR = 1.5  # a segment that took so much longer than fitted was held up by something else
FITS = 3
MIN_SEGMENTS = 8


@dataclass(frozen=True)
class CostModel:
    """Seconds an operation takes, as sums of terms.

    Args:
        text_s: tokenizing a text, whatever its length.
        char_s: each of its characters.
        chunk_s: a stretch of prefill, whatever its length.
        prefill_token_s: each of its tokens.
        prefill_pair_s: each pair of one of its tokens and one it attends to.
        captured_s: a captured decode, whatever its size.
        captured_row_s: each of its rows, filler included.
        captured_context_s: each token its rows attend to.
        eager_row_s: each request decoded by itself.
        eager_context_s: each token they attend to.
        swap_s: copying a request out or in, whatever its size.
        swap_block_s: each block copied out or in.
        step_s: the loop itself, a step.
        gc_object_s: each object that a collection examines.
    """

    text_s: float
    char_s: float
    chunk_s: float
    prefill_token_s: float
    prefill_pair_s: float
    captured_s: float
    captured_row_s: float
    captured_context_s: float
    eager_row_s: float
    eager_context_s: float
    swap_s: float
    swap_block_s: float
    step_s: float
    gc_object_s: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < float("inf"):
                raise ValueError(f"{field.name} must be a time in seconds, got {value}")

    @classmethod
    def fit(cls, logs: Sequence[RunLog], gc_object_s: float, where_unseen: "CostModel") -> "CostModel":
        """The costs of real runs.

        Args:
            logs: of runs on the real clock, fitted together.
            gc_object_s: seconds a collection takes for each object (see ``calibration.collection_cost_s``).
            where_unseen: gives the costs of operations of which the runs have fewer than ``MIN_SEGMENTS``.

        Returns:
            Costs, none of them negative.
        """
        seen: dict[str, float] = {}
        for samples in zip(*map(_samples, logs)):  # the same operation in every run
            terms = {name: np.concatenate([terms[name] for terms, _ in samples]) for name in samples[0][0]}
            seen |= _fit_terms(terms, np.concatenate([seconds for _, seconds in samples]))
        return replace(where_unseen, **seen, gc_object_s=gc_object_s)

    def scaled(self, factor: float) -> "CostModel":
        """The same machine, slower by a factor."""
        return CostModel(**{name: value * factor for name, value in asdict(self).items()})

    def tokenize(self, chars: int) -> float:
        """Seconds for one text."""
        return self.text_s + chars * self.char_s

    def prefill(self, tokens: int, start: int) -> float:
        """Seconds for a stretch of ``tokens`` after ``start`` cached ones."""
        pairs = tokens * (start + (tokens + 1) / 2)
        return self.chunk_s + tokens * self.prefill_token_s + pairs * self.prefill_pair_s

    def decode(self, context: int, rows: int, captured: int | None) -> float:
        """Seconds for one token of each of ``rows`` requests that attend to ``context`` tokens in all."""
        if captured is None:
            return rows * self.eager_row_s + context * self.eager_context_s
        return self.captured_s + captured * self.captured_row_s + context * self.captured_context_s

    def swap(self, blocks: int) -> float:
        """Seconds to copy so many blocks."""
        return self.swap_s + blocks * self.swap_block_s

    def to_json(self) -> str:
        """The costs as a JSON object."""
        return json.dumps(asdict(self), indent=1)


# Round numbers under which the figures that the post gives for its machine come out: 12.8 ms for a captured step of 32
# (here with 400 tokens a row), fallback steps of 20 to 30 ms, prefill stalls up to half a second for a document cut at
# 2,048 tokens, 120 to 320 ms to tokenize one, 120 ms to collect the start-up heap.
PUBLISHED_MACHINE = CostModel(
    text_s=2e-4,
    char_s=8e-7,
    chunk_s=1e-3,
    prefill_token_s=4.5e-5,
    prefill_pair_s=1.4e-7,
    captured_s=5e-4,
    captured_row_s=2e-4,
    captured_context_s=4.6e-7,
    eager_row_s=4.5e-4,
    eager_context_s=5e-7,
    swap_s=1e-4,
    swap_block_s=1e-5,
    step_s=1.5e-4,
    gc_object_s=1.5e-7,
)


class CostedModel:
    """Stands in for a decoder: no arithmetic, the next token is 0, and the clock moves by what it would have cost.

    Args:
        costs: of each operation.
        clock: the engine's clock.
    """

    def __init__(self, costs: CostModel, clock: VirtualClock) -> None:
        self._costs = costs
        self._clock = clock

    def prefill(self, tokens: Sequence[int], start: int, table: Sequence[int], last: bool = True) -> int | None:  # noqa: ARG002
        """Take the time of a stretch."""
        self._clock.advance(self._costs.prefill(len(tokens), start))
        return 0 if last else None

    def decode(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        tables: Sequence[Sequence[int]],  # noqa: ARG002
        captured: int | None,
    ) -> list[int]:
        """Take the time of a decode step."""
        rows = len(tokens)
        self._clock.advance(self._costs.decode(sum(lengths) + rows, rows, captured))
        return [0] * rows

    def copy_out(self, table: Sequence[int], tokens: int) -> int:  # noqa: ARG002
        """Take the time of a copy."""
        self._clock.advance(self._costs.swap(blocks_for(tokens)))
        return tokens

    def copy_in(self, table: Sequence[int], saved: int) -> None:  # noqa: ARG002
        """Take the time of a copy."""
        self._clock.advance(self._costs.swap(blocks_for(saved)))


class CostedIntake:
    """Tokenizes nothing: a text becomes as many tokens as its words suggest, in the time that would have taken.

    Args:
        costs: of tokenizing.
        clock: the engine's clock.
        on_loop: whether the engine's thread does it, or a worker with a core of its own.
    """

    def __init__(self, costs: CostModel, clock: VirtualClock, on_loop: bool) -> None:
        self.on_loop = on_loop
        self.worker_cpu_s = 0.0
        self._costs = costs
        self._clock = clock
        self._queue: list[tuple[float, Arrival]] = []  # when each is done
        self._worker_free_s = 0.0

    def submit(self, arrival: Arrival) -> None:
        """Tokenize now, or queue behind what the worker has."""
        cost_s = self._costs.tokenize(arrival.chars)
        if self.on_loop:
            self._clock.advance(cost_s)
            self._queue.append((self._clock.now(), arrival))
            return
        self._worker_free_s = max(self._worker_free_s, self._clock.now()) + cost_s
        self.worker_cpu_s += cost_s
        self._queue.append((self._worker_free_s, arrival))

    def completed(self) -> list[tuple[Arrival, list[int]]]:
        """What is done by now."""
        done = []
        while self._queue and self._queue[0][0] <= self._clock.now():
            _, arrival = self._queue.pop(0)
            done.append((arrival, [0] * arrival.approximate_tokens))
        return done

    @property
    def pending(self) -> bool:
        """Whether a text is in work."""
        return bool(self._queue)

    def wait(self, timeout_s: float | None) -> None:
        """Jump to when the first text in work is done, or the timeout."""
        until_done_s = self._queue[0][0] - self._clock.now()
        self._clock.sleep(until_done_s if timeout_s is None else min(until_done_s, timeout_s))

    def close(self) -> None:
        """Nothing to end."""


def _samples(log: RunLog) -> list[tuple[Terms, FloatArray]]:
    """For each kind of operation its terms and the seconds it took, in steps that no collection touched."""
    step = log.step
    quiet = ~_touched(log.collections, step["start_s"], step["end_s"])
    spent = {kind: _seconds_by_step(log, number) for number, kind in enumerate(KINDS)}
    one = np.ones(len(quiet))
    texts, chunks = step["tokenized_texts"], step["prefill_chunks"]
    moved = step["readmitted"] + step["preempted"] - step["restarted"]
    decodes, code = step["n_decode"], step["captured"]
    loop_s = step["end_s"] - step["start_s"] - sum(spent.values())
    prefill = {"chunk_s": chunks, "prefill_token_s": step["prefill_tokens"], "prefill_pair_s": step["prefill_pairs"]}
    captured = {"captured_s": one, "captured_row_s": code, "captured_context_s": step["context_tokens"]}
    eager = {"eager_row_s": decodes, "eager_context_s": step["context_tokens"]}
    wanted = [
        ({"text_s": texts, "char_s": step["tokenized_chars"]}, spent["tok"], texts > 0),
        (prefill, spent["prefill"], chunks > 0),
        (captured, spent["decode"], code > 0),
        (eager, spent["decode"], code == EAGER),
        ({"swap_s": moved, "swap_block_s": step["swapped_blocks"]}, spent["swap"], step["swapped_blocks"] > 0),
        ({"step_s": one}, loop_s, decodes > 0),
    ]
    return [
        ({name: term[rows & quiet] for name, term in terms.items()}, seconds[rows & quiet])
        for terms, seconds, rows in wanted
    ]


def _touched(pauses: list[tuple[float, float, int]], starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
    """Which of the ascending, disjoint windows a collection overlaps."""
    touched = np.zeros(len(starts), np.bool_)
    for start, end, _ in pauses:
        touched[np.searchsorted(ends, start) : np.searchsorted(starts, end)] = True
    return touched


def _seconds_by_step(log: RunLog, kind: int) -> FloatArray:
    chosen = log.segment["kind"] == kind
    seconds = (log.segment["end_s"] - log.segment["start_s"])[chosen]
    steps = log.segment["step"][chosen].astype(np.int64)
    return np.bincount(steps, seconds, minlength=len(log.step["start_s"])).astype(np.float64)


def _fit_terms(terms: Terms, seconds: FloatArray) -> dict[str, float]:
    """Non-negative cost of each term, from samples relative to their size so that long ones do not decide alone."""
    if len(seconds) < MIN_SEGMENTS:
        return {}
    columns = np.stack(list(terms.values()), axis=1)  # (samples, terms)
    weights = 1 / np.maximum(seconds, np.median(seconds) / 10)
    for _ in range(FITS):
        costs, _ = nnls(columns * weights[:, None], seconds * weights)
        undisturbed = seconds <= OUTLIER_FACTOR * (columns @ costs)
        columns, weights, seconds = columns[undisturbed], weights[undisturbed], seconds[undisturbed]
    return dict(zip(terms, costs.tolist()))
