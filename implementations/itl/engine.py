"""The serving loop: take arrivals in, schedule, copy, prefill, decode, emit, and write down when.

Follows: the demonstrator of the decode-step-stall post, each mechanism for real; its faults are not carried
over (the first token comes from the prompt's own logits, no setting can make it wait for ever, and idle turns
are not logged).
Leaves out: streaming to clients, aborts, ends of sequence.

All tokens of a step bear one time, taken when its last segment has ended. A segment is logged where work was
done; what the loop itself takes is in no segment.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Protocol

from implementations.itl.clock import Clock, RealClock
from implementations.itl.collector import Collector, RealCollector
from implementations.itl.config import EngineConfig, blocks_for
from implementations.itl.events import EAGER, NO_GRAPH
from implementations.itl.history import FlatHistory, History, ObjectHistory
from implementations.itl.run_log import Recorder, RunLog
from implementations.itl.scheduler import Refused, Request, Scheduler, StepPlan
from implementations.itl.tokenizer import InlineIntake, Intake, WorkerIntake
from implementations.itl.trace import Arrival

Mark = tuple[float, float]


class Model(Protocol):
    """What the engine asks of a model; see ``decoder.Decoder``. Requests are known by their block tables."""

    def prefill(self, tokens: Sequence[int], start: int, table: Sequence[int], last: bool = True) -> int | None:
        """Compute a stretch of a prompt; the token that follows, where the prompt ends."""

    def decode(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        tables: Sequence[Sequence[int]],
        captured: int | None,
    ) -> list[int]:
        """Compute one more token of each request, batched at a captured size or one at a time."""

    def copy_out(self, table: Sequence[int], tokens: int) -> Any:
        """Copy a request's cache out of the pool."""

    def copy_in(self, table: Sequence[int], saved: Any) -> None:
        """Copy it back into other blocks."""


class Engine:
    """Runs one trace.

    Args:
        config: settings.
        model: with a cache of ``config.kv_blocks`` blocks.
        trace: arrivals in order of time.
        clock: real by default.
        intake: tokenizes arrivals; by default as the settings say.
        collector: logs garbage collections; by default the interpreter's.
        history: keeps a record of each token; by default as the settings say.
        scheduler: another scheduler than the usual one.
        before_step: called with the number of each step as it begins, before anything is done or timed in it; again
            with the same number where the turn before was idle.
        stop_after_s: stop at the first step that begins so long after opening, served or not.
    """

    def __init__(
        self,
        config: EngineConfig,
        model: Model,
        trace: Sequence[Arrival],
        *,
        clock: Clock | None = None,
        intake: Intake | None = None,
        collector: Collector | None = None,
        history: History | None = None,
        scheduler: Scheduler | None = None,
        before_step: Callable[[int], None] | None = None,
        stop_after_s: float = float("inf"),
    ) -> None:
        self.config = config
        self.model = model
        self.clock = clock or RealClock()
        self.intake = intake or (WorkerIntake() if config.tokenize_off_loop else InlineIntake())
        self.collector = collector or RealCollector(self.clock, config.gc_freeze)
        self.history = history or (FlatHistory() if config.compact_history else ObjectHistory())
        self.scheduler = scheduler or Scheduler(config)
        self._trace = trace
        self._before_step = before_step
        self._stop_after_s = stop_after_s
        self._next = 0
        self._opened_s = 0.0
        self._requests: list[Request] = []
        self._refusals: list[tuple[int, Refused]] = []
        self._saved: dict[int, Any] = {}
        self._log = Recorder()

    def run(self) -> RunLog:
        """Serve the trace to its end.

        Returns:
            The log; an engine runs once.

        Raises:
            RuntimeError: if the scheduler leaves requests standing, which no setting should bring about.
        """
        self.clock.start()
        with closing(self.intake), self.collector:
            self._opened_s = self.clock.now()
            while self._work_left and self.clock.now() - self._opened_s < self._stop_after_s:
                if self.scheduler.idle:
                    self._wait()
                self._step()
            drained = not self._work_left
        worker_cpu_s = getattr(self.intake, "worker_cpu_s", 0.0)
        collections = list(self.collector.pauses)
        return self._log.finish(self.config, self._requests, collections, self._refusals, drained, worker_cpu_s)

    @property
    def _work_left(self) -> bool:
        return self._next < len(self._trace) or self.intake.pending or not self.scheduler.idle

    def _wait(self) -> None:
        """Sleep until a request arrives or a text comes back from the tokenizer."""
        until_s = None
        if self._next < len(self._trace):
            until_s = max(0.0, self._opened_s + self._trace[self._next].arrival_s - self.clock.now())
        if self.intake.pending:
            self.intake.wait(until_s)
        elif until_s:
            self.clock.sleep(until_s)

    def _step(self) -> None:
        if self._before_step is not None:
            self._before_step(self._log.n_steps)
        start_s = self.clock.now()
        self.clock.begin_step()
        texts, chars = self._take_arrivals(start_s)
        plan = self.scheduler.schedule()
        if not plan and not self.scheduler.idle:
            raise RuntimeError("no request can run, yet some are waiting")
        if not plan and not texts:
            return
        self._log.add_plan(plan)
        swapped = self._swap(plan)
        prefilled, pairs, first_tokens = self._prefill(plan)
        captured, context, tokens = self._decode(plan)
        self._emit(plan, tokens + first_tokens)
        scheduler = self.scheduler
        self._log.end_step(
            start_s,
            self.clock.now(),
            len(plan.decodes),
            captured,
            context,
            prefilled,
            pairs,
            len(plan.chunks),
            len(plan.preemptions),
            sum(lost.restarted for lost in plan.preemptions),
            len(plan.readmissions),
            swapped,
            texts,
            chars,
            scheduler.pool.n_free,
            len(scheduler.running),
            len(scheduler.waiting),
            len(scheduler.evicted),
        )

    def _take_arrivals(self, now_s: float) -> tuple[int, int]:
        """Tokenize what has arrived, or send it to be tokenized; texts and characters done on this thread."""
        texts = chars = 0
        while self._next < len(self._trace) and self._trace[self._next].arrival_s <= now_s - self._opened_s:
            arrival = self._trace[self._next]
            self._next += 1
            began = self._mark()
            self.intake.submit(arrival)
            if self.intake.on_loop:
                self._log.add_segment("tok", began, self._mark())
                texts, chars = texts + 1, chars + arrival.chars
        for arrival, ids in self.intake.completed():
            self._accept(arrival, ids[: self.config.max_model_len])
        return texts, chars

    def _accept(self, arrival: Arrival, ids: list[int]) -> None:
        request = Request(arrival.request, self._opened_s + arrival.arrival_s, arrival.max_new, ids)
        refusal = self.scheduler.submit(request)
        if refusal is None:
            self._requests.append(request)
        else:
            self._refusals.append((request.number, refusal))

    def _swap(self, plan: StepPlan) -> int:
        """Evictions, then readmissions: a block may go from one to the other. Returns the blocks copied."""
        evicted = [lost for lost in plan.preemptions if not lost.restarted]
        if not (evicted or plan.readmissions or self.config.log_empty_segments):
            return 0
        swapped = 0
        began = self._mark()
        for lost in evicted:
            # Stamped before the copy, so that the victim's own copying counts as time evicted.
            self._log.evict(lost.victim.number, self.clock.now())
            if self.config.preemption == "swap":
                self._saved[lost.victim.number] = self.model.copy_out(lost.blocks, lost.computed)
                swapped += blocks_for(lost.computed)
        for request, _ in plan.readmissions:
            if self.config.preemption == "swap":
                self.model.copy_in(request.blocks, self._saved.pop(request.number))
                swapped += blocks_for(request.computed)
            self._log.readmit(request.number, self.clock.now())
        self._log.add_segment("swap", began, self._mark())
        return swapped

    def _prefill(self, plan: StepPlan) -> tuple[int, float, list[int]]:
        """Compute the chunks; returns tokens, pairs attended to and the first token of each prompt that ended."""
        prefilled, pairs, first_tokens = 0, 0.0, list[int]()
        if not (plan.chunks or self.config.log_empty_segments):
            return prefilled, pairs, first_tokens
        began = self._mark()
        for request, start, n_tokens in plan.chunks:
            last = start + n_tokens == request.target and self.config.first_token_from == "prefill"
            token = self.model.prefill(request.tokens[start : start + n_tokens], start, request.blocks, last)
            if last and token is not None:
                first_tokens.append(token)
            prefilled += n_tokens
            pairs += n_tokens * (start + (n_tokens + 1) / 2)
        self._log.add_segment("prefill", began, self._mark())
        return prefilled, pairs, first_tokens

    def _decode(self, plan: StepPlan) -> tuple[int, int, list[int]]:
        """One token of each decode. Returns the code of the path, the tokens attended to, and the tokens."""
        if not plan.decodes:
            return NO_GRAPH, 0, []
        captured = self.config.captured_size(len(plan.decodes))
        fed = [request.tokens[-1] for request in plan.decodes]
        lengths = [request.computed for request in plan.decodes]
        tables = [request.blocks for request in plan.decodes]
        began = self._mark()
        tokens = self.model.decode(fed, lengths, tables, captured)
        self._log.add_segment("decode", began, self._mark())
        return EAGER if captured is None else captured, sum(lengths) + len(lengths), tokens

    def _emit(self, plan: StepPlan, tokens: list[int]) -> None:
        now_s = self.clock.now()
        emitting = self.scheduler.complete(plan)
        for request, token in zip(emitting, tokens, strict=True):
            request.tokens.append(token)
        if emitting:
            numbers = [request.number for request in emitting]
            self._log.emit(numbers, now_s)
            self.history.record(numbers, tokens, now_s)

    def _mark(self) -> Mark:
        """The time, and the processor time outside collections."""
        return self.clock.now(), self.clock.cpu() - self.collector.cpu_s
