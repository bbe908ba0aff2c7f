"""The engine of `implementations.itl` kept running: requests come and go while it steps.

Follows: `implementations.itl.engine` for a step; Kwon et al., PagedAttention (2023), for what a leaving request gives
back.
Leaves out: the log of every step, which would grow for as long as the server lives; tokenizing, which is the
server's; ends of sequence, which random weights do not know.

One thread owns scheduler, model and cache, and touches no socket. Orders reach it through a queue, and what a step
brings forth leaves it in one call, so that a client that does not read holds up nobody.
"""

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from implementations.itl.config import BLOCK_TOKENS, EngineConfig
from implementations.itl.engine import Model
from implementations.itl.scheduler import Request, StepPlan
from implementations.serving.scheduler import AbortingScheduler

LOG = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """What a step brought one request: a token, the last one perhaps, or the fault that ended it."""

    number: int
    token: int | None
    last: bool
    fault: str | None = None


Deliver = Callable[[list[Outcome]], None]


@dataclass(frozen=True)
class Load:
    """How full the engine is, as of its last step."""

    running: int
    waiting: int
    evicted: int
    free_blocks: int
    blocks: int
    steps: int


class LiveEngine:
    """Serves requests until it is closed.

    Args:
        config: limits; ``max_model_len`` counts prompt and answer together.
        model: with a cache of ``config.kv_blocks`` blocks.
        deliver: called on the engine's thread with the outcomes of each step; must not block. What it raises ends the
            requests of that step, and is logged.
    """

    def __init__(self, config: EngineConfig, model: Model, deliver: Deliver) -> None:
        self.config = config
        self._model = model
        self._deliver = deliver
        self._scheduler = AbortingScheduler(config)
        self._requests: dict[int, Request] = {}
        self._saved: dict[int, Any] = {}
        self._numbers = itertools.count()
        self._orders: deque[Request | int] = deque()  # a request to serve, or the number of one to forget
        self._wake = threading.Condition()
        self._closing = False
        self._steps = 0
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    @property
    def context_tokens(self) -> int:
        """Most tokens that a prompt and its answer may have together."""
        return min(self.config.max_model_len, self.config.kv_blocks * BLOCK_TOKENS)

    @property
    def load(self) -> Load:
        """Counts to look at; they may be a step old."""
        scheduler = self._scheduler
        return Load(
            running=len(scheduler.running),
            waiting=len(scheduler.waiting) + len(self._orders),
            evicted=len(scheduler.evicted),
            free_blocks=scheduler.pool.n_free,
            blocks=scheduler.pool.size,
            steps=self._steps,
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def number(self) -> int:
        """A number for a new request."""
        return next(self._numbers)

    def submit(self, number: int, prompt: Sequence[int], max_new: int) -> None:
        """Queue a request.

        Args:
            number: from `number`, so that its owner can be ready before the first outcome.
            prompt: token ids.
            max_new: tokens to emit.

        Raises:
            ValueError: no prompt, no whole number of tokens asked for, more of both than the engine can ever hold, or
                an engine that is closed.
        """
        if not len(prompt) or not isinstance(max_new, int) or max_new < 1:
            raise ValueError(f"a request needs a prompt and a token to emit, got {len(prompt)} and {max_new}")
        if len(prompt) + max_new > self.context_tokens:
            raise ValueError(f"{len(prompt)} + {max_new} tokens are more than the {self.context_tokens} of the engine")
        self._order(Request(number, 0.0, max_new, list(prompt)))

    def abort(self, number: int) -> None:
        """Forget a request before the next step; one that has ended is no error."""
        self._order(number)

    def close(self, timeout_s: float | None = None) -> None:
        """Serve what has been submitted, then stop.

        Args:
            timeout_s: how long to wait for that.

        Raises:
            TimeoutError: the engine is still at work.
        """
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread.ident is None:  # never started: there is nothing to wait for
            return
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise TimeoutError(f"the engine still holds {len(self._requests)} requests after {timeout_s} s")

    def check(self) -> None:
        """Verify that no block is lost or held twice; for use while nothing runs.

        Raises:
            ValueError: if that does not hold.
        """
        self._scheduler.check()

    def _order(self, order: Request | int) -> None:
        with self._wake:
            if isinstance(order, Request) and self._closing:
                raise ValueError("the engine is closed to new requests")
            self._orders.append(order)
            self._wake.notify()

    def _run(self) -> None:
        while self._await_work():
            self._obey()
            if self._scheduler.idle:
                continue
            plan = StepPlan()
            try:
                plan = self._scheduler.schedule()
                self._deliver(self._step(plan))
            except Exception as fault:
                LOG.exception("a step failed; the requests in it are given up")
                self._give_up(fault)
            self._steps += 1

    def _await_work(self) -> bool:
        """Sleep until there is something to do; False once there is nothing and never will be."""
        with self._wake:
            while not self._orders and self._scheduler.idle:
                if self._closing:
                    return False
                self._wake.wait()
        return True

    def _obey(self) -> None:
        while self._orders:
            order = self._orders.popleft()
            if isinstance(order, Request):
                self._requests[order.number] = order
                self._scheduler.submit(order)
            elif order in self._requests:
                self._scheduler.abort(self._requests.pop(order))
                self._saved.pop(order, None)

    def _step(self, plan: StepPlan) -> list[Outcome]:
        self._swap(plan)
        first_tokens = self._prefill(plan)
        tokens = self._decode(plan)
        emitting = self._scheduler.complete(plan)
        return [self._emit(request, token) for request, token in zip(emitting, tokens + first_tokens, strict=True)]

    def _swap(self, plan: StepPlan) -> None:
        """Evictions first: a block may go from a victim to one that returns."""
        if self.config.preemption != "swap":
            return
        for lost in plan.preemptions:
            if not lost.restarted:
                self._saved[lost.victim.number] = self._model.copy_out(lost.blocks, lost.computed)
        for request, _ in plan.readmissions:
            self._model.copy_in(request.blocks, self._saved.pop(request.number))

    def _prefill(self, plan: StepPlan) -> list[int]:
        first_tokens = []
        for request, start, n_tokens in plan.chunks:
            last = start + n_tokens == request.target
            token = self._model.prefill(request.tokens[start : start + n_tokens], start, request.blocks, last)
            if token is not None:
                first_tokens.append(token)
        return first_tokens

    def _decode(self, plan: StepPlan) -> list[int]:
        if not plan.decodes:
            return []
        return self._model.decode(
            [request.tokens[-1] for request in plan.decodes],
            [request.computed for request in plan.decodes],
            [request.blocks for request in plan.decodes],
            self.config.captured_size(len(plan.decodes)),
        )

    def _emit(self, request: Request, token: int) -> Outcome:
        request.tokens.append(token)
        last = request.emitted == request.max_new
        if last:
            del self._requests[request.number]
        return Outcome(request.number, token, last)

    def _give_up(self, fault: Exception) -> None:
        """End every request that a failed step may have left half done; those still waiting are untouched."""
        scheduler = self._scheduler
        lost = [*scheduler.running, *scheduler.evicted]
        # A request that had emitted its last token in the failed step has left the scheduler, but nobody was told.
        held = {id(request) for request in (*lost, *scheduler.waiting)}
        lost += [request for request in self._requests.values() if id(request) not in held]
        for request in lost:
            scheduler.abort(request)
            self._requests.pop(request.number, None)
            self._saved.pop(request.number, None)
        try:
            self._deliver([Outcome(request.number, None, True, str(fault) or repr(fault)) for request in lost])
        except Exception:
            LOG.exception("nobody could be told that requests were given up; the engine goes on")


def serving_config(**settings: Any) -> EngineConfig:
    """Settings of a server: the engine's own, with every batch up to the largest captured.

    Args:
        settings: others than the defaults.
    """
    chosen = EngineConfig(**settings)
    if "capture_sizes" in settings:
        return chosen
    sizes: Iterable[int] = sorted({*(2**k for k in range(20) if 2**k < chosen.max_num_seqs), chosen.max_num_seqs})
    return EngineConfig(**{**settings, "capture_sizes": tuple(sizes)})
